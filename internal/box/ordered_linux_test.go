package box_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/ordered"
)

// orders are the calls of a file tool that a monitor let.
type orders struct {
	mu   sync.Mutex
	list []ordered.Order
	err  error
}

func (o *orders) let(order ordered.Order) {
	o.mu.Lock()
	defer o.mu.Unlock()
	order.Number = uint64(len(o.list) + 1)
	o.list = append(o.list, order)
}

func (o *orders) all(context.Context) ([]ordered.Order, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]ordered.Order(nil), o.list...), o.err
}

// openOrdered makes a box whose monitor knows what was ordered.
func (w *world) openOrdered() (*box.Box, *orders) {
	w.t.Helper()
	if reduced() {
		w.t.Skip("boxes of sessions are whole")
	}
	o := &orders{}
	return w.open(func(want *box.Want) { want.Ordered = o.all }), o
}

// writes is what an agent's file tool does outside.
func (w *world) writes(o *orders, path, text string) {
	w.t.Helper()
	o.let(ordered.Order{Path: path, Whole: true, Text: text})
	w.put(filepath.Join(w.ws, path), text)
}

// replaces is what one does that writes beside and renames.
func (w *world) replaces(path, text string) {
	w.t.Helper()
	fresh := filepath.Join(w.dir, "fresh")
	w.put(fresh, text)
	if err := os.Rename(fresh, filepath.Join(w.ws, path)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) text(path string) string {
	raw, err := os.ReadFile(filepath.Join(w.ws, path))
	if err != nil {
		return "none"
	}
	return string(raw)
}

// settles waits until a file holds a text, and looks that it goes on to.
func (w *world) settles(path, text string) {
	w.t.Helper()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if w.text(path) == text {
			time.Sleep(150 * time.Millisecond)
			if w.text(path) == text {
				return
			}
		}
		if time.Now().After(until) {
			w.t.Fatalf("%s holds %q, not %q", path, w.text(path), text)
		}
	}
}

// What the owner ordered stays where the agent's file tool put it: new files and folders, ones that were there and are replaced, in one
// piece or in two; commands see it, and nobody is asked about it.
func TestWhatWasOrderedStaysInItsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, o := w.openOrdered()
	w.writes(o, ".gitlab-ci.yml", "one\n")
	w.settles(".gitlab-ci.yml", "one\n")
	w.writes(o, ".circleci/deep/config.yml", "jobs\n")
	w.settles(".circleci/deep/config.yml", "jobs\n")
	o.let(ordered.Order{Path: "CLAUDE.md", Edits: []ordered.Edit{{Old: "rules", New: "my rules"}}})
	w.replaces("CLAUDE.md", "# my rules\n")
	w.settles("CLAUDE.md", "# my rules\n")
	o.let(ordered.Order{Path: "CLAUDE.md", Edits: []ordered.Edit{{Old: "my", New: "our"}}})
	w.replaces("CLAUDE.md", "# our rules\n")
	w.settles("CLAUDE.md", "# our rules\n")
	w.writes(o, ".gitlab-ci.yml", "two\n") // opens the file that stands there
	w.settles(".gitlab-ci.yml", "two\n")
	o.let(ordered.Order{Path: ".mcp.json", Whole: true, Text: "{}\n"})
	slow, err := os.Create(filepath.Join(w.ws, ".mcp.json"))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if _, err := slow.WriteString("{}\n"); err != nil || slow.Close() != nil {
		t.Fatal(err)
	}
	w.settles(".mcp.json", "{}\n")
	if code, out := w.in(b, `cat .gitlab-ci.yml .circleci/deep/config.yml CLAUDE.md .mcp.json`); code != 0 || out != "two\njobs\n# our rules\n{}\n" {
		t.Errorf("%d %q", code, out)
	}
	if list := b.Aside(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	w.writes(o, "deep/er/.envrc", "A=1\n") // nobody watches there: it is found at the end
	if r := w.shut(b); len(r.Aside) != 0 || r.Dropped != 0 || r.LeftIn != "" {
		t.Errorf("%+v", r)
	}
	for path, text := range map[string]string{
		".gitlab-ci.yml": "two\n", ".circleci/deep/config.yml": "jobs\n", "CLAUDE.md": "# our rules\n", ".mcp.json": "{}\n", "deep/er/.envrc": "A=1\n",
	} {
		if w.text(path) != text {
			t.Errorf("%s holds %q", path, w.text(path))
		}
	}
}

// A command that has read all of this writes to the same place: before, at the same moment, and afterwards.
func TestNothingElseStandsWhereSomethingWasOrdered(t *testing.T) {
	t.Parallel()
	const wait = `while ! [ -e P ]; do :; done; `
	for name, line := range map[string]string{
		"writes":             `echo evil > P`,
		"appends":            `echo evil >> P`,
		"truncates":          `: > P; sleep 1; echo evil > P`,
		"replaces":           `echo evil > q; mv q P`,
		"races":              `while ! [ -e P ]; do sleep 0.01; done; for i in $(seq 200); do echo evil > P; sleep 0.005; done`,
		"opens first":        wait + `exec 3<>P; sleep 1; echo evil >&3`,
		"opens all of them":  `for i in $(seq 9); do while ! [ -e P ]; do :; done; eval "exec 1$i<>P"; sleep 0.1; done; sleep 1; for i in $(seq 9); do echo evil >&1$i; done`,
		"opens a number":     wait + `exec 3<P; sleep 1; echo evil > /proc/self/fd/3`,
		"opens it later":     `exec 3<P; sleep 0.5; echo evil > /proc/self/fd/3`,
		"second name":        wait + `ln P q; sleep 1; echo evil > q; sleep 1; mv q P`,
		"second name later":  `ln P q; sleep 0.5; echo evil > q`,
		"away and back":      `mv P q; exec 3<>q; mv q P; sleep 1; echo evil >&3`,
		"away, then back":    `mv P q; echo evil >> q; mv q P`,
		"folder away":        `mv .circleci c; mkdir .circleci; echo evil > .circleci/config.yml`,
		"folder is a link":   `mv .circleci c; mkdir d; echo evil > d/config.yml; ln -s d .circleci`,
		"from within":        `cd .circleci; sleep 0.5; for i in 1 2 3; do echo evil > config.yml; sleep 0.2; done`,
		"beside":             `echo evil > .circleci/other.yml; sleep 0.5; echo evil > .circleci/other.yml`,
		"may be run":         `chmod 777 P`,
		"memory":             `python3 -c 'import mmap,os,time; f=os.open("P",os.O_RDWR); m=mmap.mmap(f,0); os.close(f); time.sleep(1); m[:4]=b"evil"; time.sleep(2)'`,
		"memory, first":      wait + `python3 -c 'import mmap,os,time; f=os.open("P",os.O_RDWR); m=mmap.mmap(f,0); os.close(f); time.sleep(1); m[:4]=b"evil"; time.sleep(2)'`,
		"removes and writes": `rm P; sleep 0.5; echo evil > P`,
		"an older one":       `printf 'old old\n' > P`,
		"another's":          `printf 'notes\n' > P`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(line, "python3") && !has("python3") {
				t.Skip("needs python3")
			}
			w := newWorld(t)
			b, o := w.openOrdered()
			const path = ".circleci/config.yml"
			done := make(chan struct{})
			attack := func() {
				defer close(done)
				_, _, _ = start(t, b, w.ws, "bash", "-c", strings.ReplaceAll(line, "P", path))
			}
			early := strings.Contains(line, "do :;") || name == "races" // before it is written: then it may destroy what was ordered, and nothing else
			if early {
				go attack()
			}
			o.let(ordered.Order{Path: "notes.txt", Whole: true, Text: "notes\n"})
			o.let(ordered.Order{Path: path, Whole: true, Text: "old old\n"})
			for _, text := range []string{"old old\n", "good good\n"} {
				o.let(ordered.Order{Path: path, Whole: true, Text: text})
				for range 20 { // a command may be in the way
					_ = os.Mkdir(filepath.Join(w.ws, ".circleci"), 0o755)
					if os.WriteFile(filepath.Join(w.ws, path), []byte(text), 0o644) == nil {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				time.Sleep(200 * time.Millisecond)
			}
			fine := []string{"good good\n", "none"}
			if early {
				fine = append(fine, "old old\n")
			} else {
				w.settles(path, "good good\n")
				go attack()
			}
			harm := time.Duration(0)
			for last := time.Now(); ; time.Sleep(time.Millisecond) {
				if now := w.text(path); strings.Contains(now, "evil") || time.Since(last) > time.Second && now == "notes\n" {
					harm += time.Since(last)
				}
				last = time.Now()
				select {
				case <-done:
				default:
					continue
				}
				break
			}
			w.holdsOne(path, fine, 5*time.Second)
			if harm > 2*time.Second { // what comes has always been there for milliseconds, on a machine with much to do for more
				t.Errorf("evil stood there for %v", harm)
			}
			r := w.shut(b)
			w.holdsOne(path, fine, 0)
			if list, _ := filepath.Glob(filepath.Join(w.ws, ".circleci", "*")); len(list) > 1 {
				t.Errorf("%v", list)
			}
			if info, err := os.Lstat(filepath.Join(w.ws, path)); err == nil && info.Mode() != 0o644 {
				t.Errorf("%v", info.Mode())
			}
			t.Logf("harm %v, aside %d, dropped %d, left %q", harm, len(r.Aside), r.Dropped, w.text(path))
		})
	}
}

// holdsOne says what a place holds that is none of what it may.
func (w *world) holdsOne(path string, fine []string, within time.Duration) {
	w.t.Helper()
	text := w.text(path)
	for until := time.Now().Add(within); !slices.Contains(fine, text) && time.Now().Before(until); text = w.text(path) {
		time.Sleep(10 * time.Millisecond)
	}
	if !slices.Contains(fine, text) {
		w.t.Errorf("%s holds %q", path, text)
	}
}

// What was ordered for one name stands under no other, and where the monitor does not answer everything is put aside as ever.
func TestAnOrderIsForOneNameAndComesFromTheMonitor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, o := w.openOrdered()
	if code, out := w.in(b, `mkdir d; ln -s d docs`); code != 0 {
		t.Fatal(out)
	}
	o.let(ordered.Order{Path: "docs/ci.yml", Whole: true, Text: "text\n"})
	o.let(ordered.Order{Path: "GEMINI.md", Whole: true, Text: "text\n"})
	w.put(filepath.Join(w.ws, ".gitlab-ci.yml"), "text\n")
	w.put(filepath.Join(w.ws, "AGENTS.md"), "text\n")
	w.settles(".gitlab-ci.yml", "none")
	w.settles("AGENTS.md", "none")
	o.mu.Lock()
	o.err = errors.New("nobody is there")
	o.mu.Unlock()
	w.put(filepath.Join(w.ws, "GEMINI.md"), "text\n")
	w.settles("GEMINI.md", "none")
	if list := b.Aside(); len(list) != 3 {
		t.Errorf("%+v", list)
	}
	if r := w.shut(b); len(r.Aside) != 3 {
		t.Errorf("%+v", r)
	}
}
