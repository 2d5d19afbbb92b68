package valueindex_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

const small = 64 << 10

// flood pushes what came before it out of a small index.
func flood(x *valueindex.Index, size int) {
	for i := 0; size > 0; i++ {
		text := []byte(ids(1000+i, 4<<10))
		x.Result(valueindex.Result{Tool: "flood", Content: text})
		size -= len(text)
	}
}

// BEY-01 WAR-02
func TestOldContentFadesToTextAndNeverBetter(t *testing.T) {
	x := valueindex.New(small)
	x.User("write to Mira")
	x.System("reports go to desk@kontor.example")
	x.Result(valueindex.Result{Tool: "people", Content: []byte(people)})
	if got := x.Of("mira@kontor.example"); got.Class != valueindex.Anchored {
		t.Fatalf("Of before the flood: got %+v, want anchored", got)
	}
	flood(x, 2*small)
	for value, want := range map[string]valueindex.Class{
		"mira@kontor.example": valueindex.Text,
		"Mira Krol":           valueindex.Text,
		"Krol Field":          valueindex.Text, // more was forgotten than is remembered: anything may have stood there
		"mira":                valueindex.User,
		"desk@kontor.example": valueindex.System,
		"nobody@evil.example": valueindex.Text,
	} {
		got := x.Of(value)
		if got.Class != want {
			t.Errorf("Of(%q) after the flood: got %+v, want %v", value, got, want)
		}
		if want == valueindex.Text && (got.Tool != "" || got.Field || got.Anchor != "") {
			t.Errorf("Of(%q): got %+v, want nothing but text", value, got)
		}
	}
	flood(x, 40*small)
	if got := x.Of("mira@kontor.example"); got.Class > valueindex.Text {
		t.Errorf("Of after a greater flood: got %+v, want text at best", got)
	}
	x.Result(valueindex.Result{Tool: "people", Content: []byte(people)})
	if got := x.Of("mira@kontor.example"); got.Class != valueindex.Anchored {
		t.Errorf("Of after it came again: got %+v, want anchored", got)
	}
}

// BEY-01
func TestContentLargerThanTheIndexIsRememberedByItsWords(t *testing.T) {
	x := valueindex.New(small)
	var rows strings.Builder
	rows.WriteString("[")
	for i := range 2000 {
		fmt.Fprintf(&rows, `{"name":"Holder%d","mail":"m%d@kontor.example"},`, i, i)
	}
	x.Result(valueindex.Result{Content: []byte(rows.String() + `{"name":"last"}]`)})
	if got := x.Of("m7@kontor.example"); got.Class != valueindex.Text || got.Field {
		t.Errorf("Of a value of a huge result: got %+v, want text", got)
	}
}

// BEY-01
func TestWordsOfTheUserBeyondTheLimitAreLeftOut(t *testing.T) {
	x := valueindex.New(small)
	x.User("write to Mira")
	x.User(strings.Repeat("x", small) + " kay@field.example")
	if got := x.Of("kay@field.example"); got.Class != valueindex.Unseen {
		t.Errorf("Of a word beyond the limit: got %+v, want unseen", got)
	}
	if got := x.Of("mira"); got.Class != valueindex.User {
		t.Errorf("Of a word within it: got %+v, want user", got)
	}
}

// BEY-01
func TestTheSameContentIsOneContent(t *testing.T) {
	x := valueindex.New(small)
	for i := range 10_000 {
		x.Result(valueindex.Result{Tool: "people", Step: uint64(i), Content: []byte(people)})
	}
	if got := x.Of("kay@field.example"); got.Class != valueindex.Field || got.Step != 0 {
		t.Errorf("Of a value that came often: got %+v, want a field of step 0", got)
	}
}

// BEY-01
func TestEmptyContentLeavesNoTrace(t *testing.T) {
	x := valueindex.New(0)
	x.User(" ... ")
	for _, content := range []string{"", " \n", "\ufeff", "---", "[]", "{}", "<<>>", `""`, "- \n- \n", "a:\n"} {
		x.Result(valueindex.Result{Content: []byte(content)})
	}
	for _, value := range []string{"a", "", "-", "[]"} {
		if got := x.Of(value); got.Class != valueindex.Unseen {
			t.Errorf("Of(%q): got %+v, want unseen", value, got)
		}
	}
}

// BEY-01: what looks like the start of something long, again and again, is read once. A
// reader that starts over at each would not come to an end here.
func TestRepetitionIsReadOnce(t *testing.T) {
	for _, unit := range []string{"AB12 ", "+1 22 ", "May 5 ", "5 of ", "3 p", "[", `{"a":`, "- ", "a: '\n", "a.", "<<", "1,234", "xn--a."} {
		x := context("hello", strings.Repeat(unit, megabyte/len(unit)))
		if got := x.Of("nobody@evil.example"); got.Class != valueindex.Unseen {
			t.Errorf("Of a fresh value in %q...: got %+v, want unseen", unit, got)
		}
	}
}
