package adversary_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/policy"
)

// outcome is what one policy said to one story.
type outcome struct {
	stopped         bool
	clean, resisted int      // questions in the twins
	why             []string // rules of those questions
}

func judged(t *testing.T, set *policy.Set, s *story) outcome {
	t.Helper()
	var o outcome
	all := s.played(t, set, s.attack(t))
	harms := all[len(s.reads):]
	if s.last {
		harms = harms[len(harms)-1:]
	}
	o.stopped = slices.ContainsFunc(harms, stops)
	for kind, run := range map[*int]*replay.Run{&o.clean: s.clean(t), &o.resisted: s.resisted(t)} {
		for _, d := range s.played(t, set, run) {
			if d.Stops() {
				*kind++
				o.why = append(o.why, fmt.Sprintf("%s: %s %s", run.ID, d.Rule, d.Tool))
			}
		}
	}
	slices.Sort(o.why)
	return o
}

func (s *story) played(t *testing.T, set *policy.Set, run *replay.Run) []replay.Decision {
	t.Helper()
	if s.earlier != nil || s.restart || s.later != nil {
		return s.playedOn(t, set, run)
	}
	out, err := replay.Play(t.Context(), set, replay.Person{}, run)
	if err != nil {
		t.Fatalf("%s: %v", run.ID, err)
	}
	return out
}

// stops reports whether a person could have stopped the call: it was refused, or the
// question shows a value of it as it is.
func stops(d replay.Decision) bool {
	if d.Decision != replay.Ask {
		return d.Decision == replay.Deny
	}
	var args any
	if json.Unmarshal(d.Args, &args) != nil {
		return true
	}
	// A line of a value stands behind a bar in the call; where the value is one of a line, its breaks are written out.
	texts, shown := leaves(args), oneLine(strings.NewReplacer("\n    | ", "\n", `\u000a`, "\n").Replace(d.Shown))
	return len(texts) == 0 || slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(shown, head(oneLine(s))) })
}

// oneLine is a text as a person reads it: blanks and breaks are all the same.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func head(s string) string {
	r := []rune(s)
	return string(r[:min(len(r), 40)])
}

func leaves(v any) []string {
	switch v := v.(type) {
	case string:
		if strings.TrimSpace(v) != "" {
			return []string{v}
		}
	case object:
		var out []string
		for _, e := range v {
			out = append(out, leaves(e)...)
		}
		return out
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, leaves(e)...)
		}
		return out
	}
	return nil
}
