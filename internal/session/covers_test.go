package session_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/trust"
)

// A result may be written later only where the record of its call says all that it brings.
func TestACallCoversAResultThatBringsNoMore(t *testing.T) {
	call := session.Call{ID: "1", Level: trust.Shared, Sens: trust.Private}
	seen := func(change func(*event.Seen)) *event.Seen {
		s := &event.Seen{CallID: "1", Label: trust.Label{Level: trust.Shared, Sensitivity: trust.Private}}
		change(s)
		return s
	}
	for name, tt := range map[string]struct {
		call session.Call
		seen *event.Seen
		want bool
	}{
		"as expected":                 {call, seen(func(*event.Seen) {}), true},
		"better than expected":        {call, seen(func(s *event.Seen) { s.Label = trust.Label{Level: trust.Local, Sensitivity: trust.Public} }), true},
		"less trusted":                {call, seen(func(s *event.Seen) { s.Label.Level = trust.External }), false},
		"more sensitive":              {call, seen(func(s *event.Seen) { s.Label.Sensitivity = trust.Secret }), false},
		"a source":                    {call, seen(func(s *event.Seen) { s.Source = true }), false},
		"a source that was expected":  {session.Call{Level: trust.Shared, Sens: trust.Private, Source: true}, seen(func(s *event.Seen) { s.Source = true }), true},
		"a secret":                    {call, seen(func(s *event.Seen) { s.Sensitive = true }), false},
		"caution":                     {call, seen(func(s *event.Seen) { s.Caution = true }), false},
		"caution that was expected":   {session.Call{Level: trust.Shared, Sens: trust.Private, Wary: true}, seen(func(s *event.Seen) { s.Caution = true }), true},
		"another session's":           {call, seen(func(s *event.Seen) { s.From = "child" }), false},
		"a second one":                {session.Call{Level: trust.Shared, Sens: trust.Private, Seen: true}, seen(func(*event.Seen) {}), false},
		"nothing is known, the worst": {session.Call{}, seen(func(s *event.Seen) { s.Label = trust.Label{Level: trust.Untrusted, Sensitivity: trust.Secret} }), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.call.Covers(tt.seen); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
