package vocabulary_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// check holds what must be true of every reading of every text.
func check(t interface{ Fatalf(string, ...any) }, text string, words []vocabulary.Word) {
	at, sentence := 0, 0
	for _, w := range words {
		switch {
		case w.Start < at || w.End < w.Start || w.End > len(text):
			t.Fatalf("%q: %q stands at %d to %d after %d", text, w.Text, w.Start, w.End, at)
		case w.Text == "":
			t.Fatalf("%q: an empty word at %d", text, w.Start)
		case w.Sentence < sentence:
			t.Fatalf("%q: sentence %d after %d", text, w.Sentence, sentence)
		case len(w.Acts)+len(w.Things) > 0 && w.Langs == 0:
			t.Fatalf("%q: %q means something in no language", text, w.Text)
		case w.Stem == "":
			t.Fatalf("%q: %q has no stem", text, w.Text)
		}
		at, sentence = w.Start, w.Sentence
	}
}

func TestWordsStandInTheirText(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"send", "the", "mach", "aus", "l'", "’", "-", "/", ".", "@", " ", "\n", "请", "削除し", "ない", "보내", "줘", "ال",
		"ｓｅｎｄ", "ﾒｰﾙ",
		"e\u0301", "\u1112\u1161\u11ab", "\xff", "\x00", "_", "12", "$", "http://", "pull", "request", "do", "what", "says", "İ", "ß",
	})
	rapid.Check(t, func(t *rapid.T) {
		joined := rapid.Map(rapid.SliceOf(pieces), func(p []string) string { return strings.Join(p, "") })
		text := rapid.OneOf(rapid.String(), joined).Draw(t, "text")
		check(t, text, load().Words(text))
		check(t, text, load().Name(text))
		_ = load().Stem(text)
	})
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{
		"Turn it off", "don’t", "l'été", "请把a.txt发给b@c.de", "ﾒｰﾙを消して", "삭제하지마", "ولا تحذف", "\xff\xfe", "a/b.c_d",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := load().Words(text)
		check(t, text, words)
		check(t, text, load().Name(text))
		if utf8.ValidString(text) && len(words) > len(text) {
			t.Fatalf("%q has %d words", text, len(words))
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		vocabulary.Load()
	}
}

func BenchmarkWords(b *testing.B) {
	for name, sentence := range map[string]string{
		"English": "Please find the latest invoice from Acme in my inbox and forward it to tom@example.com, then add a reminder. ",
		"German":  "Bitte leite die neueste Rechnung von Acme an Tom weiter und trag dann eine Erinnerung in meinen Kalender ein. ",
		"Chinese": "请把最新的发票转发给王芳，然后在日历里添加一个提醒，不要删除原来的邮件。",
	} {
		text := strings.Repeat(sentence, 2000/len(sentence)+1)[:2000]
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				load().Words(text)
			}
		})
	}
}
