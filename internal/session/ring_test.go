package session_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/trust"
)

func exportAll(reflect.Type) bool { return true }

func identified(id string, e event.Event) event.Event {
	if e.Decided != nil {
		e.Decided.CallID = id
	} else {
		e.Seen.CallID = id
	}
	return e
}

func TestAResultFindsItsCall(t *testing.T) {
	taint := foldAll(began(trust.Owner, true),
		identified("a", allowedCall("read", 1, trust.Local)),
		identified("b", allowedCall("read", 2, trust.Local)),
		allowedCall("exec", 3, trust.External),
		allowedCall("exec", 4, trust.External))
	tests := []struct {
		name, id, tool string
		step           uint64 // 0: none
	}{
		{"by its id", "b", "read", 2},
		{"by its id where the tool is not named", "a", "", 1},
		{"not by the id of another tool's call", "a", "exec", 0},
		{"not by an id nobody knows", "z", "read", 0},
		{"by its tool, the oldest first", "", "exec", 3},
		{"not by a tool nobody called", "", "message", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if call, ok := taint.Call(tt.id, tt.tool); call.Step != tt.step || ok != (tt.step != 0) {
				t.Errorf("got step %d, %v; want %d", call.Step, ok, tt.step)
			}
		})
	}
	first := resultOf("exec", trust.External)
	taint.Apply(&first)
	if call, _ := taint.Call("", "exec"); call.Step != 4 {
		t.Errorf("after the first result: got step %d, want the second call, step 4", call.Step)
	}
	b := identified("b", resultOf("read", trust.Local))
	taint.Apply(&b)
	if call, ok := taint.Call("b", "read"); !ok || !call.Seen {
		t.Errorf("after the result of b: got %+v, %v; want it known as seen", call, ok)
	}
}

func TestCallsInFlightAreBounded(t *testing.T) {
	taint := foldAll(began(trust.Owner, true))
	const many = 100
	for i := range uint64(many) {
		e := identified(fmt.Sprint(i+1), allowedCall("web_fetch", i+1, trust.Untrusted))
		taint.Apply(&e)
	}
	known := 0
	for i := range many {
		if _, ok := taint.Call(fmt.Sprint(i+1), "web_fetch"); ok {
			known++
		}
	}
	if known == 0 || known > 32 {
		t.Errorf("got %d calls remembered, want some, at most 32", known)
	}
	if call, ok := taint.Call(fmt.Sprint(many), "web_fetch"); !ok || call.Step != many {
		t.Errorf("the latest call: got %+v, %v; want it remembered", call, ok)
	}
	if _, ok := taint.Call("1", "web_fetch"); ok {
		t.Error("the earliest call is still remembered")
	}
	next := modelCalled(1)
	taint.Apply(&next)
	if taint.Mark.Level != trust.Untrusted || len(taint.Mark.Sources) > trust.MaxSources {
		t.Errorf("got %s with %d sources; calls that are forgotten count all the same", taint.Mark.Level, len(taint.Mark.Sources))
	}
}

func TestASealedTurnLeavesNoCallsBehind(t *testing.T) {
	taint := foldAll(began(trust.Owner, true), identified("a", allowedCall("read", 1, trust.Local)), sealedTurn())
	if call, ok := taint.Call("a", "read"); ok {
		t.Errorf("got %+v, want nothing: the turn is over", call)
	}
}
