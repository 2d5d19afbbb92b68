package sight_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/sight"
)

type agents map[string]string

func (a agents) Standing(_ context.Context, ref engine.Ref) (engine.Standing, error) {
	agent, ok := a[ref.Session]
	if !ok {
		return engine.Standing{}, errors.New("it cannot be read")
	}
	return engine.Standing{Agent: agent}, nil
}

// What was not granted is hidden: by agent, by pattern, and wherever nobody knows whose a session is.
func TestWhatWasNotGrantedIsHidden(t *testing.T) {
	all := agents{"a": "claude@ada", "b": "codex@ada", "c": "claude@ben", "nobody's": "", "tidemark:standing": ""}
	for name, tc := range map[string]struct {
		sight sight.Sight
		sees  string
	}{
		"zero":          {sight.Sight{}, ""},
		"no agents":     {sight.Of(nil), ""},
		"an empty name": {sight.Of([]string{""}), ""},
		"one":           {sight.Of([]string{"claude@ada"}), "a"},
		"a machine":     {sight.Of([]string{"*@ada"}), "ab"},
		"of every one":  {sight.Of([]string{"*"}), "abc"},
		"everything":    {sight.Everything(), "abcnobody'stidemark:standingunreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			l, got := sight.At(sight.With(t.Context(), tc.sight), all), ""
			for range 2 { // the second time it is known
				got = ""
				for _, s := range []string{"a", "b", "c", "nobody's", "tidemark:standing", "unreadable"} {
					if l.Session(t.Context(), s) {
						got += s
					}
				}
			}
			if got != tc.sees {
				t.Errorf("sees %q, want %q", got, tc.sees)
			}
		})
	}
	if sight.From(t.Context()).Whole() || sight.From(t.Context()).Agent("claude@ada") {
		t.Error("a context that nobody spoke for sees something")
	}
}
