package text_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/text"
)

func TestWhatHasNoShapeIsSeen(t *testing.T) {
	for in, want := range map[string]string{
		"plain, as it is":    "plain, as it is",
		"a\u200bb":           `a\u200bb`,
		"a\nCall: b":         `a\u000aCall: b`,
		"\u202eright":        `\u202eright`,
		`C:\users\new`:       `C:\users\new`,
		`https:\\a\b`:        `https:\\a\b`,
		`C:\temp`:            `C:\temp`,
		"x\u00a0y\ufeff\x1b": `x\u00a0y\ufeff\u001b`,
		"\xff":               `\xff`,
		"Größe 東京 नमस्ते":    "Größe 東京 नमस्ते",
	} {
		if got := text.Visible(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// MAN-10: two texts that differ are never shown alike, and nothing shown acts on whoever shows it.
func TestTwoTextsAreNeverShownAlike(t *testing.T) {
	signs := []string{"a", "\\", "n", "u", "x", "0", "\n", "\u200b", "\u202e", "\xff", "\ufffd", " ", "\t", "\u00a0", "é", "200b", "U", "\ue004", "1", "\U000e0041"}
	word := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(signs), 0, 8).Draw(t, "signs"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if a != b && text.Visible(a) == text.Visible(b) {
			t.Fatalf("%q and %q are both shown as %s", a, b, text.Visible(a))
		}
		for _, r := range text.Visible(a) {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
				t.Fatalf("%q is shown with %U", a, r)
			}
		}
	})
}

// MAN-10
func TestWhatCouldBeTakenForWhatWasSaidIsFound(t *testing.T) {
	said := []string{"Mail petra@holm.example and pay invoice inv-7781 of Nordprint"}
	for value, want := range map[string]string{
		"petra@holm.example":           "",
		"PETRA@holm.example":           "",
		"p\u0435tra@holm.example":      "petra@holm.example", // a Cyrillic letter
		"petra@ho1m.example":           "petra@holm.example",
		"petra@h\u200bolm.example":     "petra@holm.example",
		"petra@holm.exampl":            "petra@holm.example",
		"inv-7787":                     "inv-7781",
		"N\u043erdprint":               "nordprint",
		"kes@quick.example":            "",
		"petra@holm.example and so on": "",
	} {
		if got := text.Alike(value, said); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
	for value, want := range map[string]bool{
		"petra@holm.example": false, "p\u0435tra": true, "Петра": false, "Москва office": false, "日本 tea": false, "Ωmega": true,
	} {
		if got := text.Mixed(value); got != want {
			t.Errorf("%q is mixed: %v", value, got)
		}
	}
}
