package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/box/keeper"
	"github.com/tidemark/tidemark/internal/box/snapshot"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/store"
)

func (e *env) writesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "writes",
		Short: "Review denied writes to memory files",
		Long:  "A denied write to a memory file is kept whole. Release it (the agent may then repeat exactly that call) or discard it.",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return e.listWrites(cmd.Context()) },
	}
	for _, a := range []struct{ name, short string }{
		{"release", "Print the write and let the agent repeat it once"},
		{"discard", "Discard the write"},
	} {
		cmd.AddCommand(&cobra.Command{
			Use: a.name + " ID", Short: a.short,
			Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return e.review(cmd.Context(), args[0], a.name) },
		})
	}
	cmd.AddCommand(&cobra.Command{
		Use: "show ID", Short: "Print the write whole, and what it would change, without answering",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.showWrite(cmd.Context(), args[0]) },
	})
	return cmd
}

type writeRow struct {
	Session string `json:"session"`
	engine.WriteView
}

func (e *env) writes(ctx context.Context) ([]writeRow, error) {
	out := []writeRow{}
	err := e.eachView(ctx, func(v *engine.View) {
		for _, w := range v.Writes {
			out = append(out, writeRow{v.Session, w})
		}
	})
	return out, err
}

// eachView calls do with every session of the log.
func (e *env) eachView(ctx context.Context, do func(*engine.View)) error {
	return e.withLog(ctx, func(log *installation.Log) error {
		for q := (store.SessionQuery{Limit: store.MaxLimit}); ; {
			rows, err := log.Sessions(ctx, q)
			if err != nil {
				return fmt.Errorf("list sessions: %w", err)
			}
			for _, r := range rows {
				q.After = r.Name
				v, err := log.Monitor.View(ctx, r.Name)
				if err != nil {
					return err
				}
				do(&v)
			}
			if len(rows) < store.MaxLimit {
				return nil
			}
		}
	})
}

func (e *env) listWrites(ctx context.Context) error {
	all, err := e.writes(ctx)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"writes": all})
	}
	if len(all) == 0 {
		e.printf("no quarantined writes\n")
		return nil
	}
	rows := make([][]cell, len(all))
	for i, w := range all {
		status := cell{"", w.Status}
		if w.Status == "held" {
			status = cell{"warn", w.Status}
		}
		rows[i] = []cell{
			{"", w.ID}, status, {"", w.Tool}, {"", w.Path},
			{"dim", w.Session}, {"dim", w.Time.Local().Format(time.DateTime)},
		}
	}
	return e.ui.table(e.out, []string{"WRITE", "STATUS", "TOOL", "PATH", "SESSION", "TIME"}, rows)
}

// showWrite prints a write as it would be made. Nothing of it is redacted: whoever has the
// data folder must judge it.
func (e *env) showWrite(ctx context.Context, id string) error {
	var row *writeRow
	var args strictjson.Value
	all, err := e.writes(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].ID == id {
			row = &all[i]
		}
	}
	if row == nil {
		return fmt.Errorf("show %s: no such write; tidemark approvals writes lists them", id)
	}
	err = e.withLog(ctx, func(log *installation.Log) error {
		for ev, err := range log.Monitor.Events(ctx, row.Session) {
			if err != nil {
				return err
			}
			if d := ev.Decided; d != nil && d.Write != nil && d.Write.ID == id {
				args = strictjson.Value(d.Write.Args)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("show %s: %w", id, err)
	}
	diff := writeDiff(row.Path, args)
	if e.json {
		return e.printJSON(map[string]any{
			"id": id, "status": row.Status, "session": row.Session, "tool": row.Tool, "path": row.Path, "args": args, "diff": diff,
		})
	}
	e.printf("%s: %s to %s, %s, of %s\n",
		report.Line(id), report.Line(row.Tool), report.Line(row.Path), row.Status, report.Line(row.Session))
	if diff == "" {
		e.printf("%s\n", text.Clean(string(args)))
	}
	for l := range strings.Lines(diff) {
		l = strings.TrimSuffix(text.Clean(l), "\n")
		switch {
		case strings.HasPrefix(l, "+"):
			l = e.ui.word("allow", l)
		case strings.HasPrefix(l, "-"):
			l = e.ui.word("deny", l)
		}
		e.printf("%s\n", l)
	}
	return nil
}

// maxDiffed bounds the files a difference is drawn of.
const maxDiffed = 1 << 20

// writeDiff is what a write would change in the file as it is now; empty where the arguments do
// not say so: then they speak for themselves.
func writeDiff(path string, args strictjson.Value) string {
	var w struct {
		Content strictjson.Value `json:"content"`
		Old     strictjson.Value `json:"old_string"`
		New     strictjson.Value `json:"new_string"`
	}
	text := func(v strictjson.Value) (s string, ok bool) {
		return s, v.Kind() == '"' && strictjson.Unmarshal(v, &s) == nil
	}
	if strictjson.Unmarshal(args, &w) != nil {
		return ""
	}
	if content, ok := text(w.Content); ok {
		var before []byte
		if f, err := os.Stat(path); filepath.IsAbs(path) && err == nil && f.Mode().IsRegular() && f.Size() <= maxDiffed {
			before, _ = os.ReadFile(path) // one that cannot be read is drawn as new
		}
		return unified(path, before, content)
	}
	old, ok := text(w.Old)
	if now, also := text(w.New); ok && also {
		return unified(path, []byte(old), now)
	}
	return ""
}

// unified is what a text changes in another.
func unified(path string, before []byte, after string) string {
	_, out, _ := bytes.Cut(diff.Diff(path, before, path, []byte(after)), []byte("\n")) // its first line is a command, which nobody ran
	return string(out)
}

func (e *env) review(ctx context.Context, id, action string) error {
	all, err := e.writes(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		if w.ID == id {
			return e.reviewOne(ctx, w, action)
		}
	}
	return fmt.Errorf("%s %s: no such write", action, id)
}

func (e *env) reviewOne(ctx context.Context, w writeRow, action string) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	var args strictjson.Value
	if c != nil {
		var out struct {
			Args strictjson.Value `json:"args"`
		}
		body := map[string]any{"action": action, "session": w.Session}
		if err := c.call(ctx, http.MethodPost, "/v1/writes/"+w.ID, body, &out); err != nil {
			return fmt.Errorf("%s %s: %w", action, w.ID, err)
		}
		args = out.Args
	} else {
		err := e.withWritableLog(ctx, func(log *installation.Log) error {
			if err := log.Unproven(); err != nil && action == "release" {
				return err
			}
			call, err := log.Monitor.Review(ctx, w.Session, w.ID, action == "release", whoami(), "cli")
			args = call.Args
			return err
		})
		if err != nil {
			return err
		}
	}
	if e.json {
		return e.printJSON(map[string]any{"id": w.ID, "action": action, "tool": w.Tool, "path": w.Path, "args": args})
	}
	e.printf("%sd %s: %s to %s\n", action, w.ID, w.Tool, w.Path)
	if action == "release" {
		e.printf("%s\n", args)
	}
	return nil
}

func (e *env) undoCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "undo [SESSION | SNAPSHOT]",
		Short: "Bring a workspace back to what it was before a session's first command in a box",
		Long: `Bring a workspace back to what it was before the first command of a session that ran in a box.
Shows what would change and asks. All that is replaced or removed is kept, and the snapshot that
takes the undo back is named. Without an argument the snapshots are listed.

Folders that tools make anew (node_modules, target, .venv) are left as they are, and so is what
commands could not change because the snapshot does not hold it.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := e.dataFolder()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return e.listSnapshots(snapshots(data))
			}
			return e.undo(data, args[0], yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (e *env) listSnapshots(s snapshot.Store) error {
	all, err := s.List()
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"snapshots": all})
	}
	if len(all) == 0 {
		e.printf("there are no snapshots\n")
	}
	for _, a := range all {
		what := "before session " + named(a.Session)
		if a.Of != "" {
			what = "what bringing back " + a.Of + " replaced"
		}
		e.printf("%s  %s  %s  %s (%d files)\n", a.Name, a.Taken.Local().Format(time.DateTime), a.Workspace, what, a.Files)
	}
	return nil
}

func (e *env) undo(data, what string, yes bool) error {
	s := snapshots(data)
	a, err := s.Find(what)
	if err != nil {
		return err
	}
	changes, err := s.Changes(a)
	if err != nil {
		return err
	}
	if !e.json {
		e.printChanges(s, a, changes)
	}
	if len(changes) > 0 && !yes {
		if e.json {
			return e.printJSON(map[string]any{"snapshot": a, "changes": legible(changes), "done": false})
		}
		if !e.sure("bring it back?") {
			e.printf("nothing was changed\n")
			return errFault
		}
	}
	if _, err := entry.Ask(data, entry.Request{Do: entry.End, Session: a.Session}); err != nil && !errors.Is(err, entry.ErrNoKeeper) {
		return fmt.Errorf("end the session's box first: %w", err)
	}
	done, err := s.Undo(a)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"snapshot": a, "changes": legible(done.Changes), "kept": done.Kept, "done": true})
	}
	if done.Kept == "" {
		e.printf("%s is as it was\n", a.Workspace)
		return nil
	}
	e.printf("%s is as it was. What was replaced is kept: tidemark undo %s brings it back\n", a.Workspace, done.Kept)
	for _, c := range done.Changes {
		if c.Later {
			e.printf("  changed after the session's last command, and kept as well: %s (below %s)\n", text.OneLine(c.Path),
				filepath.Join(s.Folder, done.Kept, "files"))
		}
	}
	return nil
}

// legible are changes whose paths are text.
func legible(changes []snapshot.Change) []snapshot.Change {
	out := slices.Clone(changes)
	for i := range out {
		out[i].Path = strings.ToValidUTF8(out[i].Path, "?")
	}
	return out
}

// sure asks at the terminal; anything but yes is no.
func (e *env) sure(what string) bool {
	e.printf("%s [y/N] ", what)
	line, _ := bufio.NewReader(e.in).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}

// mostShown is how many lines of differences are printed.
const mostShown = 400

// printChanges lists what would be done, and how texts differ.
func (e *env) printChanges(s snapshot.Store, a snapshot.About, changes []snapshot.Change) {
	for _, c := range changes {
		later := ""
		if c.Later {
			later = e.ui.word("warn", "  (changed after the session's last command)")
		}
		e.printf("%-10s  %s%s\n", c.Do, text.OneLine(c.Path), later)
	}
	lines := 0
	for _, c := range changes {
		before, after, ok := s.Text(a, c)
		if !ok || strings.HasPrefix(c.Path, ".git/") {
			continue
		}
		differs := text.Clean(unified(text.OneLine(c.Path), before, string(after)))
		if lines += strings.Count(differs, "\n"); lines > mostShown {
			e.printf("and more: --json lists all\n")
			return
		}
		e.printf("%s", differs)
	}
}

// asideCommands are for what boxes put aside: a file that would run elsewhere or later waits for a person.
func (e *env) asideCommands() []*cobra.Command {
	var yes bool
	take := &cobra.Command{
		Use:   "take ID...",
		Short: "Put back into the workspace what a box put aside, after a look at it",
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return e.eachAside(args, yes, true) },
	}
	drop := &cobra.Command{
		Use:   "drop ID...",
		Short: "Throw away what a box put aside",
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return e.eachAside(args, yes, false) },
	}
	for _, c := range []*cobra.Command{take, drop} {
		c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	}
	return []*cobra.Command{take, drop}
}

// eachAside takes back, or throws away, each of those that are named.
func (e *env) eachAside(ids []string, yes, take bool) error {
	data, err := e.dataFolder()
	if err != nil {
		return err
	}
	all := keeper.AsideIn(data)
	for _, id := range ids {
		i := slices.IndexFunc(all, func(a keeper.Aside) bool { return a.ID == id })
		if i < 0 {
			return fmt.Errorf("nothing that was put aside in a box that has ended is called %s: see tidemark box list", id)
		}
		if err := e.settleAside(&all[i], yes, take); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) settleAside(a *keeper.Aside, yes, take bool) error {
	if !take {
		if !yes && !e.sure("throw away "+text.OneLine(cmp.Or(a.Path, a.Kept))+"?") {
			return errFault
		}
		return a.Drop()
	}
	now, err := e.boxesNow()
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(now.Boxes, func(b entry.Open) bool { return b.Workspace == a.Workspace }); i >= 0 {
		return fmt.Errorf("a box is open there, and would put it aside again: tidemark box end %s", now.Boxes[i].Session)
	}
	e.showAside(a.Kept)
	if !yes && !e.sure("put it back as "+text.OneLine(filepath.Join(a.Workspace, a.Path))+"?") {
		e.printf("nothing was changed\n")
		return errFault
	}
	return a.Take()
}

// showAside prints what was put aside, as far as it is text.
func (e *env) showAside(top string) {
	left := mostShown
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || left <= 0 {
			return nil //nolint:nilerr // what cannot be shown is not put back either
		}
		below, _ := filepath.Rel(filepath.Dir(top), path)
		e.printf("%s:\n", text.OneLine(below))
		raw, _ := os.ReadFile(path) //nolint:gosec // of our own folder
		for line := range strings.Lines(string(raw)) {
			if left--; left < 0 {
				e.printf("  … and more, in %s\n", text.OneLine(path))
				break
			}
			e.printf("  | %s\n", text.Visible(strings.TrimSuffix(line, "\n")))
		}
		return nil
	})
}
