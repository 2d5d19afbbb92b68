//go:build !race

package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/policy"
)

// However many sessions ask, what waits stays a list that somebody can read, and a session that has asked nothing yet is
// still heard: whoever opens sessions to fill the list silences nobody.
func TestTheCrowdOfQuestionsIsBounded(t *testing.T) {
	w := newWorld(t, "preset: balanced")
	asks := func(session, to string) policy.Effect {
		v, err := w.Decide(t.Context(), main(session), call("send_email", fmt.Sprintf(`{"to":%q,"body":"x"}`, to)))
		if err != nil {
			t.Fatal(err)
		}
		if v.Effect == policy.Deny && !strings.Contains(v.Message(), "very many questions") && !strings.Contains(v.Message(), "of this session wait") {
			t.Fatalf("denied: %s", v.Message())
		}
		return v.Effect
	}
	for i := range 34 {
		session := fmt.Sprint("noisy", i)
		w.ownerSays(session, "read the page")
		w.taints(session)
		for k := range 64 {
			asks(session, fmt.Sprintf("promo%d@spam.example", k))
		}
	}
	if n := w.OpenQuestions(); n > 2048+34 {
		t.Errorf("%d questions wait", n)
	}
	w.ownerSays("honest", "read the page")
	w.taints("honest")
	if got := asks("honest", "first@example.com"); got != policy.Confirm {
		t.Errorf("a session that has asked nothing: %v", got)
	}
	if got := asks("honest", "second@example.com"); got != policy.Deny {
		t.Errorf("its second: %v", got)
	}
}
