package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/box/keeper"
	"github.com/tidemark/tidemark/internal/box/trial"
)

// boxable are the agents whose commands can be sent into a box.
func boxable() []string {
	return slices.DeleteFunc(catalogue.SetupNames(), func(name string) bool {
		s, err := catalogue.FindSetup(name)
		return err != nil || s.Unboxed != ""
	})
}

// tryBoxing makes a box before anything is written: an agent whose commands are sent to one that cannot be made runs none.
func (e *env) tryBoxing(w install.World, f *installFlags, names []string) error {
	if w.Managed || w.Project != "" {
		return errors.New("--box works on your own settings only: those of a project or an administrator are for several people")
	}
	if f.trial != "full" && !f.dry {
		return errors.New("--box needs the trial of the real agent: leave --trial out")
	}
	for _, name := range names {
		if !slices.Contains(boxable(), name) {
			can := strings.Join(boxable(), ", ")
			if s, err := catalogue.FindSetup(name); err == nil {
				return fmt.Errorf("--box: %s: %s (boxes are for %s)", name, s.Unboxed, can)
			}
			return fmt.Errorf("--box: commands of %s cannot be sent into a box (only those of %s)", name, can)
		}
		if own := install.PrefixTaken(w, name); own != "" {
			return fmt.Errorf("--box: %s already starts its commands with another program (%s), and it can use only one", name, own)
		}
		if on := install.OwnSandbox(w, name); on != "" {
			return errors.New("--box: " + on + ". Nothing was changed: switch that one off, or leave --box out")
		}
		if catalogue.Lookup(name).Prefix != nil && strings.Contains(w.Data, " -") {
			return fmt.Errorf("--box: %s cannot be given a program below %s, whose name has a blank and a dash", name, w.Data)
		}
	}
	around := trial.Around{First: smallProgram()}
	if install.Exists(w.Data) {
		around.Data = w.Data
	}
	rows, err := trial.Run(around)
	if err != nil {
		return fmt.Errorf("try a box: %w", err)
	}
	for _, r := range rows {
		if !r.Held {
			return errors.New(strings.TrimSpace(fmt.Sprintf("--box: %s: %s. %s", r.Name, r.Text, r.Help)))
		}
	}
	if len(rows) == 0 || shim.Kernel() == "" {
		return errors.New("--box: nothing could be tried here")
	}
	if f.dry {
		return nil
	}
	return linkPrefixes(w, names)
}

// linkPrefixes makes the programs that agents start their commands with, before their settings name them.
func linkPrefixes(w install.World, names []string) error {
	for _, name := range names {
		if catalogue.Lookup(name).Prefix == nil {
			continue
		}
		path := catalogue.PrefixProgram(w.Data, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("--box: %w", err)
		}
		if to, err := os.Readlink(path); err == nil && to == w.Hook {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("--box: %w", err)
		}
		if err := os.Symlink(w.Hook, path); err != nil {
			return fmt.Errorf("--box: %w", err)
		}
	}
	return nil
}

// unbox has no commands sent into boxes: an installation without it switches it off, as it does with every other option, and one with it
// has to show again that it works. What is of a project or an administrator has no say.
func unbox(w install.World, out []installed) error {
	if w.Managed || w.Project != "" {
		return nil
	}
	var err error
	for _, r := range out {
		err = errors.Join(err, shim.Unbox(w.Data, r.Agent))
	}
	return err
}

// tryBoxes has each agent run a harmless command in a box, and sends its commands to boxes from then on if it did. Where it did not
// they are asked about as before, and what was written for boxes is taken out.
func (e *env) tryBoxes(ctx context.Context, w install.World, f *installFlags, out []installed) (whole bool, err error) {
	var failed []string
	for i := range out {
		r := &out[i]
		t, err := e.tryBox(ctx, w, r)
		if err != nil {
			return false, errors.Join(err, shim.Unbox(w.Data, r.Agent))
		}
		r.Box = &t
		if !t.Blocked {
			failed = append(failed, r.Agent)
		}
		if !e.json {
			e.printBoxed(r.Agent, t)
		}
	}
	if len(failed) == 0 {
		return true, nil
	}
	without := f.Options
	without.Box = false
	_, err = e.settle(ctx, w, false, failed, func(name string) (*install.Plan, error) { return install.Prepare(ctx, w, name, without) })
	return false, err
}

// tryBox is the trial of one agent. While it is under way nothing but its own folder is boxed.
func (e *env) tryBox(ctx context.Context, w install.World, r *installed) (install.Trial, error) {
	note := shim.Boxing{Program: w.Hook, Kernel: shim.Kernel(), Version: r.Version}
	session := ""
	t, err := install.TryBox(ctx, w, r.Agent, install.BoxTrial{
		Begin: func(folder string) error {
			during := note
			during.Trial, during.By = folder, os.Getpid()
			return during.Write(w.Data, r.Agent)
		},
		Boxed: func(folder string) (commands int, err error) {
			a, err := entry.Ask(w.Data, entry.Request{Do: entry.List})
			if errors.Is(err, entry.ErrNoKeeper) {
				return 0, nil
			}
			for _, b := range a.Boxes {
				if b.Workspace == folder {
					commands, session = commands+b.Commands, b.Session
				}
			}
			for _, b := range a.Left { // it ended with the agent's session
				if b.Workspace == folder {
					commands++
				}
			}
			return commands, err
		},
	})
	seen := shim.Seen(w.Data, r.Agent)
	if session != "" {
		_, _ = entry.Ask(w.Data, entry.Request{Do: entry.End, Session: session}) // or it ends by itself
	}
	if err == nil && t.Blocked && len(seen) == 0 {
		t = install.Trial{How: "the agent's program could not be found"}
	}
	if err != nil || !t.Blocked {
		return t, errors.Join(err, shim.Unbox(w.Data, r.Agent))
	}
	note.Agent, note.Tried = seen, time.Now().UTC().Truncate(time.Second)
	return t, note.Write(w.Data, r.Agent)
}

func (e *env) printBoxed(agent string, t install.Trial) {
	switch {
	case t.Blocked:
		e.printf("  %s, boxes: %s: %s. Its commands run in a box once it has read something that is not from you\n",
			agent, e.ui.word("good", "obeyed"), t.How)
	case t.Ran:
		e.printf("  %s, boxes: %s: %s. Its commands are asked about as before\n", agent, e.ui.word("deny", "NOT OBEYED"), t.How)
	default:
		e.printf("  %s, boxes: %s: %s. Its commands are asked about as before\n", agent, e.ui.word("warn", "could not be tried"), t.How)
	}
}

func (e *env) listBoxes() error {
	a, err := e.boxesNow()
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"boxes": a.Boxes, "left": a.Left})
	}
	if len(a.Boxes) == 0 {
		e.printf("no box is open\n")
	}
	e.printBoxes(a.Boxes)
	for _, l := range a.Left {
		e.printLeft(l)
	}
	return nil
}

func (e *env) printBoxes(list []entry.Open) {
	for _, b := range list {
		e.printf("box of session %s: %s, %d commands, %d running, %d processes, since %s\n", named(b.Session), b.Workspace, b.Commands,
			b.Running, b.Processes, b.Opened.Local().Format(time.DateTime))
		for _, a := range b.Aside {
			e.printf("  put aside: %s, in %s\n", text.OneLine(a.Path), text.OneLine(a.Kept))
		}
	}
}

func (e *env) printLeft(l entry.Left) {
	how := "ended"
	if l.Cut {
		how = "ended together with its keeper"
	}
	if l.Workspace == "" {
		e.printf("left behind by tidemark run: %s\n", l.Folder)
	} else {
		e.printf("box of session %s: %s, %s\n", named(l.Session), l.Workspace, how)
	}
	changed := map[string]string{}
	if data, err := e.dataFolder(); err == nil && len(l.Aside) > 0 {
		for _, a := range keeper.AsideIn(data) {
			if a.Home != "" {
				changed[a.Kept] = a.Path
			}
		}
	}
	for _, a := range l.Aside {
		if path := changed[a]; path != "" {
			e.printf("  it changed %s of your home, in a copy: tidemark box take %s keeps that, drop throws it away\n",
				text.OneLine(path), keeper.AsideID(a))
			continue
		}
		e.printf("  put aside, in %s: tidemark box take %s, or drop\n", text.OneLine(a), keeper.AsideID(a))
	}
	if l.Layer > 0 {
		e.printf("  %d files it wrote over the home folder were removed with it\n", l.Layer)
	}
	if l.Snapshot != "" {
		e.printf("  to go back to before it: tidemark undo %s\n", l.Snapshot)
	}
	if l.Fault != "" {
		e.printf("  %s\n", e.ui.word("bad", l.Fault))
	}
}

func named(session string) string {
	if session == "" {
		return "(none)"
	}
	return session
}

func (e *env) boxShell(session string) error {
	data, err := e.dataFolder()
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find this folder: %w", err)
	}
	none := func(os.Signal) {} // they are the shell's
	minding.Store(&none)
	defer minding.Store(nil)
	if code := entry.Do(data, entry.Request{Do: entry.Shell, Session: session, Dir: []byte(dir)}, e.errOut); code != 0 {
		return exitStatus(code)
	}
	return nil
}

func (e *env) endBoxes(session string) error {
	data, err := e.dataFolder()
	if err != nil {
		return err
	}
	a, err := entry.Ask(data, entry.Request{Do: entry.End, Session: session})
	if err != nil && !errors.Is(err, entry.ErrNoKeeper) {
		return err
	}
	if e.json {
		if a.Boxes == nil {
			a.Boxes = []entry.Open{}
		}
		return e.printJSON(map[string]any{"ended": a.Boxes})
	}
	if len(a.Boxes) == 0 {
		e.printf("no such box is open\n")
	}
	for _, b := range a.Boxes {
		e.printf("ended: box of session %s, %s, %d processes\n", named(b.Session), b.Workspace, b.Processes)
	}
	return nil
}
