package definitions

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
)

// Members are the members of a definition that reach models, in the order in which people read them.
func Members() []string {
	return []string{"name", "title", "description", "inputSchema", "outputSchema"}
}

// Diff is a unified diff of two texts; empty where they are the same.
func Diff(from string, was []byte, to string, is []byte) string {
	out := diff.Diff(from, was, to, is)
	_, out, _ = bytes.Cut(out, []byte("\n")) // a line with the command, which nobody ran
	return string(out)
}

// Readable is a definition in lines as people read it: texts with their own lines, schemas indented, and nothing
// in it that steers a terminal or is not seen.
func Readable(p event.Pin) []byte {
	var all map[string]strictjson.Value
	if strictjson.Unmarshal([]byte(p.Text), &all) != nil {
		return []byte(visible(p.Text) + "\n")
	}
	var b strings.Builder
	names := Members()
	first := len(names)
	for name := range all {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names[first:])
	for _, name := range names {
		if v, there := all[name]; there {
			member(&b, name, v)
		}
	}
	if p.Hints != "" {
		member(&b, "annotations", strictjson.Value(p.Hints))
	}
	var more map[string]strictjson.Value
	if p.More != "" && strictjson.Unmarshal([]byte(p.More), &more) == nil {
		for _, name := range slices.Sorted(maps.Keys(more)) {
			if name != "annotations" || p.Hints == "" {
				member(&b, name, more[name])
			}
		}
	}
	return []byte(b.String())
}

func member(b *strings.Builder, name string, v strictjson.Value) {
	var words string
	if v.Kind() == '"' && strictjson.Unmarshal(v, &words) == nil {
		lines := strings.Split(words, "\n")
		if len(lines) == 1 {
			fmt.Fprintf(b, "%s: %s\n", visible(name), visible(words))
			return
		}
		fmt.Fprintf(b, "%s:\n", visible(name))
		for _, line := range lines {
			fmt.Fprintf(b, "  %s\n", visible(line))
		}
		return
	}
	raw, err := strictjson.MarshalIndent(v)
	if err != nil {
		raw = v
	}
	fmt.Fprintf(b, "%s:\n", visible(name))
	for line := range strings.Lines(string(raw)) {
		fmt.Fprintf(b, "  %s\n", visible(strings.TrimSuffix(line, "\n")))
	}
}

// visible writes what is not seen, or does something instead of being seen, as an escape.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		odd := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Zs, r) && r != ' ' ||
			unicode.Is(unicode.Variation_Selector, r)
		if odd {
			fmt.Fprintf(&b, `\u{%04x}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
