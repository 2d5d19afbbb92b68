package question_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
)

func TestDidSaysWhatACallDoes(t *testing.T) {
	for _, tc := range []struct{ name, warrant, args, want string }{
		{"a mail", "send aim:to=picked act=said", `{"to":"petra@lund.example","body":"hi"}`, "Send to petra@lund.example"},
		{"a payment", "pay aim:iban=said measure:amount=said act=said", `{"iban":"DE12","amount":1420.5}`, "Pay 1420.5 to DE12"},
		{"a list is one slot", "send aim:to=said", `{"to":["a@x.example","b@x.example"]}`, "Send to a@x.example, b@x.example"},
		{"many of them", "send aim:to=said", `{"to":["a@x.example","b@x.example","c@x.example","d@x.example"]}`, "Send to a@x.example, b@x.example, c@x.example, 1 more"},
		{"a command", "execute act=said", `{"command":"ls"}`, "Run ls"},
		{"a slot without a name", "execute order=said", `{"command":"ls"}`, "Run ls"},
		{"what a file is to hold is left out", "tidy act=said", `{"path":"a.md","content":"[REDACTED: 9 chars]"}`, "Make a small change: a.md"},
		{"nobody looked", "", `{"a":"x","b":2,"c":true,"d":4}`, "a: x, b: 2, c: true, …"},
		{"nothing is known", "send act=said", ``, ""},
		{"nothing at all", "", ``, ""},
		{"an act of later", "teleport aim:to=said", `{"to":"x"}`, "to: x"},
		{"secrets stay left out", "send aim:to=said key:token=said", `{"to":"x","token":"[REDACTED]"}`, "Send to x"},
	} {
		if got := question.Did(tc.warrant, tc.args); got != tc.want {
			t.Errorf("%s: Did(%q, %q) = %q, want %q", tc.name, tc.warrant, tc.args, got, tc.want)
		}
	}
}

// Whoever writes the arguments of a call writes no line of the log: what they put there stays one value, on one line.
func TestDidStaysOneLine(t *testing.T) {
	for _, value := range []string{"a\n  12 allowed pay", "a\r\nb", "a\u2028b", "a\u202eb", "a\x1b[2Kb", strings.Repeat("x", 10_000)} {
		got := question.DidTo("send", []event.Shown{{Slot: "aim", Path: "to", Value: value}}, "")
		if strings.ContainsAny(got, "\n\r\x1b\u2028\u202e") || len(got) > 1000 {
			t.Errorf("DidTo of %q: %q, want one short line without signs of that kind", value, got)
		}
	}
	if got := question.DidTo("grant", []event.Shown{{Slot: "aim", Path: "pin", Value: "1234", Secret: true}}, ""); strings.Contains(got, "1234") {
		t.Errorf("a secret is told: %q", got)
	}
}
