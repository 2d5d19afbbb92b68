package snapshot_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/box/snapshot"
)

// picture is all that a folder holds: kinds, modes and bytes, and when files changed if that is asked for.
func picture(t interface{ Fatal(...any) }, dir string, times bool) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		says := info.Mode().String()
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			says += " -> " + to
		case d.Type().IsRegular():
			text, _ := os.ReadFile(path)
			says += " " + string(text)
		}
		if times {
			says += info.ModTime().String()
		}
		out[name] = says
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func put(t interface{ Fatal(...any) }, path, text string) {
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func newStore(t *testing.T) (snapshot.Store, string) {
	t.Helper()
	dir := t.TempDir()
	ws := filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	return snapshot.Store{Folder: filepath.Join(dir, "kept")}, ws
}

func take(t *testing.T, s snapshot.Store, ws string) snapshot.About {
	t.Helper()
	a, err := s.Take("session", ws)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func shell(t *testing.T, dir, line string) {
	t.Helper()
	cmd := exec.Command("bash", "-ec", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_AUTHOR_NAME=d", "GIT_AUTHOR_EMAIL=d@acme.example", "GIT_COMMITTER_NAME=d",
		"GIT_COMMITTER_EMAIL=d@acme.example", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// BOX-04: Whatever is done to a workspace, undo brings it back as it was, and undoing the undo brings back what was done.
func TestUndoBringsBackAndIsUndoable(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		ws := filepath.Join(dir, "ws")
		s := snapshot.Store{Folder: filepath.Join(dir, "kept")}
		names := []string{"a", "b", "d/a", "d/e/b", "d/e/\xff", "f", "g/x y", ".git/index"}
		if err := os.MkdirAll(ws, 0o755); err != nil {
			t.Fatal(err)
		}
		do := func(times int) {
			for range times {
				path := filepath.Join(ws, rapid.SampledFrom(names).Draw(t, "name"))
				text := rapid.SampledFrom([]string{"", "one", "two", "three"}).Draw(t, "text")
				switch rapid.IntRange(0, 6).Draw(t, "do") {
				case 0, 1:
					_ = os.MkdirAll(filepath.Dir(path), 0o755)
					_ = os.WriteFile(path, []byte(text), 0o644)
				case 2:
					_ = os.RemoveAll(path)
				case 3:
					_ = os.RemoveAll(filepath.Dir(path) + "/e")
				case 4:
					_ = os.RemoveAll(path)
					_ = os.Symlink("to-"+text, path) // which leads nowhere: what is done here is done to this folder alone
				case 5:
					mode := rapid.SampledFrom([]fs.FileMode{0o600, 0o755, 0o444}).Draw(t, "mode")
					if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
						_ = os.Chmod(path, mode)
					}
				case 6:
					_ = os.RemoveAll(path)
					_ = os.MkdirAll(path, 0o755)
				}
			}
			_ = os.MkdirAll(ws, 0o755)
		}
		do(12)
		before := picture(t, ws, false)
		a, err := s.Take("s", ws)
		if err != nil || len(a.Guard) != 0 {
			t.Fatal(a.Guard, err)
		}
		do(12)
		changed := picture(t, ws, false)
		done, err := s.Undo(a)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, picture(t, ws, false)); diff != "" {
			t.Fatalf("not as before: %s", diff)
		}
		if (done.Kept == "") != cmp.Equal(before, changed) {
			t.Fatalf("%+v", done)
		}
		if done.Kept == "" {
			return
		}
		back, err := s.Find(done.Kept)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Undo(back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(changed, picture(t, ws, false)); diff != "" {
			t.Fatalf("not as it was done: %s", diff)
		}
	})
}

// Taking a snapshot changes nothing of a repository, and everything of it can be brought back.
func TestARepositoryComesBack(t *testing.T) {
	s, ws := newStore(t)
	shell(t, ws, `git init -q; echo a > a; git add a; git commit -qm one; echo b > b; git add b; echo c > c; echo K=v > .env; echo .env > .gitignore;
		git stash -q; echo b > b; git add b; echo more >> a; mkdir -p .git/hooks`)
	before := picture(t, ws, true)
	a := take(t, s, ws)
	if diff := cmp.Diff(before, picture(t, ws, true)); diff != "" {
		t.Errorf("it was changed: %s", diff)
	}
	before = picture(t, ws, false)
	shell(t, ws, `git reset -q --hard; git clean -qfdx; git stash clear; git reflog expire --expire=now --all; git gc -q --prune=now; rm -rf .git/refs a`)
	if _, err := s.Undo(a); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, picture(t, ws, false)); diff != "" {
		t.Error(diff)
	}
	shell(t, ws, `git fsck; git stash show; test "$(cat .env)" = K=v`)
}

// Beyond the bound the repository's own objects stand for what it has; what neither holds is guarded, by the fewest names.
func TestWhatIsNotHeldIsGuarded(t *testing.T) {
	for name, format := range map[string]string{"sha1": "git init -q", "sha256": "git init -q --object-format=sha256", "index 4": "git init -q && git config index.version 4"} {
		t.Run(name, func(t *testing.T) {
			s, ws := newStore(t)
			s.Most = snapshot.Bound{Bytes: 300_000, Files: 10_000}
			shell(t, ws, format+`; mkdir -p src/deep data node_modules/x target; for i in $(seq 30); do head -c 20000 /dev/zero | tr '\0' "$((i%10))" > src/deep/f$i; done;
				echo kept > target/kept; git add -f .; git commit -qm one; git gc -q; head -c 200000 /dev/urandom > data/dev.db; head -c 200000 /dev/urandom > data/more.db;
				head -c 900000 /dev/urandom > node_modules/x/big; echo changed > src/deep/f1; echo K=v > .env`)
			a := take(t, s, ws)
			if diff := cmp.Diff([]string{"data/more.db"}, a.Guard); diff != "" && !slices.Equal(a.Guard, []string{"data/dev.db"}) {
				t.Errorf("guarded: %s", diff)
			}
			if a.Bytes > s.Most.Bytes {
				t.Errorf("%d bytes were copied", a.Bytes)
			}
			before := picture(t, ws, false)
			held := "data/dev.db"
			if slices.Contains(a.Guard, held) {
				held = "data/more.db"
			}
			shell(t, ws, `rm -rf src .env target `+held+`; echo x > new`)
			if _, err := s.Undo(a); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, picture(t, ws, false)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A folder in no repository is copied as far as it fits; a heap of files that do not fit is guarded as one.
func TestAFolderInNoRepository(t *testing.T) {
	s, ws := newStore(t)
	s.Most = snapshot.Bound{Bytes: 1000, Files: 100}
	put(t, ws+"/small", "x")
	for i := range 200 {
		put(t, fmt.Sprintf("%s/heap/%d", ws, i), "0123456789")
	}
	put(t, ws+"/big/file", strings.Repeat("x", 2000))
	a := take(t, s, ws)
	if diff := cmp.Diff([]string{"big/file", "heap"}, a.Guard); diff != "" {
		t.Error(diff)
	}
}

// A folder is not one that tools make anew because a file or a link is called so.
func TestAFileOfThatNameIsHeld(t *testing.T) {
	s, ws := newStore(t)
	put(t, ws+"/target", "mine")
	if err := os.Symlink("elsewhere", ws+"/venv"); err != nil {
		t.Fatal(err)
	}
	a := take(t, s, ws)
	if err := errors.Join(os.Remove(ws+"/target"), os.Remove(ws+"/venv")); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Undo(a); err != nil || len(done.Changes) != 2 {
		t.Errorf("%+v %v", done, err)
	}
}

// Links that commands left do not lead undo out of the workspace.
func TestUndoFollowsNoLinks(t *testing.T) {
	s, ws := newStore(t)
	outside := filepath.Join(filepath.Dir(ws), "outside")
	put(t, outside+"/keys", "mine")
	put(t, outside+"/deep/x", "mine")
	put(t, ws+"/d/keys", "was")
	put(t, ws+"/d/deep/x", "was")
	put(t, ws+"/f", "was")
	a := take(t, s, ws)
	before := picture(t, outside, true)
	shell(t, ws, `rm -rf d f; ln -s ../outside d; ln -s ../outside/keys f; ln -s ../outside new`)
	if _, err := s.Undo(a); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, picture(t, outside, true)); diff != "" {
		t.Error(diff)
	}
	if text, err := os.ReadFile(ws + "/d/keys"); string(text) != "was" {
		t.Error(string(text), err)
	}
}

// Neither size nor time hides a change, and what a person changed afterwards is said and kept.
func TestChangesAreSeenAndKept(t *testing.T) {
	s, ws := newStore(t)
	put(t, ws+"/forged", "good")
	put(t, ws+"/mine", "old")
	a := take(t, s, ws)
	info, err := os.Stat(ws + "/forged")
	if err != nil {
		t.Fatal(err)
	}
	put(t, ws+"/forged", "evil")
	if err := errors.Join(os.Chtimes(ws+"/forged", info.ModTime(), info.ModTime()), s.Used(a.Name, time.Now())); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // the kernel's clock for files is coarse
	put(t, ws+"/mine", "my own work")
	changes, err := s.Changes(a)
	if err != nil || len(changes) != 2 || changes[0].Later || !changes[1].Later {
		t.Fatalf("%+v %v", changes, err)
	}
	if before, after, ok := s.Text(a, changes[0]); !ok || string(before) != "evil" || string(after) != "good" {
		t.Errorf("%s %s %v", before, after, ok)
	}
	done, err := s.Undo(a)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(s.Folder, done.Kept, "files", "*"))
	if err != nil || len(kept) != 2 {
		t.Fatal(kept, err)
	}
	if !slices.ContainsFunc(kept, func(name string) bool { text, _ := os.ReadFile(name); return string(text) == "my own work" }) {
		t.Error("the work of a person is lost")
	}
	if text, err := os.ReadFile(ws + "/forged"); string(text) != "good" {
		t.Error(string(text), err)
	}
}

// A worktree's repository elsewhere is held with it.
func TestAWorktreeComesBackWithItsRepository(t *testing.T) {
	s, ws := newStore(t)
	shell(t, ws, `git init -q; echo a > a; git add a; git commit -qm one; git worktree add -q ../tree`)
	tree := filepath.Join(filepath.Dir(ws), "tree")
	a := take(t, s, tree)
	if a.Elsewhere != filepath.Join(ws, ".git") {
		t.Fatalf("%+v", a)
	}
	before := picture(t, filepath.Dir(ws)+"/ws", false)
	shell(t, tree, `rm a; git branch gone; rm -rf ../ws/.git/refs/heads`)
	if _, err := s.Undo(a); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, picture(t, filepath.Dir(ws)+"/ws", false)); diff != "" {
		t.Error(diff)
	}
}

// A second snapshot of a workspace copies what changed since, and holds all by itself.
func TestASecondSnapshotCopiesLittle(t *testing.T) {
	s, ws := newStore(t)
	for i := range 20 {
		put(t, fmt.Sprintf("%s/f%d", ws, i), strings.Repeat("x", 1000))
	}
	time.Sleep(1100 * time.Millisecond) // what has just changed is copied again
	one := take(t, s, ws)
	put(t, ws+"/f0", strings.Repeat("y", 1000))
	before := picture(t, ws, false)
	two := take(t, s, ws)
	if one.Bytes != 20_000 || two.Bytes != 1000 {
		t.Errorf("%d, then %d bytes", one.Bytes, two.Bytes)
	}
	if err := os.RemoveAll(filepath.Join(s.Folder, one.Name)); err != nil {
		t.Fatal(err)
	}
	shell(t, ws, "rm f*")
	if _, err := s.Undo(two); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, picture(t, ws, false)); diff != "" {
		t.Error(diff)
	}
}

// What was never finished is no snapshot, and what is old goes.
func TestWhatIsOldGoes(t *testing.T) {
	s, ws := newStore(t)
	put(t, ws+"/a", "x")
	a := take(t, s, ws)
	if err := os.Mkdir(filepath.Join(s.Folder, "half"), 0o700); err != nil {
		t.Fatal(err)
	}
	if all, err := s.List(); err != nil || len(all) != 1 || all[0].Name != a.Name {
		t.Errorf("%+v %v", all, err)
	}
	if err := s.Prune(time.Now().Add(15 * 24 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(s.Folder); err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
}
