package box_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box"
)

// all of the home is a layer: what commands change of it they see, nothing of it reaches the home folder, and each changed file waits for a
// person. Keys stay unseen, and what nobody changed is not among it.
func TestAllOfTheHomeIsALayer(t *testing.T) {
	if reduced() {
		t.Skip("a reduced box has no layer")
	}
	w := newWorld(t)
	w.put(filepath.Join(w.home, ".bashrc"), "# mine\n")
	w.put(filepath.Join(w.home, ".vim/colors/x.vim"), "x\n")
	w.put(filepath.Join(w.home, "notes/todo.txt"), "todo\n")
	b := w.open(func(want *box.Want) { want.Layer = box.LayerHome })
	code, out := w.in(b, `set -e; cd ~; echo 'alias ls=evil' >> .bashrc; printf 'x' > .npmrc.new; mv .npmrc.new .npmrc; echo more >> notes/todo.txt; mkdir -p .config/tool; echo 1 > .config/tool/rc
		echo y > .vim/colors/x.vim; sed -i s/y/z/ .vim/colors/x.vim; rm -f notes/none; ln -s /etc/passwd lnk; cat .bashrc notes/todo.txt .config/tool/rc; mkdir -p .ssh; echo k > .ssh/authorized_keys; ls .ssh; echo c > .cache/x; echo in >> "$OLDPWD/a.txt"`)
	if code != 0 || !strings.Contains(out, "alias ls=evil") || !strings.Contains(out, "todo\nmore") || strings.Contains(out, "id_") {
		t.Errorf("%d %q", code, out)
	}
	r := w.shut(b)
	got := map[string]string{}
	for _, a := range r.Aside {
		text, err := os.ReadFile(a.Kept)
		if err != nil {
			t.Error(err)
		}
		got[strings.TrimPrefix(a.Path, w.home+"/")] = string(text)
		if there := a.Sum != ""; there == (strings.Contains(a.Path, ".npmrc") || strings.Contains(a.Path, "tool/rc") || strings.Contains(a.Path, ".ssh")) {
			t.Errorf("%+v", a)
		}
	}
	want := map[string]string{
		".bashrc": "# mine\nalias ls=evil\n", ".npmrc": "x", "notes/todo.txt": "todo\nmore\n", ".config/tool/rc": "1\n", ".vim/colors/x.vim": "z\n", ".ssh/authorized_keys": "k\n",
	}
	for path, text := range want {
		if got[path] != text {
			t.Errorf("%s: %q", path, got[path])
		}
		delete(got, path)
	}
	if len(got) > 0 || r.Home != w.home {
		t.Errorf("besides: %v, home %q", got, r.Home)
	}
	for path, text := range map[string]string{".bashrc": "# mine\n", "notes/todo.txt": "todo\n", ".vim/colors/x.vim": "x\n"} {
		if now, err := os.ReadFile(filepath.Join(w.home, path)); err != nil || string(now) != text {
			t.Errorf("%s is now %q, %v", path, now, err)
		}
	}
	for _, path := range []string{".npmrc", ".config/tool", ".ssh/authorized_keys", "lnk", ".cache/x"} {
		if _, err := os.Lstat(filepath.Join(w.home, path)); err == nil {
			t.Errorf("%s is in the home folder", path)
		}
	}
}

// Without a layer nothing of the home can be written, caches too; they can be read.
func TestNoneOfTheHomeIsALayer(t *testing.T) {
	if reduced() {
		t.Skip("a reduced box has no layer")
	}
	w := newWorld(t)
	w.put(filepath.Join(w.home, ".npm/x"), "cached\n")
	b := w.open(func(want *box.Want) { want.Layer = box.LayerNone })
	code, out := w.in(b, "cat ~/.npm/x; echo x > ~/.npm/y; echo x >> ~/.npm/x; echo x > ~/.cache/z; echo x > ~/new; echo x >> a.txt && echo wrote; ls ~/.npm")
	if code != 0 || !strings.Contains(out, "cached") || !strings.Contains(out, "wrote") || strings.Contains(out, "\ny\n") {
		t.Errorf("%d %q", code, out)
	}
	if r := w.shut(b); len(r.Layer) > 0 || len(r.Aside) > 0 {
		t.Errorf("%+v", r)
	}
	if now, _ := os.ReadFile(filepath.Join(w.home, ".npm/x")); string(now) != "cached\n" {
		t.Errorf("%q", now)
	}
	if _, err := box.Open(box.Want{Workspace: w.ws, Home: w.home, State: filepath.Join(w.home, "s"), Layer: "all"}); err == nil {
		t.Error("a layer that nobody knows is made")
	}
}
