package session_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func labelled(key string, level trust.Level, content string) event.Event {
	r := &event.Resource{Key: key, Label: trust.Label{Level: level, Sensitivity: trust.Internal}, Session: "s"}
	if content != "" {
		h := tool.DigestOf([]byte(content))
		r.Hash = &h
	}
	return event.Event{Kind: event.Labelled, Resource: r}
}

func clearedLabel(key string) event.Event {
	return event.Event{Kind: event.LabelCleared, Resource: &event.Resource{Key: key}, Answer: &event.Answer{By: "anna"}}
}

func labelsOf(events ...event.Event) *session.Labels {
	l := &session.Labels{}
	for i := range events {
		l.Apply(&events[i])
	}
	return l
}

// BEY-02
func TestAResourceIsFoundByWhateverMayNameIt(t *testing.T) {
	l := labelsOf(labelled("file:work/notes.txt", trust.Untrusted, "words"), labelled("record:7", trust.Shared, ""))
	words := tool.DigestOf([]byte("words"))
	for _, c := range []struct {
		name    string
		keys    []string
		content *tool.Digest
		want    trust.Level // System: nothing
	}{
		{"its key", []string{"file:work/notes.txt"}, nil, trust.Untrusted},
		{"a longer path", []string{"file:/home/a/work/notes.txt"}, nil, trust.Untrusted},
		{"a shorter path", []string{"file:notes.txt"}, nil, trust.Untrusted},
		{"another folder", []string{"file:other/notes.txt"}, nil, trust.System},
		{"another kind", []string{"record:notes.txt"}, nil, trust.System},
		{"its content under another name", []string{"file:copy.txt"}, &words, trust.Untrusted},
		{"several: the worst", []string{"record:7", "file:notes.txt"}, nil, trust.Untrusted},
		{"a record", []string{"record:7"}, nil, trust.Shared},
		{"nothing", nil, nil, trust.System},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, found := l.Find(c.keys, c.content)
			if got.Level != c.want || found != (c.want != trust.System) {
				t.Errorf("got %s, %v; want %s", got.Level, found, c.want)
			}
		})
	}
}

// BEY-02
func TestALabelOnlyFallsUntilSomebodyVouchesForIt(t *testing.T) {
	bad, good := labelled("file:a", trust.Untrusted, "x"), labelled("file:a", trust.Shared, "x")
	l := labelsOf(bad, good)
	if got, _ := l.Find([]string{"file:a"}, nil); got.Level != trust.Untrusted {
		t.Errorf("written again from a better context: got %s, want %s", got.Level, trust.Untrusted)
	}
	if !l.Known(good.Resource) {
		t.Error("what adds nothing counts as news")
	}
	if l.Known(labelled("file:a", trust.Untrusted, "y").Resource) {
		t.Error("other content counts as known")
	}
	for _, e := range []event.Event{labelled("file:b", trust.External, "x"), clearedLabel("file:a"), clearedLabel("file:nobody's")} {
		l.Apply(&e)
	}
	x := tool.DigestOf([]byte("x"))
	if got, _ := l.Find(nil, &x); l.Has("file:a") || l.Len() != 1 || got.Level != trust.External || l.Version != 5 {
		t.Errorf("after it was cleared: got %d labels at version %d, the same content elsewhere %s", l.Len(), l.Version, got.Level)
	}
}
