package reader_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/tool"
)

// line is one sentence of a language's file.
type line struct {
	head string // the tool of an order, or the kind of a trap
	text string
	need []string // what must be bound
}

func tools(t testing.TB) []reader.Tool {
	t.Helper()
	raw, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Name, Description string
		Schema            json.RawMessage
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	var out []reader.Tool
	for _, d := range list {
		m := toolinfo.Of(tool.Definition{Name: d.Name, Description: d.Description, Schema: d.Schema})
		out = append(out, reader.ToolOf(arguments.NameWords(d.Name), m, vocabulary.Shipped()))
	}
	return out
}

// languages are the sentences of each language's file.
func languages(t testing.TB) map[string]map[string][]line {
	t.Helper()
	files, err := filepath.Glob("testdata/languages/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	out := map[string]map[string][]line{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lang := strings.TrimSuffix(filepath.Base(f), ".txt")
		out[lang] = map[string][]line{}
		part := ""
		for l := range strings.Lines(string(raw)) {
			head, text, ok := strings.Cut(strings.TrimSpace(l), " | ")
			if !ok {
				part = head
				continue
			}
			one := line{head: head}
			for piece := range strings.SplitSeq(text, "{") {
				if inside, _, ok := strings.Cut(piece, "}"); ok {
					one.need = append(one.need, inside)
				}
			}
			one.text = strings.NewReplacer("{", "", "}", "", `\n`, "\n").Replace(text)
			out[lang][part] = append(out[lang][part], one)
		}
	}
	return out
}

// understood reports whether an order gives an item for its tool, with all that it names bound.
func understood(m *mandate.Mandate, l line) string {
	got := "no item"
	for _, it := range m.Items {
		if it.Tool != l.head {
			got = "an item for " + it.Tool
			continue
		}
		missing := ""
		for _, n := range l.need {
			if !bound(it, n) {
				missing = "not bound: " + n
			}
		}
		if missing == "" {
			return ""
		}
		got = missing
	}
	return got
}

func bound(it mandate.Item, need string) bool {
	for _, list := range it.Args {
		for _, s := range list {
			if slices.Contains(s.What, need) || s.How == mandate.From && strings.Contains(s.Of, need) ||
				s.How == mandate.Calc && strings.Contains(strings.Join(s.What, " "), need) || s.How == mandate.Write && strings.Contains(s.Of, need) {
				return true
			}
		}
	}
	return false
}

// TestNoTrapGivesAnItem: what is negated, reported, quoted, done, asked to know or hangs on a condition orders nothing.
// MAN-08
func TestNoTrapGivesAnItem(t *testing.T) {
	list := tools(t)
	for lang, parts := range languages(t) {
		if len(parts["traps"]) < 20 || len(parts["orders"]) < 20 {
			t.Errorf("%s: %d orders and %d traps", lang, len(parts["orders"]), len(parts["traps"]))
		}
		for _, l := range parts["traps"] {
			m := reader.Certain(reader.Read(l.text, list, vocabulary.Shipped()))
			for _, it := range m.Items {
				t.Errorf("%s, %s: %q gives %s", lang, l.head, l.text, it.Tool)
			}
		}
	}
}

// TestShareOfOrders keeps the figures: how many of the plain orders of a language are understood, and which languages are
// claimed for it.
func TestShareOfOrders(t *testing.T) {
	list := tools(t)
	var out strings.Builder
	all := languages(t)
	for _, lang := range vocabulary.Languages() {
		orders := all[lang]["orders"]
		n := 0
		for _, l := range orders {
			if why := understood(reader.Certain(reader.Read(l.text, list, vocabulary.Shipped())), l); why != "" {
				t.Logf("%s: %q: %s", lang, l.text, why)
			} else {
				n++
			}
		}
		claim := "claimed"
		if 2*n < len(orders) || n == 0 {
			claim = "not claimed"
		}
		fmt.Fprintf(&out, "%s %d of %d %s\n", lang, n, len(orders), claim)
	}
	t.Log("\n" + out.String())
	want, _ := os.ReadFile("testdata/figures.txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("testdata/figures.txt", []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(want) != out.String() {
		t.Errorf("testdata/figures.txt says\n%s, and it is\n%s", want, out.String())
	}
}
