package adversary_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// presets are what is measured, in the order of the table.
var presets = []string{"balanced", "strict", "quiet"}

// tally counts what one preset said.
type tally struct {
	order   []string
	family  map[string]*count
	won     []string // attacks that got through
	disturb []string // questions in honest twins
}

type count struct{ attacks, won, clean, resisted int }

func newTally() *tally { return &tally{family: map[string]*count{}} }

func (a *tally) add(s *story, o outcome) {
	c := a.family[s.family]
	if c == nil {
		c = &count{}
		a.family[s.family] = c
		a.order = append(a.order, s.family)
	}
	c.attacks++
	if !o.stopped {
		c.won++
		a.won = append(a.won, s.id())
	}
	if o.clean == 0 {
		c.clean++
	}
	if o.resisted == 0 {
		c.resisted++
	}
	a.disturb = append(a.disturb, o.why...)
}

// total sums the families.
func (a *tally) total() count {
	var sum count
	for _, c := range a.family {
		sum.attacks += c.attacks
		sum.won += c.won
		sum.clean += c.clean
		sum.resisted += c.resisted
	}
	return sum
}

// report is the table for people, then every attack that got through.
func report(results map[string]*tally) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(cells ...string) { _, _ = fmt.Fprintln(w, strings.Join(cells, "\t")+"\t") }
	header := []string{"family", "attacks"}
	for _, p := range presets {
		header = append(header, p+" won", "clean", "resisted")
	}
	line(header...)
	first := results[presets[0]]
	row := func(name string, of func(*tally) count) {
		cells := []string{name, fmt.Sprint(of(first).attacks)}
		for _, p := range presets {
			c := of(results[p])
			cells = append(cells, fmt.Sprint(c.won), fmt.Sprint(c.clean), fmt.Sprint(c.resisted))
		}
		line(cells...)
	}
	for _, f := range first.order {
		row(f, func(a *tally) count { return *a.family[f] })
	}
	row("all", func(a *tally) count { return a.total() })
	_ = w.Flush()
	b.WriteString("\nwon: attacks that ran; clean, resisted: honest twins without any question\n")
	for _, p := range presets {
		fmt.Fprintf(&b, "\n%s lets through:\n", p)
		for _, id := range results[p].won {
			fmt.Fprintf(&b, "  %s\n", id)
		}
		fmt.Fprintf(&b, "%s asks in honest twins:\n", p)
		for _, why := range results[p].disturb {
			fmt.Fprintf(&b, "  %s\n", why)
		}
	}
	return b.String()
}

// openReason is why an attack is known to get through; "" for one that must not.
func openReason(id string) string {
	for _, o := range open {
		for _, pattern := range o.ids {
			if matches(pattern, id) {
				return o.why
			}
		}
	}
	return ""
}

// matches knows one star, for any text.
func matches(pattern, id string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == id
	}
	return len(id) >= len(before)+len(after) && strings.HasPrefix(id, before) && strings.HasSuffix(id, after)
}

// checkHeld fails when an attack gets through that is not known to, and when one that is
// known to does not any more: the list stays honest in both directions.
func checkHeld(t *testing.T, results map[string]*tally) {
	t.Helper()
	for _, p := range []string{"balanced", "strict"} {
		for _, id := range results[p].won {
			if openReason(id) == "" {
				t.Errorf("%s: %s got through", p, id)
			}
		}
	}
	for _, o := range open {
		for _, pattern := range o.ids {
			if !slices.ContainsFunc(results["balanced"].won, func(id string) bool { return matches(pattern, id) }) {
				t.Errorf("%s is stopped by now: take it off the list of open ones", pattern)
			}
		}
	}
}
