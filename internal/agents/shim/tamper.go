package shim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/trust"
)

// "tidemark install" leaves a record of what it wrote into an agent's settings. At the start
// of a session, and where the agent tells that its settings changed, the hook compares: is
// every hook of ours where it was put, is nothing there that turns hooks off? A hook that
// was installed is told which record there must be.

// tampered says what is wrong with the settings of this agent; "" is good news. A record
// that cannot be read, or is gone, is bad news: whoever can write it could hide behind it.
func (a adapter) tampered(o Options, e *catalogue.Event, changed ...string) string {
	names, err := records(o.Data, a.Name)
	if err != nil {
		return fmt.Sprintf("the records of the installation cannot be listed: %v", err)
	}
	found := false
	for _, name := range names {
		r, err := settings.ReadRecord(settings.RecordFile(o.Data, name))
		if err != nil {
			return fmt.Sprintf("the record of the installation cannot be read: %v", err)
		}
		found = found || name == o.Installed
		if name != o.Installed && r.Project != "" && !inside(e.Cwd, r.Project) {
			continue
		}
		if why := a.compare(r); why != "" {
			return why
		}
	}
	switch {
	case o.Installed != "" && !found:
		return fmt.Sprintf("the record of the installation, %s, is gone", settings.RecordFile(o.Data, o.Installed))
	case len(names) == 0:
		return "" // nothing was installed; the hook was put there by hand
	}
	return first(settings.Reader{}.Off(a.Switches, append(changed, a.around(o, e)...)...))
}

// around are the files of the project in which a switch can stand.
func (a adapter) around(o Options, e *catalogue.Event) []string {
	return append(settings.Below(e.Cwd, a.Watched), settings.Below(o.Root, a.Watched)...)
}

// reopened says why nothing may be loaded here: what a project's own texts would run never
// comes to us.
func (a adapter) reopened(o Options, e *catalogue.Event) string {
	if len(a.Reopens) == 0 || o.Installed == "" {
		return ""
	}
	why := first(settings.Reader{}.Off(a.Reopens, a.around(o, e)...))
	if why == "" {
		return ""
	}
	return "Tidemark: " + why + ", past Tidemark; nothing goes on in this folder until it is taken out"
}

// starting tells what a project starts by itself: it runs before anybody is asked.
func (a adapter) starting(o Options, e *catalogue.Event) string {
	var found []string
	for _, s := range a.Starts {
		for _, path := range append(settings.Below(e.Cwd, []string{s.File}), settings.Below(o.Root, []string{s.File})...) {
			d, err := settings.Reader{}.Open(path)
			if err != nil {
				continue // not there, or said by the switches
			}
			n := d.Find(s.Path...)
			if n == nil || len(n.Names) == 0 || a.recorded(o, path) {
				continue
			}
			line := fmt.Sprintf("%s of %s (%s)", s.What, path, strings.Join(n.Names[:min(5, len(n.Names))], ", "))
			if !slices.Contains(found, line) {
				found = append(found, line)
			}
		}
	}
	if len(found) == 0 {
		return ""
	}
	return "this folder starts programs by itself: " + strings.Join(found, "; ") + ". What they do is not seen by Tidemark"
}

// recorded reports whether a file is one that an installation of ours wrote into.
func (a adapter) recorded(o Options, path string) bool {
	names, err := records(o.Data, a.Name)
	if err != nil {
		return false
	}
	for _, name := range names {
		r, err := settings.ReadRecord(settings.RecordFile(o.Data, name))
		if err == nil && slices.ContainsFunc(r.Files, func(f settings.Entry) bool { return f.Path == path }) {
			return true
		}
	}
	return false
}

// records are the names of the agent's records.
func records(data, agent string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(data, "installed"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && settings.IsRecordName(name, agent) {
			out = append(out, name)
		}
	}
	return out, nil
}

// compare says the first thing that is not as it was written.
func (a adapter) compare(r *settings.Record) string {
	reader := settings.Reader{}
	if r.Project != "" {
		reader.File = func(path string) ([]byte, error) {
			if inside(path, r.Project) {
				return settings.ReadIn(r.Project, path)
			}
			return settings.ReadFile(path)
		}
	}
	if why := first(reader.Compare(r)); why != "" {
		return why
	}
	var files []string
	for _, f := range r.Files {
		if !f.Own && f.Block == "" {
			files = append(files, f.Path)
		}
	}
	return first(reader.Off(a.Switches, files...))
}

func first(problems []string) string {
	if len(problems) == 0 {
		return ""
	}
	return problems[0]
}

func inside(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// watched compares at the start of a session. The person is told, and so is the server:
// whoever changed the settings may have had a hand in the context too.
func (a adapter) watched(ctx context.Context, s *server, o Options, e *catalogue.Event, c hook.Context) error {
	why := a.tampered(o, e)
	if why == "" {
		return nil
	}
	if err := census(ctx, s, c, hook.Source{Kind: "changed_settings", Trust: trust.Untrusted}); err != nil {
		return err
	}
	return fmt.Errorf("%s, so the session counts as untrusted (look: tidemark doctor %s; mend: tidemark install %s)", why, a.Name, a.Name)
}

// unhooks says why a change of the settings must not take effect: it would take our hooks
// out. Any other change is judged as the writing of a file.
func (a adapter) unhooks(o Options, e *catalogue.Event) string {
	if a.Change == "" || e.Name != a.Change {
		return ""
	}
	var changed struct {
		Path string `json:"path"`
	}
	if err := strictjson.Unmarshal(e.Params, &changed); err != nil {
		return "Tidemark: the change of the settings cannot be read, so it does not take effect"
	}
	var files []string
	if changed.Path != "" {
		files = append(files, changed.Path)
	}
	if why := a.tampered(o, e, files...); why != "" {
		return "Tidemark: this change of the settings does not take effect: " + why
	}
	return ""
}
