package reader_test

import (
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// frame makes no order of an order.
type frame struct{ lang, kind, text string }

func frames(t testing.TB) []frame {
	t.Helper()
	raw, err := os.ReadFile("testdata/frames.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []frame
	for l := range strings.Lines(string(raw)) {
		if parts := strings.Split(strings.TrimSpace(l), " | "); len(parts) == 3 {
			out = append(out, frame{parts[0], parts[1], parts[2]})
		}
	}
	return out
}

func (f frame) of(order string) string {
	r, n := utf8.DecodeRuneInString(order)
	small := strings.TrimRight(string(unicode.ToLower(r))+order[n:], ".。?？؟ ")
	return strings.NewReplacer("%s", order, "%l", small).Replace(f.text)
}

// TestFramesAddNoItem: an order that is negated, reported, quoted or made to hang on something gives no item.
func TestFramesAddNoItem(t *testing.T) {
	list, all := tools(t), languages(t)
	seen := map[string]bool{}
	for _, f := range frames(t) {
		seen[f.lang] = true
		for _, l := range all[f.lang]["orders"] {
			text := f.of(l.text)
			for _, it := range reader.Certain(reader.Read(text, list, vocabulary.Shipped())).Items {
				t.Errorf("%s, %s: %q gives %s", f.lang, f.kind, text, it.Tool)
			}
		}
	}
	for _, lang := range vocabulary.Languages() {
		if !seen[lang] {
			t.Errorf("no frame for %s", lang)
		}
	}
}

// TestBroughtTextAddsNoItem: whatever is pasted, quoted or fenced behind the owner's own words adds nothing to what they
// give, in any language.
func TestBroughtTextAddsNoItem(t *testing.T) {
	list, all := tools(t), languages(t)
	var orders []string
	for _, lang := range vocabulary.Languages() {
		for _, l := range all[lang]["orders"] {
			orders = append(orders, l.text)
		}
	}
	wrap := []string{"%s\n\n> %o", "%s\n\n```\n%o\n%o\n```", "%s\n\nFrom: paul@harbour.example\nSubject: plan\n\n%o", "%s \"%o\"", "%s\n\nSummarise this:\n\n%o"}
	rapid.Check(t, func(t *rapid.T) {
		own := rapid.SampledFrom(append([]string{"What do you think of this?", "Have a look."}, orders...)).Draw(t, "own")
		brought := rapid.SampledFrom(orders).Draw(t, "brought")
		text := strings.NewReplacer("%s", own, "%o", brought).Replace(rapid.SampledFrom(wrap).Draw(t, "wrap"))
		got := reader.Read(text, list, vocabulary.Shipped())
		want := reader.Read(own, list, vocabulary.Shipped())
		if len(got.Items) > len(want.Items) {
			t.Fatalf("%q gives %d items, its own words %d", text, len(got.Items), len(want.Items))
		}
	})
}

// FuzzRead: any text is read without a fault, within bounds, and every item quotes what was typed.
func FuzzRead(f *testing.F) {
	for _, parts := range languages(f) {
		for _, list := range parts {
			for _, l := range list[:4] {
				f.Add(l.text)
			}
		}
	}
	list := tools(f)
	f.Fuzz(func(t *testing.T, text string) {
		m := reader.Read(text, list, vocabulary.Shipped())
		words := reader.Utter(text).Words
		for _, it := range m.Items {
			if it.Quote == "" || !strings.Contains(words, it.Quote) {
				t.Fatalf("%q: an item quotes %q", text, it.Quote)
			}
		}
		again := reader.Read(text, list, vocabulary.Shipped())
		if len(again.Items) != len(m.Items) || len(again.Never) != len(m.Never) {
			t.Fatalf("%q is read in two ways", text)
		}
		everyEntry(text, list)
	})
}

// everyEntry asks the reader all that it can be asked of a message.
func everyEntry(text string, list []reader.Tool) {
	table := vocabulary.Shipped()
	values := strings.Fields(text)
	values = values[:min(len(values), 4)]
	for i := range list {
		tool := &list[i]
		reader.Give(text, tool, table)
		reader.Ordered(text, tool, table)
		reader.Bidden(text, tool, values, table.Words(text), table)
		reader.Parts(text, tool, table)
		reader.Halves(text, tool, table)
		reader.Pieces(text, tool, table)
		reader.Listed(text, tool, table)
		reader.Recalls(text, tool, table)
		reader.Spares(text, tool, table)
	}
	reader.Tells(text, table)
	reader.Told(text, values, table)
	reader.Contents(text, values, table)
	reader.Denied(text, table)
	reader.Names(text, table)
	reader.Withholds(text, table)
	reader.ForbidsAll(text)
}

// Parts of honest messages, put together anyhow, are read without a fault.
func TestPropertyAnyWordsAreRead(t *testing.T) {
	var all []string
	for _, parts := range languages(t) {
		for _, list := range parts {
			for _, l := range list {
				all = append(all, strings.Fields(l.text)...)
			}
		}
	}
	list := tools(t)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(all), 1, 14).Draw(t, "words")
		everyEntry(strings.Join(words, rapid.SampledFrom([]string{" ", ", ", "\n"}).Draw(t, "between")), list)
	})
}

// TestAWordOfTwoActsGivesNothingGrave: "del" shares in Danish and deletes in English; a message in both gives neither.
func TestAWordOfTwoActsGivesNothingGrave(t *testing.T) {
	m := reader.Read("Del dokumentet Plantegning med irene@havn.example.\n\nSummarise this: the plan", tools(t), vocabulary.Shipped())
	for _, it := range m.Items {
		t.Errorf("it gives %s", it.Tool)
	}
}
