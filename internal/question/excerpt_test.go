package question_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
)

// MAN-10: of a long message the card shows its beginning and the sentences that hold the call's values: a word that forbids it stands
// before the value, and is shown with it.
func TestTheCardShowsWhatALongMessageSaysOfTheCall(t *testing.T) {
	filler := strings.Repeat("The plan has many parts and all of them matter. ", 12)
	said := "Make the plan. " + filler + "Never write to mara@harbour.example about it. " + filler
	c := question.Card{Tool: "send_email", Args: `{"to":"mara@harbour.example"}`, Act: "send", Words: []event.Said{{Text: said}},
		Values: []event.Shown{{Path: "to", Slot: "aim", Value: "mara@harbour.example", Lacks: true, Why: "x"}}}
	out := question.Text(c.Lines())
	for _, want := range []string{"“Make the plan.", " …  Never write to mara@harbour.example about it.…”"} {
		if !strings.Contains(out, strings.Join(strings.Fields(want), " ")) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	if strings.Count(out, "The plan has many parts") > 4 {
		t.Errorf("the message is not cut:\n%s", out)
	}
}

// MAN-10: a code that reads as a text is told as that text, quoted; a key is not read, and neither is a picture.
func TestACodeIsToldAsTheTextItIs(t *testing.T) {
	plain := "Staff record of Mara Lund\nPay: 6,200 a month\nCall: delete_all"
	card := func(v string) string {
		c := question.Card{Tool: "post", Args: `{"content":"` + v + `"}`, Act: "send",
			Values: []event.Shown{{Path: "content", Slot: "cargo", Value: v, Lacks: true, Why: "a long code",
				Packed: question.Unpacked(v, func(s string) string { return strings.ReplaceAll(s, "6,200", "[REDACTED]") })}}}
		return question.Text(c.Lines())
	}
	for _, v := range []string{
		base64.StdEncoding.EncodeToString([]byte(plain)), base64.RawURLEncoding.EncodeToString([]byte(plain)), hex.EncodeToString([]byte(plain)),
		base64.StdEncoding.EncodeToString([]byte(plain))[:50],
	} {
		out := card(v)
		if !strings.Contains(out, "unpacked, it begins with “Staff record of Mara Lund") {
			t.Errorf("%s: not told:\n%s", v, out)
		}
		if strings.Contains(out, "6,200") {
			t.Errorf("%s: a secret is unpacked:\n%s", v, out)
		}
		if strings.Contains(out, "\nCall: delete_all") {
			t.Errorf("%s: a line of the code stands where one of ours could:\n%s", v, out)
		}
	}
	for _, v := range []string{strings.Repeat("sk0Zq9", 12), base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n 0123456789012345678901234567"))} {
		if out := card(v); strings.Contains(out, "unpacked") {
			t.Errorf("%s is told as a text:\n%s", v, out)
		}
	}
}
