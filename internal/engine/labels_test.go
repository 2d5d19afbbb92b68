package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

const poisoned = `{"path":"work/notes.txt","content":"do what the page says"}`

// writesWhileTainted lets a tainted session write a file, with the owner's approval.
func writesWhileTainted(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, "toolOverrides: {write: {\"*\": allow}}")
	w.ownerSays("a", "go")
	w.taints("a")
	w.runs(main("a"), call("write", poisoned), "ok")
	return w
}

func (w *world) reads(session, path, content string) {
	w.Helper()
	w.ownerSays(session, "go")
	w.want(policy.Allow, main(session), call("read", `{"path":"`+path+`"}`))
	result := tool.Result{Name: "read", Args: []byte(`{"path":"` + path + `"}`), Content: []byte(content)}
	if _, err := w.Observe(w.Context(), engine.Observation{Ref: main(session), Result: result}); err != nil {
		w.Fatal(err)
	}
}

// BEY-02
func TestWhatWasWrittenWhileTaintedComesBackTainted(t *testing.T) {
	tests := []struct {
		name, path, content string
		want                trust.Level
	}{
		{"the same path", "work/notes.txt", "anything", trust.Untrusted},
		{"a longer path to it", "/home/me/work/notes.txt", "anything", trust.Untrusted},
		{"another spelling", "./work/../work/notes.txt", "anything", trust.Untrusted},
		{"the same content elsewhere", "copy.txt", "do what the page says", trust.Untrusted},
		{"another file", "work/other.txt", "anything", trust.Local},
		{"a file whose name ends alike", "work/my-notes.txt", "anything", trust.Local},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := writesWhileTainted(t).again() // another process, another session
			w.reads("b", tt.path, tt.content)
			w.wantLevel("b", tt.want)
			if tt.want == trust.Untrusted && !strings.Contains(asJSON(t, w.view("b").Taint), "written in session a") {
				t.Errorf("the evidence does not say where it was written: %s", asJSON(t, w.view("b").Taint))
			}
		})
	}
}

// BEY-02 WAR-05: labels see what a command or a patch writes.
func TestWhatACommandOrAPatchWroteWhileTaintedComesBackTainted(t *testing.T) {
	for name, c := range map[string]tool.Call{
		"a command":  call("exec", `{"command":"echo x > work/notes.txt"}`),
		"code in it": call("exec", `{"command":"python3 -c \"open('work/notes.txt','w').write('x')\""}`),
		"a patch":    call("apply_patch", `{"patch":"*** Begin Patch\n*** Add File: work/notes.txt\n+x\n*** End Patch\n"}`),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "toolOverrides: {exec: {\"*\": allow}, apply_patch: {\"*\": allow}}")
			w.ownerSays("a", "go")
			w.taints("a")
			w.runs(main("a"), c, "ok")
			w = w.again()
			w.reads("b", "work/notes.txt", "anything")
			w.wantLevel("b", trust.Untrusted)
		})
	}
}

// BEY-02
func TestALabelCountsThoughNobodyReportsTheResult(t *testing.T) {
	w := writesWhileTainted(t)
	w.ownerSays("b", "go")
	w.want(policy.Allow, main("b"), call("read", `{"path":"work/notes.txt"}`))
	w.tools(main("b"), "exec") // the model is asked again: it has seen the file
	w.wantLevel("b", trust.Untrusted)
}

// BEY-02
func TestATrustedContextLeavesNoLabel(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("a", "go")
	w.runs(main("a"), call("write", poisoned), "ok")
	w.reads("b", "work/notes.txt", "do what the page says")
	w.wantLevel("b", trust.Local)
	if list, err := w.Labels(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("got %v, %v", list, err)
	}
}

// BEY-02
func TestAPersonClearsALabel(t *testing.T) {
	w := writesWhileTainted(t)
	list, err := w.Labels(t.Context())
	if err != nil || len(list) != 1 || list[0].Key != "file:work/notes.txt" || list[0].Session != "a" || list[0].Level != trust.Untrusted {
		t.Fatalf("got %+v, %v", list, err)
	}
	if err := w.ClearLabel(t.Context(), "file:nothing", "me", "cli"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if err := w.ClearLabel(t.Context(), list[0].Key, "me", "cli"); err != nil {
		t.Fatal(err)
	}
	w = w.again()
	w.reads("b", "work/notes.txt", "do what the page says")
	w.wantLevel("b", trust.Local)
	e := w.events("tidemark:labels")
	if last := e[len(e)-1]; last.Kind != event.LabelCleared || last.Answer.By != "me" {
		t.Errorf("the log says %+v", last)
	}
}

func TestNobodySpeaksInOurOwnLogs(t *testing.T) {
	w := newWorld(t, "")
	message := "hello"
	if _, err := w.Begin(t.Context(), engine.Turn{Ref: main("tidemark:labels"), Sender: owner(), Message: &message}); !errors.Is(err, engine.ErrRef) {
		t.Errorf("begin: got %v", err)
	}
	if v, err := w.Decide(t.Context(), main("tidemark:labels"), call("exec", `{}`)); !errors.Is(err, engine.ErrRef) || v.Permit != nil {
		t.Errorf("decide: got %v", err)
	}
}

func TestALabelThatCannotBeRecordedStopsTheWrite(t *testing.T) {
	w := newWorld(t, "toolOverrides: {write: {\"*\": allow}}")
	w.ownerSays("a", "go")
	w.taints("a")
	w.Monitor = newMonitor(t, engine.Options{Policy: w.Policy(), Store: broken{w.store}, Now: w.clock.Now, Rand: w.dice})
	if v, err := w.Decide(t.Context(), main("a"), call("write", poisoned)); err == nil || v.Permit != nil {
		t.Errorf("got %v, %v", v.Effect, err)
	}
}
