package question_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/trust"
)

const letter = "it stands in the text of read_mail at step 1: "

// row is a row of a card by its name.
func row(c *question.Card, name string) string {
	for _, l := range c.Lines() {
		if l.Name == name {
			return l.Text
		}
	}
	return ""
}

// MAN-10: values that stand in one passage are told once, with the passage put together; nothing of what differs is lost.
func TestOnePassageIsToldOnce(t *testing.T) {
	host, base, other := value("aim", "host", "db.x.example", true), value("object", "database", "sales", true), value("object", "name", "edge", true)
	host.Why = letter + "“…The host is db.x.example, the database is…”"
	base.Why = letter + "“…db.x.example, the database is sales, and no more.”"
	other.Why = "it stands in the text of read_page at step 2: “call it edge”"
	got := row(cardOf("create", "add_server", "Read it", host, base, other), question.Why)
	want := "host, database: they stand in the text of read_mail at step 1: “…The host is db.x.example, the database is sales, and no more.”\n" +
		"name: it stands in the text of read_page at step 2: “call it edge”"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	base.From = "the text of read_mail at step 1, written by Bo"
	if got := row(cardOf("create", "add_server", "Read it", host, base), question.Why); strings.Count(got, "\n") != 1 || !strings.Contains(got, "; written by Bo") {
		t.Errorf("what is said of one of them is said of both, or lost:\n%s", got)
	}
	base.From, base.Why = "", letter+"“…quite elsewhere: sales.”"
	got = row(cardOf("create", "add_server", "Read it", host, base), question.Why)
	if !strings.Contains(got, "“…The host is db.x.example, the database is … quite elsewhere: sales.”") {
		t.Errorf("passages that are apart: %s", got)
	}
}

// MAN-10: a value that is asked about for two reasons has its source and its author once.
func TestNoReasonIsToldTwice(t *testing.T) {
	a, b := value("measure", "amount", "50", true), value("object", "amount", "50", true)
	a.From, b.From = "field amount of list_payments at step 2, written by me", "field amount of list_payments at step 2, written by me"
	a.Why, b.Why = "it is not what you said", "I could not work it out"
	got := row(cardOf("pay", "pay", "Pay it", a, b), question.Why)
	if want := "amount = 50: it is not what you said; it comes from " + a.From + "; I could not work it out"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	a.Why, b.Why = "I could not find it in your words", "a switch that I could not find in your words"
	a.From, b.From = "", ""
	if got := row(cardOf("pay", "pay", "Pay it", a, b), question.Why); got != "amount = 50: a switch that I could not find in your words" {
		t.Errorf("got %q", got)
	}
}

// MAN-10: sources that there is no room for are named.
func TestNoSourceIsOnlyCounted(t *testing.T) {
	c := bill()
	c.Sources = nil
	for i, tool := range []string{"read_a", "read_b", "read_c", "read_d", "read_e"} {
		c.Sources = append(c.Sources, trust.Source{Level: trust.Untrusted, Step: uint64(i + 1), Kind: "tool_result", Tool: tool, Excerpt: "x"})
	}
	if got := row(c, question.Read); !strings.HasSuffix(got, "\nand read_e at step 5") {
		t.Errorf("got %q", got)
	}
}

// A text of several lines that the call shows is not told again beside why it is asked, however the log keeps it.
func TestATextOfSeveralLinesIsToldOnce(t *testing.T) {
	v := value("cargo", "content", "first line second line", true)
	v.Why = "it holds what was read elsewhere"
	c := cardOf("send", "post", "Read it", v)
	c.Args = `{"content":"first line\nsecond line"}`
	if got := row(c, question.Why); strings.Contains(got, strings.Repeat("first", 2)) || !strings.HasPrefix(got, "content") {
		t.Errorf("got %q", got)
	}
	long := event.Shown{Slot: "cargo", Path: "content", Lacks: true, Why: "it holds what was read elsewhere", Value: strings.Repeat("word ", 60)}
	c = cardOf("send", "post", "Read it", long)
	c.Args = `{"content":"` + strings.TrimSpace(strings.Repeat(`word\n`, 60)) + `"}`
	if got := row(c, question.Why); got != "content: it holds what was read elsewhere" {
		t.Errorf("got %q", got)
	}
}
