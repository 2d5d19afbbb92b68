package valueindex_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// BEY-01
func TestOddSpellingsThatAreTheSame(t *testing.T) {
	for _, c := range [][2]string{
		{"ring 0221 345 678", "0221345678"},
		{"ring +47.22.12.34.56", "+4722123456"},
		{"at 12 am", "00:00"}, {"at 12:30 p.m.", "12:30"}, {"at 15:04:05", "15:04:05.000"},
		{"on Sept 3rd", "2031-09-03"}, {"on 26/05/2031", "05/26/2031"}, {"on 3.4.2031", "2031-04-03"},
		{"pay -5.00", "-5"}, {"pay 1,234,567", "$1234567"},
		{"see ftp://kontor.example/a", "FTP://kontor.example/a"},
		{"see www.kontor.example", "http://kontor.example/"},
		{"see kontor.example:8080/a", "http://kontor.example:8080/a"},
		{"see https://kontor.example/a?utm_x=1&b=2#top", "kontor.example/a?b=2#top"},
		{"see https://kontor.example/a_(b)", "https://kontor.example/a_(b)"},
		{"see (https://kontor.example/a)", "https://kontor.example/a"},
		{"see 10.1.2.3/a", "http://10.1.2.3/a"},
		{"open C:\\plans\\a.odt", "c:/plans/a.odt"},
		{"write mailto:kay@field.example", "kay@field.example"},
		{"to=kay@field.example", "<kay@field.example>"},
		{"write kay@bücher.example", "kay@xn--bcher-kva.example"},
		{"the K of Kelvin", "k"},
		{"pay NO93 8601 1117 947. Then go", "NO9386011117947"}, {"ring +47 22 12 34 56. Then go", "+4722123456"}, {"ring 0221 345 678!", "0221345678"},
		{"say “ça va”, please", "ÇA VA"},
	} {
		if got := context(c[0]).Of(c[1]); got.Class != valueindex.User {
			t.Errorf("Of(%q) after %q: got %v, want user", c[1], c[0], got.Class)
		}
	}
}

// BEY-01
func TestOddSpellingsThatAreNot(t *testing.T) {
	for _, c := range [][2]string{
		{"ring 123 456 789", "123456789"}, {"10.1.2.3 is it", "10123"}, {"at 25:00", "1:00"}, {"at 13 pm", "13:00"}, {"at 10:00:00.5", "10:00"},
		{"on 31.13.2031", "2031-13-31"}, {"on 2031-05-26-1", "2031-05-26"}, {"on 26.05-2031", "2031-05-26"}, {"32 May 2031", "2031-05-32"},
		{"the maytree 5", "may 5"}, {"number 123456789012", "3456789012"},
		{"see kontor.example/a?utm_x=" + strings.Repeat("s", 120), "kontor.example/a?b=1&c"},
		{"see xn--bcher-kva.example", "bucher.example"}, {"see xn--a.example", "a.example"}, {"see xn--99999999.example", "9.example"},
		{"see xn--kontor-.example", "kontor.example"}, {"see xn--" + strings.Repeat("a", 70) + ".example", "a.example"}, {"see xn--!.example", "example"},
		{"AB12 34xy", "AB1234XY"}, {"AB12 CD34", "AB12CD34"}, {"AB12-34-56 is it", "AB123456"},
	} {
		if got := context(c[0]).Of(c[1]); got.Class >= valueindex.System {
			t.Errorf("Of(%q) after %q: got %+v, want less than the user's", c[1], c[0], got)
		}
	}
}

// BEY-01
func TestADayWithItsTimeIsAsGoodAsTheWorse(t *testing.T) {
	x := context("on May 26th, from 10 am", "the later one ends at 17:45, they say", "- title: x\n  end: '18:15'\n")
	for value, want := range map[string]valueindex.Class{
		"2031-05-26 10:00":     valueindex.User,
		"2031-05-26T10:00:00Z": valueindex.User,
		"2031-05-26 17:45":     valueindex.Text,
		"2031-05-26 18:15":     valueindex.Field,
		"2031-05-26 19:00":     valueindex.Unseen,
		"2031-05-27 10:00":     valueindex.Unseen,
		"10:00 2031-05-26":     valueindex.Unseen,
	} {
		if got := x.Of(value); got.Class != want {
			t.Errorf("Of(%q): got %+v, want %v", value, got, want)
		}
	}
}

// BEY-01
func TestWhatAHostPutsAroundAResultIsTakenOff(t *testing.T) {
	for _, c := range []struct {
		content string
		want    valueindex.Class
	}{
		{"<<- mail: kay@field.example\n  id: 1>>", valueindex.Field},
		{"```json\n{\"mail\": \"kay@field.example\"}\n```", valueindex.Field},
		{"<tool_result>\n{\"mail\": \"kay@field.example\"}\n</tool_result>", valueindex.Field},
		{"<out>```\nmail: kay@field.example\n```</out>", valueindex.Field},
		{"<<kay@field.example>>", valueindex.Field},
		{"<out a=b>{\"mail\": \"kay@field.example\"}</out>", valueindex.Text},
		{"<<{\"mail\": \"kay@field.example\"}>> and <<more>>", valueindex.Text},
		{"```\nhello\n```\n{\"mail\": \"kay@field.example\"}\n```\n```", valueindex.Text},
		{"<" + strings.Repeat("x", 80) + ">kay@field.example</x>", valueindex.Text},
	} {
		if got := context("hello", c.content).Of("kay@field.example"); got.Class != c.want {
			t.Errorf("in %q: got %+v, want %v", c.content, got, c.want)
		}
	}
}

// BEY-01
func TestStructureThatIsNearlyRight(t *testing.T) {
	const value = "kay@field.example"
	for _, content := range []string{
		`{"m" "` + value + `"}`, `{"m":["` + value + `"`, `[` + value + ` is it]`, `["` + value + `" x]`, `{"m":"` + value + `" "b"}`,
		`["` + value + `", date(1, "x")]`, `["` + value + `", date(1`, `["` + value + `", "\u12"]`, `["` + value + `", "\uzzzz"]`, `["` + value + `", "\`,
		"---\n", "m: " + value + "\nn:\n\tx\n", "m: " + value + "\n  b: c\n", "- a: 1\n   b: " + value + "\n", "m: '" + value, "m: '" + value + "' x\n",
		"m: 'a\nb'\nn: " + value + "\n", "m: |2-x\n  " + value + "\n", "m: \"" + value + "\\u12\"\n", "? m\n: " + value + "\n", "m: " + value + "\n- x\n",
		"'m\\': " + value + "\n", "m: [" + value + "\nn: x\n", "- \n\t" + value, strings.Repeat("- ", 80) + value,
		"name,mail\nKay," + value + "\n", "name,mail\n\"Kay\" x," + value + "\nb,c\n", "name,mail\n\"Kay," + value + "\nb,c\n", "name,name\nKay," + value + "\nb,c\n",
		"1,2\nKay," + value + "\nb,c\n", "na!me,mail\nKay," + value + "\nb,c\n", "name,mail\nKay," + value + ",x\nb,c\n",
		"| a | b |\n| " + value + " | x |", "| a | b |\n|---|\n| " + value + " | x |", "| a | b |\n|---|-x-|\n| " + value + " | x |",
		"| a | b |\n|---|---|\n| " + value + " |", "| a | b |\n|---|---|\n" + value, "| a |\n" + value + "\nx\n",
	} {
		got := context("hello", content).Of(value)
		if got.Class > valueindex.Text {
			t.Errorf("in %q: got %+v, want text at best", content, got)
		}
	}
	for _, content := range []string{
		"m: " + value + "\nn:\nb: \"\\b\\t\\r\\_\\U0001F600 x\"\n", "- " + value + "\n-\n- x\n", "m: |\n  text\n\n  more\nn: " + value + "\n",
		"- \n  m: " + value + "\n  n: ~\n", "m: a long plain\n  scalar\nn: " + value + "\n", "[\"" + value + "\", \"\\ud83d x\", \"\\ud83d\\u0041\"]",
		"mail,name\r\n" + value + ",\"K\"\"ay\"\r\nb,\"c\"\r\n",
		"{'m': '" + value + "', 'n': '\\x41\\\\'}", "---\nm: " + value + "\nn: []\n",
	} {
		if got := context("hello", content).Of(value); got.Class != valueindex.Field {
			t.Errorf("in %q: got %+v, want a field", content, got)
		}
	}
}

// A letter that is several once it is folded stands before a dot: what is behind the dot is looked at where it stands, and nothing is read
// beyond the end.
func TestALetterThatIsSeveralBeforeADot(t *testing.T) {
	for _, text := range []string{"﷼.ǅ", "﷼.x", "ﷺ.aa", "ﷺ.example", "㎏.Thanks", "﷼.ǅ:80"} {
		x := valueindex.New(0)
		x.User(text)
	}
	if got := valueindex.Targets("㎏done.Thanks"); len(got) > 0 {
		t.Errorf("the end of a sentence counts as %v", got)
	}
}
