package redact_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/redact"
)

func TestSecretsAreRemoved(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"an OpenAI-style key", "key sk-proj-abcdefghijklmnop1234 end", "key [REDACTED] end"},
		{"a plain sk key", "sk-abcdefghijklmnopqrst", "[REDACTED]"},
		{"a payment key", "use sk_live_4eC39HqLyjWDarjtT1zdp7dc", "use [REDACTED]"},
		{"a code host token", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[REDACTED]"},
		{"a fine-grained token", "github_pat_11ABCDEFG0abcdefghijkl_x", "[REDACTED]"},
		{"a chat token", "xoxb-1234567890-abcdef", "[REDACTED]"},
		{"a package token", "npm_abcdefghijklmnopqrstuvwxyz012345", "[REDACTED]"},
		{"a cloud key", "id AKIAIOSFODNN7EXAMPLE.", "id [REDACTED]."},
		{"a maps key", "AIzaSyA1234567890abcdefghijklmnopqrstu", "[REDACTED]"},
		{"a web token", "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSM", "[REDACTED]"},
		{"a bearer header", "Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [REDACTED]"},
		{"a password in a URL", "postgres://bob:hunter2@db/x", "postgres://bob:[REDACTED]@db/x"},
		{"an assignment", "PASSWORD=correcthorse; ls", "PASSWORD=[REDACTED]; ls"},
		{"a JSON field", `{"api_key": "0123456789"}`, `{"api_key": "[REDACTED]"}`},
		{"a JSON field inside a JSON string", `{\"password\":\"0123456789\"}`, `{\"password\":\"[REDACTED]\"}`},
		{"a name that ends in password", "export DB_PASSWORD=correcthorse", "export DB_PASSWORD=[REDACTED]"},
		{"a name that goes on after secret", "AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI/K7", "AWS_SECRET_ACCESS_KEY: [REDACTED]"},
		{"a basic header", "authorization: basic dXNlcjpodW50ZXIy", "authorization: basic [REDACTED]"},
		{"a password in a URL without a user", "redis://:hunter2@cache", "redis://:[REDACTED]@cache"},
		{"a private key", "a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b", "a [REDACTED] b"},
		{"a private key that was cut", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", "[REDACTED]"},
		{"a card number", "card 4111 1111 1111 1111 ok", "card [REDACTED] ok"},
		{"a card number with dashes", "5500-0000-0000-0004", "[REDACTED]"},
		{"a card number followed by its check value", "4111111111111111 123", "[REDACTED] 123"},
		{"a card number among other numbers", "order 123456 4111-1111-1111-1111 1225", "order 123456 [REDACTED] 1225"},
		{"two secrets", "ghp_abcdefghijklmnopqrstuvwxyz token=abcdef1", "[REDACTED] token=[REDACTED]"},
	}
	r := redact.New()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.Text(tt.in); got != tt.want {
				t.Errorf("Text(%q): got %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestOrdinaryTextStays(t *testing.T) {
	r := redact.New()
	for _, s := range []string{
		"", "please read the meeting notes", "https://example.com/a?b=c", "the token was wrong",
		"4111 1111 1111 1112 is not a card number", "call 0151 2345 6789", "1234567890123456",
		"commit 3f786850e387550fdab836ed7e6dc881de23001b", "bearer of news", "sk-short",
	} {
		if got := r.Text(s); got != s {
			t.Errorf("Text(%q): got %q, want it unchanged", s, got)
		}
	}
}

func TestPreviewIsOneCleanLine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"lines become one", "a\r\nb\n\n\tc", "a b c"},
		{"blanks around go", " \n a \t", "a"},
		{"escape sequences lose their escape", "\x1b[31mred\u009b0m", "[31mred 0m"},
		{"line and paragraph separators are blanks", "a\u2028b\u2029c", "a b c"},
		{"direction overrides go", "a\u202eb\u2066c\u200fd\u061c", "abcd"},
		{"zero widths and tags go", "a\u200bb\ufeffc\U000E0041d", "abcd"},
		{"invisible characters between blanks leave one blank", "a \u202e b", "a b"},
		{"what is not UTF-8 is marked", "a\xffb", "a\uFFFDb"},
		{"a secret is removed before the cut", "ghp_abcdefghijklmnopqrstuvwxyz and so on and on", "[REDACTED] and so on"},
		{"a secret with an invisible character inside is removed", "ghp_abcdefghij\u200bklmnopqrstuvwxyz", "[REDACTED]"},
		{"a secret with a direction override inside is removed", "AKIAIOSF\u202eODNN7EXAMPLE", "[REDACTED]"},
		{"a preview does not end in a blank", "a preview of 20 chars x", "a preview of 20 chars"},
	}
	r := redact.New()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.Preview([]byte(tt.in), 21); got != tt.want {
				t.Errorf("Preview(%q): got %q, want %q", tt.in, got, tt.want)
			}
		})
	}
	if got := r.Preview([]byte("abc"), 0); got != "" {
		t.Errorf("a preview of no characters: got %q", got)
	}
	if got := r.Preview(nil, 5); got != "" {
		t.Errorf("a preview of nothing: got %q", got)
	}
}

// A preview looks at a bounded part of the text. A secret across that bound must not
// show its beginning, wherever the bound falls.
func TestASecretAcrossTheWindowIsNotShown(t *testing.T) {
	r := redact.New()
	secret := "AKIAIOSFODNN7EXAMPLE"
	for _, fill := range []string{" ", "\n", "\u200b", "é", "ghp_abcdefghijklmnopqrstuvwxyz "} {
		for before := range 1200 {
			text := strings.Repeat(fill, before/len(fill)) + strings.Repeat(".", before%len(fill)) + secret + " end"
			if got := r.Preview([]byte(text), 20); strings.Contains(got, "AKIAIOS") {
				t.Fatalf("%d bytes of %q before it: the preview shows the secret: %q", before, fill, got)
			}
		}
	}
}

func TestALongWordIsCutBetweenCharacters(t *testing.T) {
	r := redact.New()
	for _, word := range []string{"é", "漢", "😀", "x"} {
		for shift := range 4 {
			text := strings.Repeat("a", shift) + strings.Repeat(word, 2000)
			if got := r.Preview([]byte(text), 50); !utf8.ValidString(got) || utf8.RuneCountInString(got) != 50 {
				t.Errorf("%d and %q: got %q of %d characters, want 50", shift, word, got, utf8.RuneCountInString(got))
			}
		}
	}
	endless := append([]byte("seen"), make([]byte, 1<<20)...) // a megabyte of nothing
	if got := r.Preview(append(endless, "unseen"...), 50); got != "seen" {
		t.Errorf("got %q, want what comes before", got)
	}
}

func TestTextWithoutSecretsIsNotChangedTwice(t *testing.T) {
	r := redact.New()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		once := r.Text(s)
		if twice := r.Text(once); twice != once {
			t.Fatalf("Text(%q): got %q, and of that %q", s, once, twice)
		}
	})
}

func FuzzPreview(f *testing.F) {
	for _, s := range []string{"", "plain", "a\nb", "\x1b]0;x\x07", "\u202e", "\xff\xfe", "ghp_abcdefghijklmnopqrstuvwxyz", "4111 1111 1111 1111", strings.Repeat("x ", 3000)} {
		f.Add([]byte(s), 100)
	}
	r := redact.New()
	f.Fuzz(func(t *testing.T, text []byte, n int) {
		n = max(0, min(n, 5000))
		got := r.Preview(text, n)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > n {
			t.Fatalf("Preview(%q, %d): got %q of %d characters", text, n, got, utf8.RuneCountInString(got))
		}
		for _, c := range got {
			if unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Fatalf("Preview(%q, %d): got %q, which holds %U", text, n, got, c)
			}
		}
	})
}

func BenchmarkPreview(b *testing.B) {
	r := redact.New()
	text := []byte(strings.Repeat("An ordinary web page with <a href=\"https://example.com\">links</a>. ", 100))
	b.ReportAllocs()
	for b.Loop() {
		r.Preview(text, 100)
	}
}
