package hook_test

import (
	"errors"
	"log/slog"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBroken = errors.New("broken")

// faults collects what a bus reports.
type faults struct {
	mu   sync.Mutex
	list []hook.Fault // guarded by mu
}

func (f *faults) add(x hook.Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, x)
}

// kinds lists "plugin: sentinel" for each fault.
func (f *faults) kinds() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, x := range f.list {
		kind := "error"
		for _, k := range []error{hook.ErrTimeLimit, hook.ErrPanic, hook.ErrStuck, hook.ErrResult, hook.ErrWidens} {
			if errors.Is(x.Err, k) {
				kind = k.Error()
			}
		}
		out = append(out, x.Plugin+": "+kind)
	}
	return out
}

func quietBus() (*hook.Bus, *faults) {
	f := &faults{}
	return hook.New(hook.Options{Logger: slog.New(slog.DiscardHandler), OnFault: f.add}), f
}

func register(t testing.TB, b *hook.Bus, hs ...hook.Handler) {
	t.Helper()
	for _, h := range hs {
		if err := b.Register(h); err != nil {
			t.Fatalf("Register(%q): %v", h.Name, err)
		}
	}
}

func named(names ...string) []hook.Tool {
	out := []hook.Tool{}
	for _, n := range names {
		out = append(out, hook.ToolNamed(n))
	}
	return out
}

func toolNames(tools []hook.Tool) []string {
	if tools == nil {
		return nil
	}
	out := []string{}
	for _, t := range tools {
		out = append(out, t.Name())
	}
	return out
}

func raws(list ...string) []strictjson.Value {
	out := []strictjson.Value{}
	for _, s := range list {
		out = append(out, strictjson.Value(s))
	}
	return out
}
