package trust_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/trust"
)

func levels() *rapid.Generator[trust.Level] {
	all := trust.Levels()
	return rapid.SampledFrom(all[:])
}

func sensitivities() *rapid.Generator[trust.Sensitivity] {
	return rapid.SampledFrom([]trust.Sensitivity{trust.Public, trust.Internal, trust.Private, trust.Secret})
}

// sources draws from few values, so that two labels often know the same source.
func sources() *rapid.Generator[trust.Source] {
	return rapid.Custom(func(t *rapid.T) trust.Source {
		return trust.Source{
			Level:   levels().Draw(t, "level"),
			Step:    uint64(rapid.IntRange(0, 3).Draw(t, "step")),
			Kind:    rapid.SampledFrom([]string{"message", "tool_result"}).Draw(t, "kind"),
			Tool:    rapid.SampledFrom([]string{"", "web_fetch"}).Draw(t, "tool"),
			Excerpt: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "excerpt"),
		}
	})
}

// labels are made the way they are made in life: by joining labels of one source.
func labels() *rapid.Generator[trust.Label] {
	return rapid.Custom(func(t *rapid.T) trust.Label {
		l := trust.Label{Level: levels().Draw(t, "level"), Sensitivity: sensitivities().Draw(t, "sensitivity")}
		for _, s := range rapid.SliceOfN(sources(), 0, trust.MaxSources+4).Draw(t, "sources") {
			l = l.Join(trust.Label{Level: trust.System, Sensitivity: trust.Public, Sources: []trust.Source{s}})
		}
		return l
	})
}

func sameLabel(t *rapid.T, law string, got, want trust.Label) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s (-want +got):\n%s", law, d)
	}
}

// PRV-01
func TestJoinIsASemilattice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := labels().Draw(t, "a"), labels().Draw(t, "b"), labels().Draw(t, "c")
		sameLabel(t, "associative", a.Join(b).Join(c), a.Join(b.Join(c)))
		sameLabel(t, "commutative", a.Join(b), b.Join(a))
		sameLabel(t, "idempotent", a.Join(a), a)
		sameLabel(t, "absorbing", a.Join(b).Join(b), a.Join(b))
	})
}

// PRV-01
func TestJoinNeverImproves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := labels().Draw(t, "a"), labels().Draw(t, "b"), labels().Draw(t, "c")
		j := a.Join(b)
		if !j.Covers(a) || !j.Covers(b) {
			t.Fatalf("%v joined with %v gives %v, which is better than one of them", a, b, j)
		}
		if a.Covers(b) && !a.Join(c).Covers(b.Join(c)) {
			t.Fatalf("not monotone: %v covers %v, but not after joining %v", a, b, c)
		}
	})
}

func TestJoinKeepsTheLeastTrustedSources(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := labels().Draw(t, "a"), labels().Draw(t, "b")
		got := a.Join(b).Sources
		if len(got) > trust.MaxSources {
			t.Fatalf("got %d sources, want at most %d", len(got), trust.MaxSources)
		}
		if len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("a source is listed twice: %v", got)
		}
		worst := func(s []trust.Source) trust.Level {
			l := trust.System
			for _, x := range s {
				l = l.Join(x.Level)
			}
			return l
		}
		if want := worst(slices.Concat(a.Sources, b.Sources)); worst(got) != want {
			t.Fatalf("least trusted source: got %s, want %s", worst(got), want)
		}
		if !slices.IsSortedFunc(got, func(x, y trust.Source) int { return int(x.Level) - int(y.Level) }) {
			t.Fatalf("sources are not sorted by level: %v", got)
		}
	})
}

func TestJoinChangesNeitherLabel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := labels().Draw(t, "a"), labels().Draw(t, "b")
		wasA, wasB := slices.Clone(a.Sources), slices.Clone(b.Sources)
		j := a.Join(b)
		_ = append(j.Sources, trust.Source{Kind: "later"})
		if !slices.Equal(a.Sources, wasA) || !slices.Equal(b.Sources, wasB) {
			t.Fatal("Join changed a label it was given")
		}
	})
}

func TestJoinOfAKnownSourceDoesNotAllocateOnAFullLabel(t *testing.T) {
	full := trust.Label{Level: trust.Untrusted}
	for i := range trust.MaxSources {
		full = full.Join(trust.Label{Sources: []trust.Source{{Step: uint64(i)}}})
	}
	later := trust.Label{Level: trust.External, Sources: []trust.Source{{Level: trust.External, Step: 99}}}
	if n := testing.AllocsPerRun(100, func() { full = full.Join(later) }); n != 0 {
		t.Errorf("got %v allocations, want 0: a long session must not pay for each result", n)
	}
}
