package pins

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// difference is a unified diff of two definitions as people read them: texts with their own
// lines, schemas indented, and nothing in them that steers a terminal or is not seen.
func difference(was event.Pin, known bool, is, other event.Pin) string {
	if is.Text == "" {
		return "(too large to be shown)\n"
	}
	from, old := "nothing", []byte(nil)
	if known {
		from, old = "accepted", readable(was)
	}
	out := diff.Diff(from, old, "offered", readable(is))
	if out == nil {
		between := ""
		if other.Text != "" {
			between = difference(was, known, other, event.Pin{})
		}
		return again + "\n" + between
	}
	_, out, _ = bytes.Cut(out, []byte("\n")) // a line with the command, which nobody ran
	return string(out)
}

// again stands before what a definition was meanwhile.
const again = "(it is again as it was accepted; meanwhile it was:)"

// readable is a definition in lines.
func readable(p event.Pin) []byte {
	var all map[string]strictjson.Value
	if strictjson.Unmarshal([]byte(p.Text), &all) != nil {
		return []byte(visible(p.Text) + "\n")
	}
	var b strings.Builder
	names := slices.Clone(read)
	for name := range all {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names[len(read):])
	for _, name := range names {
		if v, there := all[name]; there {
			member(&b, name, v)
		}
	}
	if p.Hints != "" {
		member(&b, "annotations", strictjson.Value(p.Hints))
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
