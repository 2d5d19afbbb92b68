package redact_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/redact"
)

// VER-09: an account number is what people say whom to pay by; a card number is a secret.
func TestAnAccountNumberIsNoCard(t *testing.T) {
	r := redact.New()
	for _, tt := range []struct{ name, in, want string }{
		{"German, in groups, with digits of a card", "pay DE77 3700 4004 4053 2000 09 today", ""},
		{"British, with letters", "GB29 NWBK 6016 1331 9268 19", ""},
		{"with dashes", "DE89-3704-0044-0532-0130-00", ""},
		{"a card after it", "DE89 3704 0044 0532 0130 00 4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00 [REDACTED]"},
		{"a wrong check", "DE88 4111 1111 1111 1111 00", "DE88 [REDACTED]"},
		{"a country without any", "US12 4111 1111 1111 1111", "US12 [REDACTED]"},
		{"too long for its country", "DE89 3704 0044 0532 0130 00X 4111111111111111", "DE89 3704 0044 0532 0130 00X [REDACTED]"},
		{"a card alone", "4111 1111 1111 1111", "[REDACTED]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				tt.want = tt.in
			}
			if got := r.Text(tt.in); got != tt.want {
				t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestRemovedIsWhatTextTakesAway(t *testing.T) {
	token := "ghp_" + letters[:30]
	r := redact.New()
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "mail bob", nil},
		{"a token in a sentence", "use " + token + " please", []string{token, "use " + token + " please"}},
		{"a password beside its name", "log in,\npassword=hunter22x\nthanks", []string{"hunter22x", "password=hunter22x"}},
		{"two cards", "4111 1111 1111 1111 or 5500 0000 0000 0004", []string{
			"4111 1111 1111 1111", "4111 1111 1111 1111 or 5500 0000 0000 0004",
			"5500 0000 0000 0004", "4111 1111 1111 1111 or 5500 0000 0000 0004",
		}},
		{"the mark itself", "what does [REDACTED] mean", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, r.Removed(tt.in)); diff != "" {
				t.Errorf("Removed(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// Whatever is told was there, and there is never more of it than agreed.
func TestRemovedHoldsOnlyWhatWasThere(t *testing.T) {
	r := redact.New()
	pieces := []string{"pay ", "password=", "hunter22x", " ", "\n", "4111 1111 1111 1111", "[REDACTED]", "ghp_" + letters[:30], "\u200b", "é", "https://u:pw123456@h.example/"}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), "")
		got := r.Removed(s)
		if len(got) > 32 {
			t.Fatalf("%d pieces", len(got))
		}
		for _, p := range got {
			if !strings.Contains(s, p) && !strings.Contains(strings.ReplaceAll(s, "\u200b", ""), p) {
				t.Fatalf("Removed(%q) tells %q", s, p)
			}
		}
	})
}
