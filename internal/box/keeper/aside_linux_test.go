package keeper_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/box/keeper"
)

// put aside has a session leave three files that would run elsewhere, and returns what waits for a person when its box has ended.
func (w *world) putAside() map[string]keeper.Aside {
	w.t.Helper()
	if code, out := w.run("s", "mkdir .vscode; echo evil > .vscode/tasks.json; echo '{}' > .mcp.json; ln -s /etc/passwd .envrc; sleep 0.3"); code != 0 {
		w.t.Fatal(out)
	}
	if list := keeper.AsideIn(w.data); len(list) != 0 {
		w.t.Errorf("a box that is open is settled: %v", list)
	}
	if _, err := entry.Ask(w.data, entry.Request{Do: entry.End, Session: "s"}); err != nil {
		w.t.Fatal(err)
	}
	out := map[string]keeper.Aside{}
	for _, a := range keeper.AsideIn(w.data) {
		if a.Workspace != w.ws || a.Session != "s" || a.ID != keeper.AsideID(a.Kept) {
			w.t.Errorf("%+v", a)
		}
		out[a.Path] = a
	}
	if len(out) != 3 {
		w.t.Fatalf("%v", out)
	}
	return out
}

// What was put aside is put back where it was, or thrown away, one by one; with the last one nothing of the box is left.
func TestWhatWasPutAsideIsTakenOrDropped(t *testing.T) {
	w := newWorld(t, nil)
	all := w.putAside()
	tasks, mcp, link := all[".vscode"], all[".mcp.json"], all[".envrc"]
	if err := tasks.Take(); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(w.ws, ".vscode/tasks.json")); string(raw) != "evil\n" || err != nil {
		t.Errorf("%q %v", raw, err)
	}
	if err := mcp.Drop(); err != nil || exists(filepath.Join(w.ws, ".mcp.json")) || exists(mcp.Kept) {
		t.Error(err)
	}
	if err := link.Take(); err == nil || exists(filepath.Join(w.ws, ".envrc")) {
		t.Error("a link was put back")
	}
	if list := keeper.AsideIn(w.data); len(list) != 1 {
		t.Errorf("%v", list)
	}
	if err := link.Drop(); err != nil {
		t.Fatal(err)
	}
	if left := keeper.LeftIn(w.data); len(left) != 0 {
		t.Errorf("%+v", left)
	}
}

// Nothing is put back over something else, or through a link that somebody left in the workspace.
func TestNothingIsPutBackElsewhere(t *testing.T) {
	w := newWorld(t, nil)
	all := w.putAside()
	mcp, tasks := all[".mcp.json"], all[".vscode"]
	w.put(filepath.Join(w.ws, ".mcp.json"), "mine")
	if err := mcp.Take(); err == nil {
		t.Error("it was put over another file")
	}
	away := filepath.Join(w.dir, "away")
	if err := os.MkdirAll(away, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(away, filepath.Join(w.ws, "deep")); err != nil {
		t.Fatal(err)
	}
	tasks.Path = "deep/.vscode"
	if err := tasks.Take(); err == nil || exists(filepath.Join(away, ".vscode")) {
		t.Errorf("it went through a link: %v", err)
	}
	if raw, _ := os.ReadFile(filepath.Join(w.ws, ".mcp.json")); string(raw) != "mine" || !exists(mcp.Kept) || !exists(tasks.Kept) {
		t.Error("something was lost")
	}
	outside := keeper.Aside{ID: "x/1", Workspace: w.ws, Path: "../x", Kept: tasks.Kept}
	if err := outside.Take(); err == nil {
		t.Error("it was put outside the workspace")
	}
}

// What a session changed of the home folder, where the policy makes all of it a layer, is kept or thrown away by a person: whole files, and
// only in the place of what they were made of.
func TestChangesOfTheHomeAreKeptOrDropped(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range []string{".bashrc", ".vimrc", ".inputrc"} {
		w.put(filepath.Join(w.home, name), "# mine\n")
	}
	if err := os.Chmod(filepath.Join(w.home, ".bashrc"), 0o640); err != nil {
		t.Fatal(err)
	}
	line := "for f in .bashrc .vimrc .inputrc .npmrc; do echo box >> ~/$f; done; chmod 777 ~/.bashrc; cat ~/.bashrc"
	cmd := w.client(w.ticket("s", line, func(g *keeper.Grant) { g.Settings.Layer = "home" }), line)
	if code, out := finish(t, cmd); code != 0 || out != "# mine\nbox\n" {
		t.Fatalf("%d %q", code, out)
	}
	if _, err := entry.Ask(w.data, entry.Request{Do: entry.End, Session: "s"}); err != nil {
		t.Fatal(err)
	}
	all := map[string]keeper.Aside{}
	for _, a := range keeper.AsideIn(w.data) {
		all[filepath.Base(a.Path)] = a
	}
	if len(all) != 4 {
		t.Fatalf("%+v", all)
	}
	rc, vim, input, npm := all[".bashrc"], all[".vimrc"], all[".inputrc"], all[".npmrc"]
	w.put(filepath.Join(w.home, ".vimrc"), "# changed since\n")
	if err := os.Remove(filepath.Join(w.home, ".inputrc")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(w.home, ".inputrc")); err != nil {
		t.Fatal(err)
	}
	if vim.Take() == nil || input.Take() == nil || !exists(vim.Kept) || !exists(input.Kept) {
		t.Error("it was kept over something else")
	}
	for _, a := range []*keeper.Aside{&rc, &npm} {
		if err := a.Take(); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{".bashrc": "# mine\nbox\n", ".npmrc": "box\n", ".vimrc": "# changed since\n"} {
		if text, err := os.ReadFile(filepath.Join(w.home, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
	if info, err := os.Stat(filepath.Join(w.home, ".bashrc")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	astray := vim
	astray.Path = filepath.Join(w.home, "../elsewhere")
	if astray.Take() == nil {
		t.Error("it was kept outside the home folder")
	}
	for _, a := range []*keeper.Aside{&vim, &input} {
		if err := a.Drop(); err != nil {
			t.Error(err)
		}
	}
	if left := keeper.LeftIn(w.data); len(left) != 0 {
		t.Errorf("%+v", left)
	}
}
