package engine_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

func permit(t *testing.T, c tool.Call) *engine.Permit {
	t.Helper()
	w := newWorld(t, "")
	w.ownerSays("s", "go")
	v, err := w.Decide(t.Context(), main("s"), c)
	if err != nil || !v.Allowed() {
		t.Fatalf("got %+v, %v; want the call allowed", v, err)
	}
	return v.Permit
}

func TestAPermitCoversOneExactCall(t *testing.T) {
	c := tool.Call{Name: "exec", Args: []byte(`{"command":"ls"}`)}
	var none *engine.Permit
	tests := []struct {
		name   string
		permit *engine.Permit
		call   tool.Call
		ok     bool
	}{
		{"the call that was decided", permit(t, c), c, true},
		{"the same call as another host spells it", permit(t, c), tool.Call{ID: "7", Name: "Exec", Args: c.Args}, true},
		{"no permit", none, c, false},
		{"a permit nobody issued", &engine.Permit{}, c, false},
		{"a permit nobody issued, for nothing", &engine.Permit{}, tool.Call{}, false},
		{"other arguments", permit(t, c), tool.Call{Name: "exec", Args: []byte(`{"command":"rm"}`)}, false},
		{"the same JSON in other bytes", permit(t, c), tool.Call{Name: "exec", Args: []byte(`{"command": "ls"}`)}, false},
		{"no arguments", permit(t, c), tool.Call{Name: "exec"}, false},
		{"another tool", permit(t, c), tool.Call{Name: "process", Args: c.Args}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.permit.Redeem(tt.call)
			if tt.ok != (err == nil) || !tt.ok && !errors.Is(err, engine.ErrPermit) {
				t.Errorf("got %v, want accepted %v", err, tt.ok)
			}
		})
	}
}

func TestAPermitWorksOnce(t *testing.T) {
	c := call("exec", `{"command":"ls"}`)
	p := permit(t, c)
	if err := p.Redeem(call("exec", `{}`)); !errors.Is(err, engine.ErrPermit) {
		t.Fatalf("another call: got %v, want ErrPermit", err)
	}
	if err := p.Redeem(c); err != nil {
		t.Fatalf("the call itself, after a wrong one: got %v; a wrong call must not use the permit up", err)
	}
	if err := p.Redeem(c); !errors.Is(err, engine.ErrPermit) {
		t.Errorf("a second time: got %v, want ErrPermit", err)
	}
}

func TestAPermitIsNotForBytesThatChangedSince(t *testing.T) {
	c := call("exec", `{"command":"ls"}`)
	p := permit(t, c)
	copy(c.Args, `{"command":"rm"}`) // the same memory, another call
	if err := p.Redeem(c); !errors.Is(err, engine.ErrPermit) {
		t.Errorf("got %v, want ErrPermit", err)
	}
}

func TestAPermitRedeemedConcurrentlyWorksOnce(t *testing.T) {
	c := call("exec", `{"command":"ls"}`)
	p := permit(t, c)
	var won atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if p.Redeem(c) == nil {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if got := won.Load(); got != 1 {
		t.Errorf("got %d callers through, want exactly one", got)
	}
}
