//go:build unix

package headless_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/external/headless"
	"github.com/tidemark/tidemark/internal/test/headlesstest"
)

func TestMain(m *testing.M) {
	headlesstest.Become()
	os.Exit(m.Run())
}

const contract = `{"items":[],"reads":[],"follow":[],"never":[],"assents":false}`

// made is a program that behaves so, and the folder it works in.
func made(t *testing.T, how string) (p *headless.Program, folder, answer string) {
	t.Helper()
	return madeWith(t, how, func(*headless.Options) {})
}

func madeWith(t *testing.T, how string, change func(*headless.Options)) (p *headless.Program, folder, answer string) {
	t.Helper()
	dir := t.TempDir()
	answer, folder = filepath.Join(dir, "answer.json"), filepath.Join(dir, "data")
	if err := os.WriteFile(answer, []byte(contract), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _ := headless.Find("claude")
	o := headless.Options{
		Recipe: r, Path: headlesstest.Program(t, dir, "claude", how, answer), Home: dir, Folder: folder,
		Getenv: func(name string) string {
			return map[string]string{"PATH": os.Getenv("PATH"), "NODE_OPTIONS": "--evil", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}[name]
		},
	}
	p, err := headless.New(o)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := p.Try(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	proof.Faults = nil // what it does in a trial is another test's
	o.Proof = proof
	change(&o)
	if p, err = headless.New(o); err != nil {
		t.Fatal(err)
	}
	return p, folder, answer
}

var prompt = auditor.Prompt{System: "instructions-7", User: "words-7 Mail Petra", Schema: `{"type":"object"}`}

// MAN-12
func TestAnAnswerIsUsedAndNothingIsLeftBehind(t *testing.T) {
	p, folder, answer := made(t, "tell")
	got, err := p.Ask(t.Context(), prompt)
	if err != nil || got.Text != contract || got.In != 7 || got.Out != 3 {
		t.Fatalf("Ask = %+v, %v", got, err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if left, _ := os.ReadDir(folder + ".children"); len(left) > 0 {
		t.Errorf("words of readers that have ended are left behind: %v", left)
	}
	seen, err := os.ReadFile(answer + ".seen")
	if err != nil {
		t.Fatal(err)
	}
	for _, never := range []string{"words-7", "NODE_OPTIONS", "ANTHROPIC_BASE_URL", "TIDEMARK_DATA"} {
		if strings.Contains(string(seen), never) {
			t.Errorf("its arguments and environment hold %s", never)
		}
	}
	if err := p.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
}

// MAN-12
func TestWhatIsNoAnswerIsAnError(t *testing.T) {
	for how, want := range map[string]string{
		"garbage": "it printed none", "flood": "more than 65536 bytes", "away": "nobody is logged in", "dies": "it ended with code -1", "limit": "it ended with code 1",
	} {
		t.Run(how, func(t *testing.T) {
			p, folder, _ := made(t, "good")
			if how != "" {
				p, folder, _ = untried(t, how)
			}
			_, err := p.Ask(t.Context(), prompt)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Ask: %v, want %q", err, want)
			}
			if left, _ := os.ReadDir(folder); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// untried is a program that is trusted without a trial, which it would not stand.
func untried(t *testing.T, how string) (p *headless.Program, folder, answer string) {
	t.Helper()
	good, folder, answer := made(t, "good")
	_ = good
	path := filepath.Join(filepath.Dir(answer), "claude")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	headlesstest.Program(t, filepath.Dir(answer), "claude", how, answer)
	if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	now, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := headless.Find("claude")
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	proof := &headless.Proof{Program: "claude", Revision: r.Revision, Path: path, File: real, Size: now.Size(), Changed: now.ModTime().UTC()}
	p, err = headless.New(headless.Options{
		Recipe: r, Path: path, Home: t.TempDir(), Folder: folder, Proof: proof,
		Getenv: func(name string) string { return map[string]string{"PATH": os.Getenv("PATH")}[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, folder, answer
}

// MAN-12: whoever waits no longer ends the program, and everything that it started.
func TestALateProgramEndsWithItsWholeGroup(t *testing.T) {
	p, folder, answer := untried(t, "child")
	if err := os.Remove(answer); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := p.Ask(ctx, prompt)
		done <- err
	}()
	pid := 0
	for pid == 0 { // until the child is there
		text, _ := os.ReadFile(answer)
		pid, _ = strconv.Atoi(string(text))
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Ask: %v, want its caller's end", err)
	}
	for syscall.Kill(pid, 0) == nil && !zombie(pid) {
		time.Sleep(time.Millisecond) // the test's own time limit ends this
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// zombie reports whether a process has ended and nobody has looked yet.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// MAN-12: twenty at once do not know of one another.
func TestTwentyAtOnce(t *testing.T) {
	p, folder, _ := made(t, "good")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got, err := p.Ask(t.Context(), prompt); err != nil || got.Text != contract {
				t.Errorf("Ask = %+v, %v", got, err)
			}
		})
	}
	wg.Wait()
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// MAN-12: whatever a program sends, does or leaves besides is found before anybody is asked to agree to it.
func TestATrialFindsWhatIsMoreThanAnAnswer(t *testing.T) {
	for how, want := range map[string]string{
		"good":    "",
		"tools":   `it sends the tool "exec"`,
		"memory":  "it sends files of the home",
		"deaf":    "it does not send our instructions",
		"hooks":   "it ran a hook or a server",
		"keep":    "it leaves the words behind, in a file history.txt",
		"twice":   "it asked the model 2 times",
		"garbage": "it gave no answer",
		"away":    "it gave no answer: Claude Code: nobody is logged in",
	} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			r, _ := headless.Find("claude")
			p, err := headless.New(headless.Options{
				Recipe: r, Path: headlesstest.Program(t, dir, "claude", how, ""), Home: dir, Folder: filepath.Join(dir, "data"), Getenv: os.Getenv,
			})
			if err != nil {
				t.Fatal(err)
			}
			proof, err := p.Try(t.Context(), nil)
			switch {
			case err != nil:
				t.Fatal(err)
			case want == "" && (!proof.Good() || proof.Version != "9.9.9"):
				t.Errorf("got %+v, want it good", proof)
			case want != "" && !strings.Contains(strings.Join(proof.Faults, "\n"), want):
				t.Errorf("got %q, want %q", proof.Faults, want)
			}
			if _, err := p.Ask(t.Context(), prompt); err == nil {
				t.Error("it answers though nobody has agreed to what was tried")
			}
		})
	}
}

// MAN-12: a hook of ours that fires in it would have it ask for itself.
func TestATrialHearsOfHooks(t *testing.T) {
	dir := t.TempDir()
	r, _ := headless.Find("claude")
	p, err := headless.New(headless.Options{
		Recipe: r, Path: headlesstest.Program(t, dir, "claude", "good", ""), Home: dir, Folder: filepath.Join(dir, "data"), Getenv: os.Getenv,
	})
	if err != nil {
		t.Fatal(err)
	}
	asked := ""
	proof, err := p.Try(t.Context(), func(_ context.Context, text string) (bool, error) { asked = text; return true, nil })
	if err != nil || proof.Good() || !strings.Contains(proof.Faults[0], "a hook of ours fired") || !strings.HasPrefix(asked, "words-") {
		t.Errorf("got %+v, %v, asked about %q", proof, err, asked)
	}
	if _, err := p.Try(t.Context(), func(context.Context, string) (bool, error) { return false, errors.New("no log") }); err == nil {
		t.Error("a log that cannot be read proves nothing")
	}
}

// MAN-12: another version is another program.
func TestAProgramThatChangedIsNotAsked(t *testing.T) {
	p, _, answer := made(t, "good")
	headlesstest.Program(t, filepath.Dir(answer), "claude", "tools", answer)
	if _, err := p.Ask(t.Context(), prompt); err == nil || !strings.Contains(err.Error(), "not tried") {
		t.Errorf("Ask: %v, want it refused", err)
	}
	if err := p.Check(t.Context()); err == nil {
		t.Error("Check finds nothing")
	}
}

func TestProofsAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "programs.json")
	if got, err := headless.ReadProofs(path); err != nil || len(got) > 0 {
		t.Errorf("got %v, %v", got, err)
	}
	for _, name := range []string{"codex", "claude"} {
		if err := headless.WriteProof(path, &headless.Proof{Program: name, Version: "1"}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := headless.ReadProofs(path)
	if err != nil || len(got) != 2 || !got["codex"].Good() {
		t.Errorf("got %v, %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
}

func TestTheRecipesCanBeRead(t *testing.T) {
	for _, name := range headless.Names() {
		r, ok := headless.Find(name)
		if !ok || r.Title == "" || r.Provider == "" || r.Binary == "" || r.Model == "" || len(r.Argv) == 0 || len(r.Trial.Home) == 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, ok := headless.Find("sh"); ok {
		t.Error("there is no such recipe")
	}
}
