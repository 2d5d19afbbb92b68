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
