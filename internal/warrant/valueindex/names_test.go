package valueindex_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// BEY-01
func TestTargetsOfACompositeValue(t *testing.T) {
	value := "Hi Mira, ask kay@field.example (or @kay_f, +47 22 12 34 56) about https://kontor.example/a?b=c, " +
		"pay NO93 8601 1117 947 and see /srv/plan.odt or notes.txt on files.kontor.example. Done.Thanks 3.5 1/2"
	var got []string
	for _, p := range valueindex.Targets(value) {
		if value[p.Start:p.End] != p.Text {
			t.Errorf("part %q: stands at %q", p.Text, value[p.Start:p.End])
		}
		got = append(got, p.Kind.String()+" "+p.Text)
	}
	want := []string{
		"email kay@field.example", "handle @kay_f", "phone +47 22 12 34 56", "url https://kontor.example/a?b=c",
		"iban NO93 8601 1117 947", "path /srv/plan.odt", "path notes.txt", "host files.kontor.example",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("targets differ (-want +got):\n%s", diff)
	}
}

// BEY-01
func TestAHostTheUserNamed(t *testing.T) {
	for _, c := range []struct {
		name, said, value string
		want              bool
	}{
		{"another page of it", "read https://kontor.example/plan", "https://www.kontor.example/map?x=1", true},
		{"named alone", "look at kontor.example", "https://kontor.example/map", true},
		{"the host itself", "look at https://kontor.example/plan", "kontor.example", true},
		{"one that looks alike", "see kontor.example", "https://kont0r.example/", false},
		{"one below it", "see kontor.example", "https://files.kontor.example/", false},
		{"one that starts like it", "see kontor.example", "https://kontor.example.evil.example/", false},
		{"the host of an address", "write to mira@kontor.example", "https://kontor.example/", false},
		{"as the user of another", "see kontor.example", "https://kontor.example@evil.example/", false},
		{"behind a backslash", "see kontor.example", `https://kontor.example\@evil.example/`, false},
		{"two of them", "see kontor.example", "kontor.example evil.example", false},
		{"nothing", "see kontor.example", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := context(c.said).SaidHost(c.value); got != c.want {
				t.Errorf("SaidHost(%q) after %q: got %v, want %v", c.value, c.said, got, c.want)
			}
		})
	}
}

// BEY-01
func TestClassesAndKindsHaveNames(t *testing.T) {
	for c := valueindex.Unseen; c <= valueindex.User; c++ {
		text, err := c.MarshalText()
		if err != nil {
			t.Fatalf("marshal %v: %v", c, err)
		}
		back := valueindex.Class(99)
		if err := back.UnmarshalText(text); err != nil || back != c {
			t.Errorf("class %s: got %v (%v), want itself", text, back, err)
		}
	}
	var c valueindex.Class
	if err := c.UnmarshalText([]byte("User")); err == nil {
		t.Error("class \"User\": got no error, want one")
	}
	if got := valueindex.Class(77).String(); got != "unseen" {
		t.Errorf("unknown class: got %q, want unseen", got)
	}
	if got := valueindex.Kind(77).String(); got != "word" {
		t.Errorf("unknown kind: got %q, want word", got)
	}
}
