package box_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/box"
)

func TestBytesComeThroughAsTheyAre(t *testing.T) {
	w := newWorld(t)
	b := w.open(nil)
	defer w.shut(b)
	sent := make([]byte, 3<<20)
	if _, err := rand.Read(sent); err != nil {
		t.Fatal(err)
	}
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, into, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	job, err := b.Start(box.Command{Args: []string{"cat"}, Dir: w.ws, Files: [3]*os.File{in, into, into}})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = in.Close(), into.Close()
	go func() {
		_, _ = feed.Write(sent)
		_ = feed.Close()
	}()
	got, err := io.ReadAll(out)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes came back, %v", len(got), len(sent), err)
	}
	if exit, err := job.Wait(); exit.Code != 0 || err != nil {
		t.Error(exit, err)
	}
}

func TestArgumentsAreBytes(t *testing.T) {
	w := newWorld(t)
	b := w.open(nil)
	defer w.shut(b)
	for _, arg := range []string{"", "a b", "\xff\xfe", "ü\n", strings.Repeat("x", 100_000)} {
		exit, out, err := start(t, b, w.ws, "printf", "%s", arg)
		if err != nil || exit.Code != 0 || out != arg {
			t.Errorf("%.20q came as %.20q, %v %v", arg, out, exit, err)
		}
	}
}

func TestWhatCannotBeStartedSaysWhy(t *testing.T) {
	w := newWorld(t)
	b := w.open(nil)
	defer w.shut(b)
	for args, want := range map[string]int{"nothing-like-this": box.ExitNotFound, "/nothing": box.ExitNotFound, "/etc/passwd": box.ExitNotStarted} {
		if exit, _, err := start(t, b, w.ws, args); exit.Code != want || err == nil {
			t.Errorf("%s: %v, %v", args, exit, err)
		}
	}
	if exit, _, err := start(t, b, w.home+"/.ssh", "true"); exit.Code != box.ExitNoBox || err == nil {
		t.Errorf("in a folder that cannot be seen: %v, %v", exit, err)
	}
}

func TestASignalReachesTheCommand(t *testing.T) {
	w := newWorld(t)
	b := w.open(nil)
	defer w.shut(b)
	out, into, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	job, err := b.Start(box.Command{
		Args: []string{"bash", "-c", `trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done`}, Dir: w.ws, Files: [3]*os.File{out, into, into},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	job.Signal(syscall.SIGTERM)
	if exit, err := job.Wait(); exit.Code != 7 || err != nil {
		t.Error(exit, err)
	}
}

// The environment of the caller is chosen by name, and the rest is in no process of the box.
func TestVariablesAreChosen(t *testing.T) {
	w := newWorld(t)
	b := w.open(func(x *box.Want) { x.Keep = []string{"ACME_DSN"} })
	_, out := w.in(b, `env; cat /proc/*/environ`)
	r := w.shut(b)
	if strings.Contains(out, "SECRET-env") || !strings.Contains(out, "SECRET-dsn") || !strings.Contains(out, "FEATURE_X=1") {
		t.Error(out)
	}
	if fmt.Sprint(r.Withheld) != "[GITHUB_TOKEN SSH_AUTH_SOCK]" {
		t.Error(r.Withheld)
	}
}

// What is granted is granted, and no more.
func TestGrantsAreWhatTheySay(t *testing.T) {
	w := newWorld(t)
	b := w.open(func(x *box.Want) { x.Read, x.Write = []string{w.home + "/.aws"}, []string{w.home + "/src/other"} })
	code, out := w.in(b, `cat ~/.aws/credentials && echo new > ../other/new && ! echo x > ~/.aws/x && ! cat ~/.ssh/id_ed25519`)
	w.shut(b)
	if code != 0 {
		t.Error(out)
	}
	if _, err := os.Stat(w.home + "/src/other/new"); err != nil {
		t.Error(err)
	}
}

// /tmp is the box's own, and goes with it.
func TestTemporaryFilesAreTheBoxs(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(os.TempDir(), fmt.Sprintf("mark-%d", os.Getpid()))
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(mark)
	_, out, _ := w.boxed(`ls -A ` + os.TempDir() + `; echo x > /tmp/inside; ls /tmp; echo x > /var/tmp/inside; echo x > /dev/shm/inside`)
	if strings.Contains(out, filepath.Base(mark)) || !strings.Contains(out, "inside") {
		t.Error(out)
	}
	for _, path := range []string{"/tmp/inside", "/var/tmp/inside", "/dev/shm/inside", filepath.Join(w.home, ".local/share/tidemark/boxes/one")} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}

// Nothing is created to guard a path.
func TestABoxLeavesNothingBehind(t *testing.T) {
	w := newWorld(t)
	list := func() string {
		var names []string
		_ = filepath.WalkDir(w.home, func(path string, _ os.DirEntry, err error) error {
			names = append(names, path)
			return err
		})
		return strings.Join(names, "\n")
	}
	if err := os.MkdirAll(filepath.Join(w.home, ".local/share/tidemark/boxes"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := list()
	w.boxed(`true`)
	if after := list(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// A second command of a box finds what the first left running.
func TestCommandsShareABox(t *testing.T) {
	w := newWorld(t)
	b := w.open(nil)
	defer w.shut(b)
	if code, out := w.in(b, `sleep 300 >/dev/null 2>&1 & echo $! > pid; mkdir /tmp/shared`); code != 0 {
		t.Fatal(out)
	}
	if code, out := w.in(b, `kill $(cat pid) && rmdir /tmp/shared`); code != 0 {
		t.Error(out)
	}
}

func TestTwoBoxesDoNotSeeOneAnother(t *testing.T) {
	w := newWorld(t)
	one := w.open(nil)
	two := w.open(func(x *box.Want) { x.State = strings.Replace(x.State, "one", "two", 1) })
	if _, out := w.in(one, `sleep 301 >/dev/null 2>&1 & echo x > /tmp/of-one; cat /proc/*/cmdline | tr '\0' ' '`); !strings.Contains(out, "sleep 301") {
		t.Error(out)
	}
	if _, out := w.in(two, `ls /tmp; cat /proc/*/cmdline | tr '\0' ' '`); strings.Contains(out, "sleep 301") || strings.Contains(out, "of-one") {
		t.Error(out)
	}
	w.shut(one)
	w.shut(two)
}

func init() {
	helpers["owner"] = func() {
		b, err := box.Open(box.Want{Workspace: os.Getenv("WS"), Home: os.Getenv("HOME"), State: os.Getenv("STATE"), Env: os.Environ()})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		job, err := b.Start(box.Command{
			Args: []string{"sh", "-c", `(trap '' TERM HUP INT; exec sleep ` + os.Getenv("MARK") + `) & setsid sleep ` + os.Getenv("MARK") + ` & echo ready; wait`},
			Dir:  os.Getenv("WS"), Files: [3]*os.File{os.Stdin, os.Stdout, os.Stderr},
		})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		_, _ = job.Wait()
	}
	helpers["refused"] = func() {
		if os.Getenv("HOW") == "filter" {
			if err := errors.Join(box.NoNewRights(), box.RefuseNamespaces()); err != nil {
				fmt.Println("filter:", err)
				os.Exit(1)
			}
		} else if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0o644); err != nil {
			fmt.Println("setting:", err)
			os.Exit(1)
		}
		_, err := box.Open(box.Want{Workspace: os.Getenv("WS"), Home: os.Getenv("HOME"), State: os.Getenv("STATE"), Env: os.Environ()})
		var lack *box.Lack
		fmt.Printf("%v\n%v\n", errors.As(err, &lack), err)
	}
}

// help starts this program as a helper.
func (w *world) help(name string, more ...string) *exec.Cmd {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(w.env, append(more, "BOX_HELPER="+name, "WS="+w.ws, "STATE="+w.dir+"/state")...)
	return cmd
}

// BOX-01: However the owner of a box ends, no process and no mount is left.
func TestABoxDiesWithItsOwner(t *testing.T) {
	w := newWorld(t)
	w.shut(w.open(nil)) // or it is skipped
	mark := fmt.Sprintf("%d.%d", 4000+os.Getpid()%1000, time.Now().UnixNano()%1_000_000)
	cmd := w.help("owner", "MARK="+mark)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if the test ends before it does so
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for len(processesWith(mark)) < 2 {
		if time.Now().After(deadline) {
			t.Fatal("nothing runs in the box that could be left")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for deadline = time.Now().Add(20 * time.Second); len(processesWith(mark)) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("left: %v", processesWith(mark))
		}
		time.Sleep(10 * time.Millisecond)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), w.dir) {
		t.Errorf("a mount is left: %v\n%s", err, mounts)
	}
	left, err := box.Leftovers(w.dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left of a box in which nothing was put aside: %v, %v", left, err)
	}
	if _, err := os.Stat(w.dir + "/state"); err == nil {
		t.Error("its folder is left")
	}
}

// processesWith are the processes of this machine that have a word among their arguments.
func processesWith(word string) []string {
	var out []string
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range list {
		text, _ := os.ReadFile(path)
		if strings.Contains(string(text), "sleep\x00"+word) {
			out = append(out, path)
		}
	}
	return out
}

// BOX-01: Without namespaces nothing is run, and the reason is told.
func TestWithoutNamespacesNothingRuns(t *testing.T) {
	for how, want := range map[string]string{"filter": "a container or another sandbox", "setting": "user.max_user_namespaces must be above 0"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			w.shut(w.open(nil)) // or it is skipped
			cmd := w.help("refused", "HOW="+how)
			if how == "setting" { // which is one of each namespace's own
				cmd.SysProcAttr = &syscall.SysProcAttr{
					Cloneflags:  syscall.CLONE_NEWUSER,
					UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
					GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
				}
			}
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), "true\nno box can be made here, so nothing was run") || !strings.Contains(string(out), want) {
				t.Errorf("%v\n%s", err, out)
			}
			if _, err := os.Stat(w.dir + "/state"); err == nil {
				t.Error("a folder is left")
			}
		})
	}
}

// What boxes left whose owners were ended is cleared, but for what was put aside; a box that is held is left alone.
func TestLeftoversAreClearedAndAsidesKept(t *testing.T) {
	w := newWorld(t)
	boxes := filepath.Join(w.home, ".local/share/tidemark/boxes")
	held := w.open(nil)
	for _, name := range []string{"dead/lock", "dead/tmp/x", "asked/lock", "asked/aside/1/.mcp.json", "asked/tmp/x", "young/tmp/x"} {
		w.put(filepath.Join(boxes, name), "x")
	}
	kept, err := box.Leftovers(boxes)
	if err != nil || len(kept) != 1 || filepath.Base(kept[0]) != "asked" {
		t.Errorf("%v, %v", kept, err)
	}
	for name, want := range map[string]bool{
		"dead": false, "asked/aside/1/.mcp.json": true, "asked/tmp": false, "young/tmp/x": true, "one/tmp": true,
	} {
		if _, err := os.Stat(filepath.Join(boxes, name)); (err == nil) != want {
			t.Errorf("%s: there is %v", name, err == nil)
		}
	}
	if code, out := w.in(held, "echo x > /tmp/x"); code != 0 {
		t.Error(out)
	}
	if _, err := box.Open(box.Want{Workspace: w.ws, Home: w.home, State: filepath.Join(boxes, "one"), Env: w.env}); err == nil {
		t.Error("the folder of one box was given to another")
	}
	w.shut(held)
}
