package shim_test

import (
	"slices"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
)

func FuzzDecode(f *testing.F) {
	names := catalogue.Names()
	for i, name := range names {
		for _, l := range lines(f, name+"-story.jsonl") {
			f.Add(uint8(i), l.Event, []byte(l.Body))
		}
	}
	for _, name := range recorded {
		for _, l := range lines(f, name+"-recorded.jsonl") {
			f.Add(uint8(slices.Index(names, name)), l.Event, []byte(l.Body))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, event string, body []byte) {
		name := names[int(which)%len(names)]
		a, err := catalogue.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := a.Decode(event, body)
		if err != nil {
			return
		}
		if e.Kind == catalogue.Unknown || e.Kind != catalogue.Ignored && e.Session == "" {
			t.Fatalf("%s %q: got %+v, want no event without a kind or a session", name, body, e)
		}
		if (e.Kind == catalogue.Call || e.Kind == catalogue.Result) && (e.Tool == "" || e.Params.Kind() != '{' || !e.Params.IsValid()) {
			t.Fatalf("%s %q: tool %q, params %s, want a name and an object", name, body, e.Tool, e.Params)
		}
	})
}
