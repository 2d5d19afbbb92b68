package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/labels"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant/commands"
	"github.com/tidemark/tidemark/internal/warrant/remembered"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// labelsLog is where labels of resources are kept: they belong to no session.
const labelsLog = reserved + "labels"

// labelBook is the log of what was written while tainted.
func labelBook(o *Options) *labels.Book {
	return &labels.Book{Store: o.Store, Log: labelsLog, Now: o.Now, Shared: o.Shared != nil, Conflict: ErrConflict, Fault: unavailable}
}

// writes reports whether an act leaves something behind that can be read back.
func writes(a toolinfo.Act) bool { return a == toolinfo.Create || a == toolinfo.Change }

// readsBack reports whether an act may bring back what was written before.
func readsBack(a toolinfo.Act) bool { return a == toolinfo.Read || a == toolinfo.Unknown }

// expectLabels makes a call that reads something labelled expect it: what was written
// while tainted comes back as tainted, whoever reads it (BEY-02).
func (m *Monitor) expectLabels(ctx context.Context, x *step, name string) error {
	x.expect(x.left)
	if some, err := m.labels.Maybe(ctx); err != nil || !some {
		return err
	}
	mean := x.entry.meaningOf(name)
	if !readsBack(mean.Act) {
		return nil
	}
	fields, err := x.args.Fields()
	if err != nil || len(fields) == 0 {
		return nil //nolint:nilerr // unreadable arguments are the worst already
	}
	keys := remembered.Resources(mean, fields)
	if len(keys) == 0 {
		return nil
	}
	label, found, err := m.labels.Find(ctx, keys, nil)
	if err != nil || !found {
		return err
	}
	x.expect(label)
	return nil
}

// expect makes what the call brings no better than a label.
func (x *step) expect(l trust.Label) {
	d := &x.decided
	d.Expect, d.ExpectS = d.Expect.Join(l.Level), d.ExpectS.Join(l.Sensitivity)
	d.Source = d.Source || l.Level <= trust.External
}

// writing is a call that may write.
type writing struct {
	tool   string
	step   uint64
	args   *tool.Args
	folder string // that is worked in; "": nobody said
	what   uint64 // what is known of files that it may be a copy of
}

// labelWrites labels what an allowed call writes from a context that is not trusted. The
// label is durable before the call may run.
func (m *Monitor) labelWrites(ctx context.Context, s *sessionEntry, mark *trust.Label, w *writing) error {
	mean := s.meaningOf(w.tool)
	if !writes(mean.Act) && !tool.IsShell(mean.Tool) {
		return nil
	}
	fields, err := w.args.Fields()
	if err != nil {
		return nil //nolint:nilerr // nobody can say what it writes
	}
	var list []event.Resource
	for _, key := range remembered.Leaves(mean, fields) {
		r := event.Resource{
			Key:   remembered.Placed(key, w.folder),
			Label: trust.Label{Level: mark.Level, Sensitivity: mark.Sensitivity, Sources: tainting(*mark)},
			Hash:  remembered.Written(fields), Session: s.Name, Tool: w.tool, Step: w.step, Folder: w.folder,
		}
		if name, file := strings.CutPrefix(key, "file:"); file && s.heard != nil {
			r.What = s.heard.Wrote(name) | w.what
		}
		list = append(list, r)
	}
	if len(list) == 0 {
		return nil
	}
	if err := m.unmoved(ctx, s); err != nil {
		return err
	}
	return m.labels.Label(ctx, list)
}

// unmoved is ErrConflict where another monitor has written to the session: what is labelled by a state of before would keep its
// level and its step, though the call is then judged anew.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) unmoved(ctx context.Context, s *sessionEntry) error {
	moved, err := m.table.Moved(ctx, s.Entry)
	if err == nil && moved {
		err = fmt.Errorf("label what is written: %w", ErrConflict)
	}
	return err
}

// noteWrites remembers what an allowed call writes: by labels, and for judgement.
func (m *Monitor) noteWrites(ctx context.Context, x *step, v *Verdict) error {
	x.noteFiles()
	if name := x.entry.input.Tool; v.Effect == policy.Allow && x.entry.owns(name) {
		x.decided.Temp = remembered.Temporary(x.entry.meaningOf(name), &x.args)
	}
	if x.taint.Mark.Level > trust.Shared {
		return nil
	}
	return m.labelWrites(ctx, x.entry, &x.taint.Mark, &writing{v.Tool, v.Step, &x.args, x.folder, x.leftWhat})
}

// LabelView is a labelled resource as people see it.
type LabelView struct {
	Key     string         `json:"key"`
	Level   trust.Level    `json:"level"`
	Session string         `json:"session"`
	Tool    string         `json:"tool"`
	Step    uint64         `json:"step"`
	Sources []trust.Source `json:"sources"`
}

// Labels lists what was written while tainted, by key.
func (m *Monitor) Labels(ctx context.Context) ([]LabelView, error) {
	list, err := m.labels.All(ctx)
	if err != nil {
		return nil, err
	}
	out := []LabelView{}
	for _, r := range list {
		out = append(out, LabelView{
			Key: r.Key, Level: r.Label.Level, Session: r.Session, Tool: r.Tool, Step: r.Step, Sources: r.Label.Sources,
		})
	}
	return out, nil
}

// ClearLabel is a person's word that a resource may be trusted again. It is recorded.
func (m *Monitor) ClearLabel(ctx context.Context, key, by, via string) error {
	switch found, err := m.labels.Clear(ctx, key, event.Answer{By: by, Via: via, Verdict: "clear"}); {
	case err != nil:
		return fmt.Errorf("clear label: %w", err)
	case !found:
		return fmt.Errorf("clear label: %w", ErrNotFound)
	}
	return nil
}

// remember makes a command that runs what other sessions wrote after others had spoken be judged as in those: what they read
// counts for it, and is what its result will be worth.
func (m *Monitor) remember(ctx context.Context, x *step, in *policy.Input) error {
	x.left, x.leftWhat = session.Neutral(), 0
	if some, err := m.labels.Maybe(ctx); err != nil || !some || !tool.IsShell(in.Tool) {
		return err
	}
	own := x.entry.Name
	if x.taint.Mark.Level > trust.Shared { // what it wrote itself it passed on
		own = ""
	}
	kept, err := m.labels.In(ctx, x.folder, own)
	if err != nil {
		return err
	}
	reader := shell.NewReader()
	reader.Remember(kept.Files)
	fields, err := x.args.Fields()
	if err != nil {
		return nil //nolint:nilerr // unreadable arguments are the worst already
	}
	lines, _ := commands.Of(reader, x.entry.meaningOf(in.Tool), fields)
	var runs, shown remembered.Files
	for _, l := range lines {
		runs, shown = append(runs, kept.Files.Meant(l)...), append(shown, kept.Files.Named(l)...)
	}
	if in.Facts != nil {
		x.entry.facts.Of.Labelled(kept.Files)
		x.entry.facts.Led = len(runs) > 0
	}
	if len(runs) > 0 {
		x.taint = x.taint.With(kept.Label(runs))
		setInput(in, x.entry, x.taint, in.Tool, &x.args)
	}
	x.left, x.leftWhat = kept.Label(append(runs, shown...)), runs.What() // a copy is no better
	return nil
}
