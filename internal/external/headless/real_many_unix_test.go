//go:build unix

package headless_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/external/headless"
)

// realProgram is a real program that was tried and reaches a scripted provider, and the folder that its runs have theirs in.
func realProgram(t *testing.T, name string) (p *headless.Program, up *provider, folder string) {
	t.Helper()
	programs := os.Getenv(programsFolder)
	if programs == "" {
		t.Skip(programsFolder + " names no folder with claude, codex and gemini")
	}
	r, _ := headless.Find(name)
	real, err := filepath.EvalSymlinks(filepath.Join(programs, r.Binary))
	if err != nil {
		t.Skipf("%s is not in %s", r.Binary, programs)
	}
	home, up := t.TempDir(), newProvider(t)
	o := headless.Options{Recipe: r, Path: up.loggedIn(t, r, real, home), Home: home, Folder: t.TempDir(), Getenv: func(name string) string {
		return map[string]string{"PATH": os.Getenv("PATH"), "GEMINI_API_KEY": "none"}[name]
	}}
	tried, err := headless.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if o.Proof, err = tried.Try(t.Context(), nil); err != nil || !o.Proof.Good() {
		t.Fatalf("trial: %+v, %v", o.Proof, err)
	}
	if p, err = headless.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, up, o.Folder
}

// MAN-12: twenty messages at once to the real programs, within the bounds that a server has by itself. Each is read, or whoever wants
// to know is told that it was not; nothing runs on and nothing is left. How many were read is this machine's, and is told, not judged.
func TestTheRealProgramsReadManyMessages(t *testing.T) {
	for _, name := range headless.Names() {
		t.Run(name, func(t *testing.T) {
			p, up, folder := realProgram(t, name)
			c, err := auditor.New(auditor.Options{
				Provider: auditor.Program, Program: p, Model: p.Model(), MaxConcurrent: 2, PlanTimeout: 30 * time.Second, Contracts: true,
				ContractWait: time.Hour, // to its end: what a call waits is another matter
			})
			if err != nil {
				t.Fatal(err)
			}
			began, before := time.Now(), load()
			var read, told atomic.Int32
			var wg sync.WaitGroup
			for i := range 20 {
				q := intent.Request{Words: []intent.Word{{Turn: 1, Text: fmt.Sprintf("mail Petra %d", i)}}}
				c.Prepare(fmt.Sprint(i), q)
				wg.Go(func() {
					if _, _, err := c.Contract(t.Context(), fmt.Sprint(i), q, true); err == nil {
						read.Add(1)
					} else {
						told.Add(1)
						t.Logf("not read: %v", err)
					}
				})
			}
			wg.Wait()
			t.Logf("%s: %d read, %d told that they were not, in %s; load %s, then %s",
				name, read.Load(), told.Load(), time.Since(began).Round(time.Second), before, load())
			if read.Load() == 0 || read.Load()+told.Load() != 20 || up.asked.Load() > 20 {
				t.Errorf("%d read, %d told, %d requests", read.Load(), told.Load(), up.asked.Load())
			}
			c.Close()
			if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) > 0 {
				t.Errorf("left behind %v", left)
			}
			if who := running(folder); who != "" {
				t.Errorf("still running: %s", who)
			}
		})
	}
}

// load is how busy the machine is, where it says so.
func load() string {
	raw, _ := os.ReadFile("/proc/loadavg") // elsewhere it is not known
	now, _, _ := strings.Cut(string(raw), " ")
	return now
}
