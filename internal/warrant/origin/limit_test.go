package origin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/origin"
)

const small = 64 << 10

// flood pushes what came before it out of a small index.
func flood(x *origin.Index, size int) {
	for i := 0; size > 0; i++ {
		text := []byte(ids(1000+i, 4<<10))
		x.Result(origin.Result{Tool: "flood", Content: text})
		size -= len(text)
	}
}

// BEY-01 WAR-02
func TestOldContentFadesToTextAndNeverBetter(t *testing.T) {
	x := origin.New(small)
	x.User("write to Mira")
	x.System("reports go to desk@kontor.example")
	x.Result(origin.Result{Tool: "people", Content: []byte(people)})
	if got := x.Of("mira@kontor.example"); got.Class != origin.Anchored {
		t.Fatalf("Of before the flood: got %+v, want anchored", got)
	}
	flood(x, 2*small)
	for value, want := range map[string]origin.Class{
		"mira@kontor.example": origin.Text,
		"Mira Krol":           origin.Text,
		"Krol Field":          origin.Text, // more was forgotten than is remembered: anything may have stood there
		"mira":                origin.User,
		"desk@kontor.example": origin.System,
		"nobody@evil.example": origin.Text,
	} {
		got := x.Of(value)
		if got.Class != want {
			t.Errorf("Of(%q) after the flood: got %+v, want %v", value, got, want)
		}
		if want == origin.Text && (got.Tool != "" || got.Field || got.Anchor != "") {
			t.Errorf("Of(%q): got %+v, want nothing but text", value, got)
		}
	}
	flood(x, 40*small)
	if got := x.Of("mira@kontor.example"); got.Class > origin.Text {
		t.Errorf("Of after a greater flood: got %+v, want text at best", got)
	}
	x.Result(origin.Result{Tool: "people", Content: []byte(people)})
	if got := x.Of("mira@kontor.example"); got.Class != origin.Anchored {
		t.Errorf("Of after it came again: got %+v, want anchored", got)
	}
}

// BEY-01
func TestContentLargerThanTheIndexIsRememberedByItsWords(t *testing.T) {
	x := origin.New(small)
	var rows strings.Builder
	rows.WriteString("[")
	for i := range 2000 {
		fmt.Fprintf(&rows, `{"name":"Holder%d","mail":"m%d@kontor.example"},`, i, i)
	}
	x.Result(origin.Result{Content: []byte(rows.String() + `{"name":"last"}]`)})
	if got := x.Of("m7@kontor.example"); got.Class != origin.Text || got.Field {
		t.Errorf("Of a value of a huge result: got %+v, want text", got)
	}
}

// BEY-01
func TestWordsOfTheUserBeyondTheLimitAreLeftOut(t *testing.T) {
	x := origin.New(small)
	x.User("write to Mira")
	x.User(strings.Repeat("x", small) + " kay@field.example")
	if got := x.Of("kay@field.example"); got.Class != origin.Unseen {
		t.Errorf("Of a word beyond the limit: got %+v, want unseen", got)
	}
	if got := x.Of("mira"); got.Class != origin.User {
		t.Errorf("Of a word within it: got %+v, want user", got)
	}
}

// BEY-01
func TestTheSameContentIsOneContent(t *testing.T) {
	x := origin.New(small)
	for i := range 10_000 {
		x.Result(origin.Result{Tool: "people", Step: uint64(i), Content: []byte(people)})
	}
	if got := x.Of("kay@field.example"); got.Class != origin.Field || got.Step != 0 {
		t.Errorf("Of a value that came often: got %+v, want a field of step 0", got)
	}
}

// BEY-01
func TestEmptyContentLeavesNoTrace(t *testing.T) {
	x := origin.New(0)
	x.User(" ... ")
	for _, content := range []string{"", " \n", "\ufeff", "---", "[]", "{}", "<<>>", `""`, "- \n- \n", "a:\n"} {
		x.Result(origin.Result{Content: []byte(content)})
	}
	for _, value := range []string{"a", "", "-", "[]"} {
		if got := x.Of(value); got.Class != origin.Unseen {
			t.Errorf("Of(%q): got %+v, want unseen", value, got)
		}
	}
}

// BEY-01: what looks like the start of something long, again and again, is read once. A
// reader that starts over at each would not come to an end here.
func TestRepetitionIsReadOnce(t *testing.T) {
	for _, unit := range []string{"AB12 ", "+1 22 ", "May 5 ", "5 of ", "3 p", "[", `{"a":`, "- ", "a: '\n", "a.", "<<", "1,234", "xn--a."} {
		x := context("hello", strings.Repeat(unit, megabyte/len(unit)))
		if got := x.Of("nobody@evil.example"); got.Class != origin.Unseen {
			t.Errorf("Of a fresh value in %q...: got %+v, want unseen", unit, got)
		}
	}
}
