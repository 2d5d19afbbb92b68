package valueindex_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

const people = `[{"name":"Mira Krol","mail":"mira@kontor.example","phone":"+47 22 12 34 56"},
 {"name":"Kay Field","mail":"kay@field.example","phone":"+47 22 12 34 57"}]`

// BEY-01
func TestAValueHangsOnWhatTheUserNamed(t *testing.T) {
	for _, c := range []struct{ name, said, content, value, anchor string }{
		{"a person by one name", "write to Mira about lunch", people, "mira@kontor.example", "mira"},
		{"a person in small letters", "write to mira about lunch", people, "mira@kontor.example", "mira"},
		{"a person by both names", "ring Kay Field", people, "+4722123457", "Kay Field"},
		{"a company", "pay the bill from Ostwind", "vendor: Ostwind AS\niban: NO9386011117947\n", "NO93 8601 1117 947", "ostwind"},
		{"a title of several words", "move the Harbour dinner to noon",
			"- id: ev_71\n  title: Harbour dinner\n- id: ev_72\n  title: Lunch\n", "ev_71", "Harbour dinner"},
		{"a title of one word, whole", "pay the rent", "- subject: Rent\n  to: NO9386011117947\n", "NO9386011117947", "Rent"},
		{"a part of a title that is a name", "how is the Velora plan", "- subject: Velora Premium\n  to: NO9386011117947\n", "NO9386011117947", "velora"},
		{"a file", "share plan.odt", `[{"filename":"plan.odt","id":"f_9"}]`, "f_9", "plan.odt"},
		{"an address", "what did kay@field.example write", "- sender: kay@field.example\n  id: m_81\n", "m_81", "kay@field.example"},
		{"a number of a record", "close case 81723", "- id: 81723\n  holder: kay@field.example\n", "kay@field.example", "81723"},
		{"a field further in", "write to Mira", `{"name":"Mira","reach":{"mail":"mira@kontor.example"}}`, "mira@kontor.example", "mira"},
		{"a map by name", "write to Mira", `{"Mira":"mira@kontor.example","Kay":"kay@field.example"}`, "mira@kontor.example", "mira"},
		{"a map of records by name", "write to Mira", `{"Mira":{"mail":"mira@kontor.example"},"Kay":{"mail":"kay@field.example"}}`, "mira@kontor.example", "mira"},
		{"a row", "write to Mira", "name,mail\nMira Krol,mira@kontor.example\nKay,kay@field.example\n", "mira@kontor.example", "mira"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := context(c.said, c.content).Of(c.value)
			if got.Class != valueindex.Anchored || !strings.EqualFold(got.Anchor, c.anchor) {
				t.Errorf("Of(%q): got %+v, want anchored to %q", c.value, got, c.anchor)
			}
		})
	}
}

// BEY-01
func TestANameAloneAnchorsNothing(t *testing.T) {
	for _, c := range []struct {
		name, said, content, value string
		want                       valueindex.Class
	}{
		{"the name in the address", "write to Mira", "nothing", "mira@evil.example", valueindex.Unseen},
		{"the name in an address in text", "write to Mira", "Mira has a new address, mira@evil.example it is", "mira@evil.example", valueindex.Text},
		{"the name in an address in a field", "write to Mira", `{"mail":"mira@evil.example"}`, "mira@evil.example", valueindex.Field},
		{"the name shown before the address", "write to Mira", "- from: Mira Krol <mira@evil.example>\n  size: 3\n", "mira@evil.example", valueindex.Field},
		{"the name in another record", "write to Mira", people, "kay@field.example", valueindex.Field},
		{"the name in a long text of the record", "write to Mira",
			`{"name":"` + strings.Repeat("Mira ", 60) + `","mail":"x@evil.example"}`, "x@evil.example", valueindex.Field},
		{"the value in a text of the record", "write to Mira", `{"name":"Mira","body":"hello\nx@evil.example"}`, "x@evil.example", valueindex.Text},
		{"a word of the form", "send an email with a phone number", `{"email":"x@evil.example","phone":"y@evil.example"}`, "x@evil.example", valueindex.Field},
		{"a word that names nothing", "summarise my meeting", "- title: Meeting\n  who: x@evil.example\n", "x@evil.example", valueindex.Field},
		{"a common word of a title", "please pay the bill for the event", "- subject: the event is yours\n  to: NO9386011117947\n", "NO9386011117947", valueindex.Field},
		{"a name its author gives", "write to Mira", "- sender: Mira\n  reply: x@evil.example\n", "x@evil.example", valueindex.Field},
		{"a word that most records have", "write to Mira", `[{"a":"Mira","m":"x@evil.example"},{"a":"Mira","m":"y@evil.example"},{"a":"Kay","m":"z@evil.example"}]`, "x@evil.example", valueindex.Field},
		{"a word, where another record was named whole", "write to Mira Krol", `[{"a":"Mira Krol","m":"mira@kontor.example"},{"a":"the Krol group","m":"x@evil.example"}]`, "x@evil.example", valueindex.Field},
		{"a small number", "buy 5 of them", "- id: 5\n  to: NO9386011117947\n", "NO9386011117947", valueindex.Field},
		{"a host that looks alike", "see kontor.example", "nothing", "https://kont0r.example/", valueindex.Unseen},
		{"a host below the one named", "see kontor.example", "nothing", "https://files.kontor.example/", valueindex.Unseen},
		{"the host of an address that was named", "write to mira@kontor.example", "nothing", "https://kontor.example/", valueindex.Unseen},
		{"a look-alike name in the record", "write to Mira", `{"name":"Mirа","mail":"x@evil.example"}`, "x@evil.example", valueindex.Field},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := context(c.said, c.content).Of(c.value); got.Class != c.want {
				t.Errorf("Of(%q): got %+v, want %v", c.value, got, c.want)
			}
		})
	}
}

// BEY-01
func TestAnAnchorWithRivalsHoldsNothing(t *testing.T) {
	x := context("write to Mira", people, `[{"name":"Mira","mail":"mira@evil.example"}]`)
	for _, value := range []string{"mira@kontor.example", "mira@evil.example"} {
		if got := x.Of(value); got.Class != valueindex.Field || got.Anchor != "" {
			t.Errorf("Of(%q): got %+v, want a field", value, got)
		}
	}
	x = context("write to Mira Krol", people, `[{"name":"Mira","mail":"mira@evil.example"}]`)
	if got := x.Of("mira@kontor.example"); got.Class != valueindex.Anchored || got.Anchor != "Mira Krol" {
		t.Errorf("Of the fuller name: got %+v, want anchored", got)
	}
	if got := x.Of("mira@evil.example"); got.Class != valueindex.Field {
		t.Errorf("Of the shorter name: got %+v, want a field", got)
	}
	again := context("write to Mira", people, strings.ReplaceAll(people, "[{", "[ {"))
	if got := again.Of("mira@kontor.example"); got.Class != valueindex.Anchored {
		t.Errorf("Of a record seen twice: got %+v, want anchored", got)
	}
}

// BEY-01
func TestManyRecordsKeepTheirFieldsApart(t *testing.T) {
	var b strings.Builder
	b.WriteString("[")
	for i := range 100_000 {
		fmt.Fprintf(&b, `{"name":"Holder%d","mail":"m%d@kontor.example","state":"open"},`, i, i)
	}
	x := context("write to Holder777", b.String()+`{"name":"last"}]`)
	if got := x.Of("m777@kontor.example"); got.Class != valueindex.Anchored || got.Path != "[777].mail" {
		t.Errorf("Of the named holder's address: got %+v, want anchored at [777].mail", got)
	}
	if got := x.Of("m778@kontor.example"); got.Class != valueindex.Field {
		t.Errorf("Of another holder's address: got %+v, want a field", got)
	}
}
