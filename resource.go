package tidemark

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// meaningOf is what is understood of a tool: from its definition where the host gave one.
func (s *live) meaningOf(name string) *meaning.Meaning {
	if s.grounds != nil {
		return s.grounds.Meaning(name)
	}
	if s.latest != nil && s.latest.Tool == name {
		return s.latest // an agent often calls the same tool again
	}
	if known := s.meant[name]; known != nil {
		s.latest = known
		return known
	}
	def := tool.Definition{Name: name}
	for _, d := range s.tools {
		if tool.Name(d.Name) == name {
			def = d
		}
	}
	if s.meant == nil || len(s.meant) >= maxNames {
		s.meant = map[string]*meaning.Meaning{}
	}
	m := meaning.Of(def)
	s.meant[name], s.latest = m, m
	return m
}

// resources are the things a call names that outlive the session: files by their path,
// records and memories by their id or key.
func resources(m *meaning.Meaning, args map[string]any) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(args)) {
		text, ok := args[k].(string)
		if !ok || text == "" {
			continue
		}
		p := m.Resolve(k, text)
		switch {
		case p.Kind == meaning.Path || pathNames[k]:
			out = append(out, "file:"+shortKey(strings.TrimPrefix(path.Clean(strings.ReplaceAll(text, "\\", "/")), "./")))
		case len(text) > maxName:
		case p.Role == meaning.Selector && (p.Object || p.Kind == meaning.ID):
			out = append(out, "record:"+text)
		}
	}
	return out
}

// shortKey keeps the end of a very long path, which is what tells it apart.
func shortKey(key string) string {
	if len(key) > maxName {
		key = strings.ToValidUTF8(key[len(key)-maxName:], "")
	}
	return key
}

// pathNames are parameters that name files whatever else is known of the tool.
var pathNames = map[string]bool{
	"path": true, "file_path": true, "filepath": true, "file": true, "filename": true, "file_name": true, "notebook_path": true,
}

// writes reports whether an act leaves something behind that can be read back.
func writes(a meaning.Act) bool { return a == meaning.Create || a == meaning.Change }

// readsBack reports whether an act may bring back what was written before.
func readsBack(a meaning.Act) bool { return a == meaning.Read || a == meaning.Unknown }

// expectLabels makes a call that reads something labelled expect it: what was written
// while tainted comes back as tainted, whoever reads it (BEY-02).
func (m *Monitor) expectLabels(ctx context.Context, s *live, name string, x *decision) error {
	if some, err := m.labels.some(ctx, m.store); err != nil || !some {
		return err
	}
	mean := s.meaningOf(name)
	if !readsBack(mean.Act) {
		return nil
	}
	fields, err := x.args.Fields()
	if err != nil || len(fields) == 0 {
		return nil //nolint:nilerr // unreadable arguments are the worst already
	}
	keys := resources(mean, fields)
	if len(keys) == 0 {
		return nil
	}
	label, found, err := m.labels.find(ctx, m.store, keys, nil)
	if err != nil || !found {
		return err
	}
	d := &x.decided
	d.Expect, d.ExpectS = d.Expect.Join(label.Level), d.ExpectS.Join(label.Sensitivity)
	d.Source = d.Source || label.Level <= trust.External
	return nil
}

// brings is what the labels say about a result: by what the call named, and by its
// content.
func (m *Monitor) brings(ctx context.Context, s *live, o *Observation, name string) (trust.Label, error) {
	if some, err := m.labels.some(ctx, m.store); err != nil || !some {
		return clean(), err
	}
	mean := s.meaningOf(name)
	if !readsBack(mean.Act) {
		return clean(), nil
	}
	args := tool.NewArgs(o.Result.Args)
	fields, _ := args.Fields() // unreadable ones name nothing; the content is still looked at
	hash := tool.DigestOf(o.Result.Content)
	label, _, err := m.labels.find(ctx, m.store, resources(mean, fields), &hash)
	return label, err
}

// leaveLabels labels what an allowed call writes from a context that is not trusted. The
// label is durable before the call may run.
func (m *Monitor) leaveLabels(ctx context.Context, s *live, b *session.Taint, v *Verdict, x *decision) error {
	mean := s.meaningOf(v.Tool)
	if !writes(mean.Act) {
		return nil
	}
	fields, err := x.args.Fields()
	if err != nil {
		return nil //nolint:nilerr // nobody can say what it writes
	}
	var list []event.Resource
	for _, key := range resources(mean, fields) {
		list = append(list, event.Resource{
			Key: key, Label: trust.Label{Level: b.Mark.Level, Sensitivity: b.Mark.Sensitivity, Sources: tainting(b.Mark)},
			Hash: written(fields), Session: s.name, Tool: v.Tool, Step: v.Step,
		})
	}
	if len(list) == 0 {
		return nil
	}
	return m.label(ctx, list)
}

// written is the hash of the content a call writes, if it shows it.
func written(fields map[string]any) *tool.Digest {
	for _, k := range []string{"content", "text", "file_text", "body", "value", "data"} {
		if text, ok := fields[k].(string); ok && text != "" {
			h := tool.DigestOf([]byte(text))
			return &h
		}
	}
	return nil
}
