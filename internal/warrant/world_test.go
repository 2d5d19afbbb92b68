package warrant_test

import (
	"encoding/json"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// words are loaded once: a table does not change.
var words = vocabulary.Load()

// world is a conversation in which the user said some things and nobody else anything.
func world(said ...string) *warrant.Context {
	c := warrant.New(words)
	c.Host(tool.Usual(nil))
	for _, s := range said {
		c.User(s)
	}
	return c
}

// argued is a world in which something was read: nothing passes for want of an attacker.
func argued(said ...string) *warrant.Context {
	c := world(said...)
	read(c, "list_weather_stations", `{}`, `[{"station":"Norrland ridge","sky":"clear"}]`)
	return c
}

// steps counts results: no two are of the same step.
var steps uint64

func read(c *warrant.Context, name, args, content string) {
	steps++
	a := tool.NewArgs([]byte(args))
	c.Result(warrant.Result{Tool: name, Step: steps, Args: &a, Content: []byte(content)})
}

func of(c *warrant.Context, name, args string) *warrant.Warrant {
	a := tool.NewArgs([]byte(args))
	return c.Of(name, &a)
}

// shipped is the policy of an empty file.
var shipped = policy.Default()

// asked reports whether the shipped table asks about a call.
func asked(w *warrant.Warrant) bool {
	for _, k := range warrant.Kinds() {
		has := w.Weakest(k.String())
		if need := shipped.Needs(w.Deed.String(), k.String()); has != warrant.Free && warrant.EvidenceNamed(has) < warrant.EvidenceNamed(need) {
			return true
		}
	}
	return false
}

// slot is the first slot of a kind.
func slot(t testing.TB, w *warrant.Warrant, k warrant.Kind) warrant.Slot {
	t.Helper()
	for _, s := range w.Slots {
		if s.Kind == k {
			return s
		}
	}
	t.Fatalf("%s %s: no %s among %+v", w.Deed, w.Tool, k, w.Slots)
	return warrant.Slot{}
}

func quote(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// definitions are one tool of a server of somebody's.
func definitions(name, description string) []tool.Definition {
	return []tool.Definition{{Name: name, Description: description}}
}
