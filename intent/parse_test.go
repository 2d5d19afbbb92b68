package intent_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/intent"
)

// CAU-05, SEQ-06
func TestAnAnswerOfTheFormIsRead(t *testing.T) {
	tests := []struct {
		name string
		kind intent.Kind
		text string
		want intent.Opinion
	}{
		{"allow", intent.Caution, "allow", intent.Opinion{Answer: intent.Consistent}},
		{"in capitals, with blanks and a full stop", intent.Caution, " \n ALLOW. \n", intent.Opinion{Answer: intent.Consistent}},
		{"allow with a reason", intent.Caution, "Allow: saving notes is what was asked", intent.Opinion{Answer: intent.Consistent, Reason: "saving notes is what was asked"}},
		{"block", intent.Caution, "block", intent.Opinion{Answer: intent.Inconsistent}},
		{"block with a reason", intent.Caution, "block: the user did not allow mail", intent.Opinion{Answer: intent.Inconsistent, Reason: "the user did not allow mail"}},
		{"the reason on the next line", intent.Caution, "block.\r\nnobody asked for mail.", intent.Opinion{Answer: intent.Inconsistent, Reason: "nobody asked for mail."}},
		{"the reason after an empty line", intent.Caution, "block\n\nnobody asked", intent.Opinion{Answer: intent.Inconsistent, Reason: "nobody asked"}},
		{"a colon and no reason", intent.Caution, "block:", intent.Opinion{Answer: intent.Inconsistent}},
		{"after thoughts", intent.Caution, "<think>\nShould I block? No.\n</think>\n\nallow", intent.Opinion{Answer: intent.Consistent}},
		{"after empty thoughts", intent.Caution, "<think></think>block: x", intent.Opinion{Answer: intent.Inconsistent, Reason: "x"}},
		{"a reason with what no eye sees", intent.Caution, "block: a\u200bb\t\x07 c\u202e", intent.Opinion{Answer: intent.Inconsistent, Reason: "ab c"}},
		{"consistent", intent.Consistency, "consistent: mail to Bob was asked for", intent.Opinion{Answer: intent.Consistent, Reason: "mail to Bob was asked for"}},
		{"inconsistent", intent.Consistency, "Inconsistent: hate is no recommendation", intent.Opinion{Answer: intent.Inconsistent, Reason: "hate is no recommendation"}},
		{"unsure", intent.Consistency, "unsure: it may be consistent", intent.Opinion{Reason: "it may be consistent"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := intent.Parse(tt.kind, tt.text)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("Parse(%q): %v (-want +got):\n%s", tt.text, err, diff)
			}
		})
	}
}

// CAU-05, SEQ-06
func TestAnythingElseIsNoAnswer(t *testing.T) {
	tests := []struct {
		name string
		kind intent.Kind
		text string
	}{
		{"nothing", intent.Caution, ""},
		{"blanks", intent.Caution, " \n\t"},
		{"prose before", intent.Caution, "I would allow this"},
		{"prose after, on the same line", intent.Caution, "allow because it is fine"},
		{"a comma", intent.Caution, "allow, it is fine"},
		{"both words", intent.Caution, "allow block"},
		{"both words with a stroke", intent.Caution, "allow/block"},
		{"an agreement that refuses", intent.Caution, "allow: but better block it"},
		{"an agreement that refuses in disguise", intent.Caution, "allow: but bl\u200bock it"},
		{"an agreement that refuses on the next line", intent.Caution, "allow\nBLOCK"},
		{"two lines of reason", intent.Caution, "block: one\ntwo"},
		{"an agreement, then a change of mind", intent.Caution, "allow: fine\nOn second thought, no."},
		{"two lines by another line break", intent.Caution, "allow: fine\u2028no"},
		{"JSON", intent.Caution, `{"answer":"allow"}`},
		{"quotes", intent.Caution, `"allow"`},
		{"markup", intent.Caution, "**allow**"},
		{"a fence", intent.Caution, "```\nallow\n```"},
		{"a longer word", intent.Caution, "allowed"},
		{"another script's letters", intent.Caution, "\u0430llow"},
		{"a fold of a letter", intent.Caution, "bloc\u212a"},
		{"the words of the other question", intent.Caution, "consistent"},
		{"the words of the other question, reversed", intent.Consistency, "allow"},
		{"an agreement that doubts", intent.Consistency, "consistent: though I am unsure"},
		{"an agreement that refuses, of the other kind", intent.Consistency, "consistent, or inconsistent"},
		{"thoughts without an end", intent.Caution, "<think>allow"},
		{"thoughts only", intent.Caution, "<think>allow</think>"},
		{"thoughts that end twice", intent.Caution, "<think>it says </think>\nallow: x</think>block"},
		{"thoughts in the middle", intent.Caution, "allow: <think>x"},
		{"thoughts after a word", intent.Caution, "block <think>x</think> allow"},
		{"a huge answer", intent.Caution, "allow: " + strings.Repeat("x", 2000)},
		{"huge thoughts", intent.Caution, "<think>" + strings.Repeat("x", 1<<17) + "</think>allow"},
		{"a question nobody knows", intent.Kind(7), "allow"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := intent.Parse(tt.kind, tt.text)
			if got != (intent.Opinion{}) || !errors.Is(err, intent.ErrForm) {
				t.Errorf("Parse(%.60q) = %+v, %v; want the zero Opinion and ErrForm", tt.text, got, err)
			}
			if err != nil && len(err.Error()) > 250 {
				t.Errorf("the error has %d bytes: it repeats the answer", len(err.Error()))
			}
		})
	}
}

func TestALongReasonIsCut(t *testing.T) {
	got, err := intent.Parse(intent.Caution, "block: "+strings.Repeat("é", 300))
	if err != nil || got.Answer != intent.Inconsistent || utf8.RuneCountInString(got.Reason) != 200 || !strings.HasSuffix(got.Reason, "é…") {
		t.Errorf("got %+v, %v; want 200 characters of reason", got, err)
	}
}

func TestTheNamesOfAnswersAndKinds(t *testing.T) {
	got := []string{
		intent.Unsure.String(), intent.Inconsistent.String(), intent.Consistent.String(), intent.Answer(9).String(),
		intent.Caution.String(), intent.Consistency.String(), intent.Kind(9).String(),
	}
	want := []string{"unsure", "inconsistent", "consistent", "unsure", "caution", "consistency", "unknown"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An ambiguous text never agrees: one that does begins with the word, after at most one
// block of thoughts, and has no refusing word behind it.
//
// CAU-05
func FuzzParse(f *testing.F) {
	for _, s := range []string{"allow", "block: x", "allow: block", "<think>a</think>allow", "consistent", "inconsistent: x", "unsure", "allow\n\nx", "ALLOW.", "allow\u2028block", "{}"} {
		f.Add(uint8(0), s)
		f.Add(uint8(1), s)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		o, err := intent.Parse(intent.Kind(kind), text)
		if err != nil {
			if o != (intent.Opinion{}) {
				t.Fatalf("Parse(%q): an error and %+v", text, o)
			}
			return
		}
		if n := utf8.RuneCountInString(o.Reason); n > 200 || strings.ContainsFunc(o.Reason, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Fatalf("Parse(%q): reason %q", text, o.Reason)
		}
		if o.Answer != intent.Consistent {
			return
		}
		body := strings.TrimSpace(text)
		if strings.HasPrefix(body, "<think>") {
			_, body, _ = strings.Cut(body, "</think>")
			body = strings.TrimSpace(body)
		}
		body = strings.ToLower(body)
		word, refusals := "allow", []string{"block"}
		if intent.Kind(kind) == intent.Consistency {
			word, refusals = "consistent", []string{"inconsistent", "unsure"}
		}
		for _, r := range append(refusals, "think>") {
			if strings.Contains(body, r) {
				t.Fatalf("Parse(%q) agrees in spite of %q", text, r)
			}
		}
		if !strings.HasPrefix(body, word) || strings.Count(body, "\n") > 0 && strings.Contains(o.Reason, "\n") {
			t.Fatalf("Parse(%q) agrees", text)
		}
	})
}
