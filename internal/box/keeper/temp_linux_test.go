package keeper_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/box/keeper"
)

// runWith runs a line in a session's box, with what calls of the session put below /tmp outside.
func (w *world) runWith(session, line string, temp ...string) (int, string) {
	w.t.Helper()
	return finish(w.t, w.client(w.ticket(session, line, func(g *keeper.Grant) { g.Temp = temp }), line))
}

// aside makes a folder below the machine's /tmp, which no test's workspace lies in.
func aside(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "agent-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// What the agent put into /tmp with its own tools, before there was a box or after, is there when a command of the box runs it.
func TestABoxHasWhatItsSessionPutIntoTmp(t *testing.T) {
	w := newWorld(t, nil)
	dir := aside(t)
	script, data, clone := filepath.Join(dir, "x.sh"), filepath.Join(dir, "a", "b.txt"), filepath.Join(dir, "clone")
	put(t, script, "#!/bin/sh\necho one\n", 0o755)
	put(t, data, "data\n", 0o600)
	put(t, filepath.Join(clone, "src", "run.sh"), "echo built\n", 0o644)
	if err := os.Symlink("src/run.sh", filepath.Join(clone, "go.sh")); err != nil {
		t.Fatal(err)
	}
	temp := []string{script, data, clone, filepath.Join(dir, "nothing")}
	if code, out := w.runWith("one", script+"; cat "+data+"; sh "+clone+"/go.sh; echo x > "+clone+"/out && rm "+data, temp...); code != 0 || out != "one\ndata\nbuilt\n" {
		t.Errorf("%d %q", code, out)
	}
	if _, err := os.Stat(filepath.Join(clone, "out")); err == nil {
		t.Error("the box wrote into the machine's /tmp")
	}
	if _, err := os.Stat(data); err != nil {
		t.Errorf("the box removed a file of the machine's: %v", err)
	}
	if code, out := w.runWith("one", "test -e "+data+" && echo again; cat "+clone+"/out", temp...); code != 0 || out != "x\n" {
		t.Errorf("what the box removed and wrote is not as it left it: %d %q", code, out)
	}
	put(t, script, "#!/bin/sh\necho two, and longer\n", 0o755)
	if code, out := w.runWith("one", script, temp...); code != 0 || out != "two, and longer\n" {
		t.Errorf("written again: %d %q", code, out)
	}
	for session, named := range map[string][]string{"one": nil, "two": nil, "three": {data}} {
		if code, out := w.runWith(session, "ls "+dir+" 2>/dev/null | grep -c x.sh", named...); session != "one" && strings.TrimSpace(out) != "0" {
			t.Errorf("session %s has what nobody named for it: %d %q", session, code, out)
		}
	}
}

// Somebody who has read this uses the copying: to read what a box does not show, and to have the keeper write outside the box.
func TestCopyingIntoABoxIsNoWayInOrOut(t *testing.T) {
	w := newWorld(t, nil)
	dir := aside(t)
	secret := filepath.Join(w.home, ".ssh", "id_ed25519")
	link, folder, second, inside := filepath.Join(dir, "link"), filepath.Join(dir, "folder"), filepath.Join(dir, "second"), filepath.Join(dir, "deep")
	for from, to := range map[string]string{link: secret, folder: filepath.Dir(secret), filepath.Join(inside, "key"): secret} {
		if err := os.MkdirAll(filepath.Dir(from), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(secret, second); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "self")); err != nil {
		t.Fatal(err)
	}
	all := []string{
		link, folder, folder + "/id_ed25519", second, inside, inside + "/key", dir + "/self/second", secret, "/tmp", "/tmp/", "/tmp/..", "/tmp/../etc/shadow", w.data, w.ws, w.home, "/etc",
		"relative", "", "/tmp/x\x00y",
	}
	if code, out := w.runWith("one", "cat "+strings.Join([]string{link, folder + "/id_ed25519", second, inside + "/key", secret}, " ")+" 2>/dev/null; true", all...); code != 0 || out != "" {
		t.Errorf("a box reads what it is not shown: %d %q", code, out)
	}
	// The box lays links where the keeper will write: to a file outside, to a folder outside, and a folder in the place of a file.
	outside := filepath.Join(w.home, "kept.txt")
	put(t, outside, "kept\n", 0o600)
	a, b, c := filepath.Join(dir, "in", "a.txt"), filepath.Join(dir, "in2", "kept.txt"), filepath.Join(dir, "in3", "c.txt")
	lays := "mkdir -p " + filepath.Dir(a) + " " + c + " && ln -s " + outside + " " + a + " && ln -s " + outside + " " + filepath.Dir(a) + "/.tidemark-a.txt && ln -s " + w.home + " " + filepath.Dir(b)
	if code, out := w.runWith("one", lays); code != 0 {
		t.Fatalf("%d %q", code, out)
	}
	for _, f := range []string{a, b, c} {
		put(t, f, "from the agent\n", 0o600)
	}
	code, out := w.runWith("one", "cat "+a+"; readlink "+filepath.Dir(b)+"; ls -d "+c, a, b, c)
	if want := "from the agent\n" + w.home + "\n" + c + "\n"; code != 0 || out != want {
		t.Errorf("%d %q, want %q", code, out, want)
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "kept\n" {
		t.Errorf("the keeper wrote through a link of the box: %q %v", text, err)
	}
	// A command that goes on swaps a folder for a link as fast as it can.
	swap := filepath.Join(dir, "swap")
	race := "cd " + dir + "; (while :; do mkdir swap; rmdir swap; ln -s " + w.home + " swap; rm -f swap; done) >/dev/null 2>&1 &"
	if code, out := w.runWith("one", race); code != 0 {
		t.Fatalf("%d %q", code, out)
	}
	for i := range 40 {
		put(t, filepath.Join(swap, "kept.txt"), strings.Repeat("x", i+1), 0o600)
		if err := os.Chtimes(filepath.Join(swap, "kept.txt"), time.Unix(int64(i), 0), time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
		w.runWith("one", "true", filepath.Join(swap, "kept.txt"))
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "kept\n" {
		t.Errorf("the keeper wrote through a link that came while it looked: %q %v", text, err)
	}
}
