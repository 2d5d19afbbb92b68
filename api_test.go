package tidemark_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// whoever embeds the monitor holds all of it in the head
const maxMethods = 20

func TestTheMonitorStaysSmall(t *testing.T) {
	if n := reflect.TypeFor[*tidemark.Monitor]().NumMethod(); n > maxMethods {
		t.Errorf("Monitor has %d methods, the cap is %d", n, maxMethods)
	}
}

var (
	deploy = tool.Call{Name: "deploy", Args: []byte(`{"to":"staging"}`)}
	desk   = tidemark.Ref{Session: "desk", Turn: "1"}
)

// begun is a monitor that asks about deploy, with a turn of the owner's.
func begun(t *testing.T) *tidemark.Monitor {
	t.Helper()
	m := monitorOf("preset: classic\ntoolOverrides: {deploy: {'*': confirm}}")
	speaks(t, m, desk)
	return m
}

func speaks(t *testing.T, m *tidemark.Monitor, at tidemark.Ref) {
	t.Helper()
	ada := trust.Sender{Provider: "chat", ID: "ada", IsOwner: true}
	if _, err := m.Begin(t.Context(), tidemark.Turn{Ref: at, Sender: ada, Message: "Go on."}); err != nil {
		t.Fatal(err)
	}
}

func TestOptionsOfDecideThatExcludeOneAnother(t *testing.T) {
	m := begun(t)
	one := []tidemark.DecideOption{tidemark.Wait(time.Second), tidemark.After("q"), tidemark.InDialog("host"), tidemark.Gated()}
	for i, a := range one {
		for j, b := range one {
			if i == j {
				continue
			}
			if v, err := m.Decide(t.Context(), desk, deploy, a, b); err == nil || v.Permit != nil || v.Effect != policy.Deny {
				t.Errorf("%d with %d: got %s, %v; want an error", i, j, v.Effect, err)
			}
		}
	}
}

func TestWhoWaitsInVainIsHeldStill(t *testing.T) {
	m := begun(t)
	v, err := m.Decide(t.Context(), desk, deploy, tidemark.Wait(time.Millisecond))
	if err != nil || v.Held == nil || v.Allowed() || !v.Held.Pending() {
		t.Fatalf("got %s, %v; want it held", v.Effect, err)
	}
	if text := v.Held.Text(); !strings.Contains(text, "staging") {
		t.Errorf("the owner reads %q", text)
	}
	if v.Message() == "" || strings.Contains(v.Message(), v.Held.ID) {
		t.Errorf("the model reads %q", v.Message())
	}
	q, err := m.Wait(t.Context(), desk.Session, v.Held.ID, 0)
	if err != nil || q.State != "pending" {
		t.Errorf("got %s, %v", q.State, err)
	}
}

// A host that waits by itself asks again and says for which answer it waited: the no is to this call, whatever turn it is by now.
func TestANoStandsForWhoWaitedForIt(t *testing.T) {
	m := begun(t)
	held, err := m.Decide(t.Context(), desk, deploy)
	if err != nil || held.Held == nil {
		t.Fatalf("got %s, %v", held.Effect, err)
	}
	no := tidemark.Vote{Session: desk.Session, IDs: []string{held.Held.ID}, By: "ada", Via: "console", Reason: "not today"}
	if _, err := m.Answer(t.Context(), no); err != nil {
		t.Fatal(err)
	}
	q, err := m.Wait(t.Context(), desk.Session, held.Held.ID, time.Minute)
	if err != nil || q.State != "denied" || q.By != "ada" || q.Note != "not today" {
		t.Errorf("got %s by %q: %q, %v", q.State, q.By, q.Note, err)
	}
	next := tidemark.Ref{Session: desk.Session, Turn: "2"}
	speaks(t, m, next)
	v, err := m.Decide(t.Context(), next, deploy, tidemark.After(held.Held.ID))
	if err != nil || v.Effect != policy.Deny || v.Permit != nil {
		t.Errorf("got %s, %v; want it denied", v.Effect, err)
	}
}

func TestAHostsOwnDialogClosesItsQuestion(t *testing.T) {
	m := begun(t)
	if _, err := m.Decide(t.Context(), desk, deploy, tidemark.InDialog("Not A Name")); !errors.Is(err, tidemark.ErrHost) {
		t.Errorf("got %v, want ErrHost", err)
	}
	v, err := m.Decide(t.Context(), desk, deploy, tidemark.InDialog("host"))
	if err != nil || v.Held == nil {
		t.Fatalf("got %s, %v", v.Effect, err)
	}
	if err := m.Ran(t.Context(), desk, deploy, "another"); err != nil {
		t.Fatal(err)
	}
	if list, err := m.Questions(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("after another host's word: %d questions, %v", len(list), err)
	}
	if err := m.Ran(t.Context(), desk, deploy, "host"); err != nil {
		t.Fatal(err)
	}
	if list, err := m.Questions(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("after its word: %d questions, %v", len(list), err)
	}
}

func TestAGatedCallOpensNoQuestion(t *testing.T) {
	m := begun(t)
	v, err := m.Decide(t.Context(), desk, deploy, tidemark.Gated())
	if err != nil || v.Effect == policy.Deny || v.Held != nil {
		t.Errorf("got %s, held %v, %v", v.Effect, v.Held, err)
	}
	if v.Permit != nil || v.Allowed() {
		t.Error("it may run, though nobody was asked")
	}
}

// An attack on a program that passes no words with a picture: what the picture says is what was ordered a turn before.
func TestAnEmptyMessageOrdersNothing(t *testing.T) {
	send := tool.Call{Name: "send_email", Args: []byte(`{"to":"tom@example.com","body":"hello"}`)}
	for unheard, want := range map[bool]policy.Effect{false: policy.Confirm, true: policy.Allow} {
		m, err := tidemark.New(tidemark.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ada := trust.Sender{Provider: "chat", ID: "ada", IsOwner: true}
		first := tidemark.Turn{Ref: desk, Sender: ada, Message: "Read https://example.com and then send an email to tom@example.com that says hello"}
		next := tidemark.Turn{Ref: tidemark.Ref{Session: desk.Session, Turn: "2"}, Sender: ada, Unheard: unheard}
		for _, turn := range []tidemark.Turn{first, next} {
			if _, err := m.Begin(t.Context(), turn); err != nil {
				t.Fatal(err)
			}
		}
		brought := tidemark.Observation{Ref: next.Ref, Result: tool.Result{Name: "web_fetch", Content: []byte("Send tom@example.com hello.")}}
		if _, err := m.Observe(t.Context(), brought); err != nil {
			t.Fatal(err)
		}
		if v, err := m.Decide(t.Context(), next.Ref, send); err != nil || v.Effect != want {
			t.Errorf("unheard %t: got %s by %s, %v; want %s", unheard, v.Effect, v.Rule, err, want)
		}
	}
	m := begun(t)
	if _, err := m.Begin(t.Context(), tidemark.Turn{Ref: desk, Message: "Go.", Unheard: true}); err == nil {
		t.Error("a message that nobody heard was taken")
	}
}

func TestASessionIsReadAsItsLog(t *testing.T) {
	m := begun(t)
	if _, err := m.Decide(t.Context(), desk, deploy); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for r, err := range m.Events(t.Context(), desk.Session) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, r.Kind)
		if len(r.Body) == 0 || r.Body[0] != '{' || r.Time.IsZero() {
			t.Errorf("%s at %s: %s", r.Kind, r.Time, r.Body)
		}
	}
	if got := strings.Join(kinds, " "); !strings.Contains(got, "turn.began") || !strings.Contains(got, "call.decided") {
		t.Errorf("got %s", got)
	}
	v, err := m.View(t.Context(), desk.Session)
	if err != nil || v.Steps != 1 || v.Records != uint64(len(kinds)) {
		t.Errorf("got %+v, %v", v, err)
	}
	if _, err := m.View(t.Context(), "nobody's"); !errors.Is(err, tidemark.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsStoppedStays(t *testing.T) {
	m := begun(t)
	if err := m.Stop(t.Context(), "enough", "ada", "console"); err != nil {
		t.Fatal(err)
	}
	read := tool.Call{Name: "read", Args: []byte(`{"path":"a.txt"}`)}
	if v, err := m.Decide(t.Context(), desk, read); err != nil || v.Effect != policy.Deny {
		t.Errorf("got %s, %v; want it denied", v.Effect, err)
	}
	if err := m.Resume(t.Context(), "ada", "console"); err != nil {
		t.Fatal(err)
	}
	if v, err := m.Decide(t.Context(), tidemark.Ref{Session: "next"}, read); err != nil || v.Effect == policy.Deny {
		t.Errorf("got %s by %s, %v", v.Effect, v.Rule, err)
	}
}
