package learn

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/policy"
)

// ErrByHand is returned where a file is written in a way that rules cannot be added to
// without touching the rest.
var ErrByHand = errors.New("the file is written in a way that cannot be added to: paste the output of --yaml by hand")

// marker stands above what was added.
const marker = "# added by tidemark policy learn: each entry only narrows; remove it to undo"

// Apply is the policy file with proposals added. Nothing else of it changes: the result
// must mean exactly the file and the proposals, and be nowhere looser.
func (l *Lesson) Apply(file string, src []byte, list []Proposal) ([]byte, error) {
	before, err := read(file, src)
	if err != nil {
		return nil, err
	}
	want, err := before.with(list)
	if err != nil {
		return nil, err
	}
	grid := Grid{Tools: slices.Concat(l.tools, before.set.Tools()), Agents: append(slices.Clone(l.agents), "")}
	if _, err := grid.Compare(before.set, want); err != nil {
		return nil, err
	}
	out := insert(before.root, string(src), list)
	after, err := read(file, out)
	if err != nil || after.set.Version() != want.Version() || !sameElse(before.root, after.root) {
		return nil, ErrByHand
	}
	return out, nil
}

// with is what the file would mean with the proposals.
func (f *policyFile) with(list []Proposal) (*policy.Set, error) {
	added, faults := configfile.Parse("learned", Fragment(list))
	if err := faults.Err(); err != nil {
		return nil, err
	}
	root := *f.root
	root.Kind, root.Keys = configfile.Map, slices.Clone(root.Keys)
	for _, k := range added.Keys {
		i := slices.IndexFunc(root.Keys, func(have configfile.Key) bool { return have.Name == k.Name })
		switch {
		case i < 0:
			root.Keys = append(root.Keys, k)
		case root.Keys[i].Value.Empty():
			root.Keys[i].Value = k.Value
		default:
			both := *root.Keys[i].Value
			both.List = slices.Concat(both.List, k.Value.List)
			root.Keys[i].Value = &both
		}
	}
	set, found := policy.Parse(root.Pos.File, root.Source())
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("the result does not parse: %w", err)
	}
	return set, nil
}

// insert adds the proposals to the text, at the end of the lists they belong to. It may
// get an unusual file wrong: the caller looks.
func insert(root *configfile.Node, src string, list []Proposal) []byte {
	lines := strings.Split(strings.TrimRight(src, "\n"), "\n")
	if strings.TrimSpace(src) == "" {
		lines = nil
	}
	for _, key := range sections {
		if entries(list, key, "") == "" {
			continue
		}
		lines = insertSection(root, lines, key, list)
		// The places of the sections behind have moved.
		if next, faults := configfile.Parse("", []byte(strings.Join(lines, "\n"))); faults.Err() == nil {
			root = next
		}
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

func insertSection(root *configfile.Node, lines []string, key string, list []Proposal) []string {
	i := slices.IndexFunc(root.Keys, func(k configfile.Key) bool { return k.Name == key })
	if i < 0 {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		return append(lines, marker, key+":", strings.TrimRight(entries(list, key, "  "), "\n"))
	}
	at := root.Keys[i].Pos.Line // lines before this number stay before
	end := len(lines)
	for _, k := range root.Keys {
		if k.Pos.Line > at {
			end = min(end, k.Pos.Line-1)
		}
	}
	for end > at && blank(lines[end-1]) {
		end--
	}
	indent := "  "
	if n := root.Keys[i].Value; len(n.List) > 0 {
		first := lines[min(n.List[0].Pos.Line, len(lines))-1]
		indent = first[:len(first)-len(strings.TrimLeft(first, " "))]
	}
	added := indent + marker + "\n" + strings.TrimRight(entries(list, key, indent), "\n")
	return slices.Insert(lines, end, strings.Split(added, "\n")...)
}

func blank(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "#")
}

// sameElse reports whether two files say the same outside of what proposals add to. A
// policy's version does not cover what other packages read.
func sameElse(a, b *configfile.Node) bool {
	rest := func(n *configfile.Node) []configfile.Key {
		return slices.DeleteFunc(slices.Clone(n.Keys), func(k configfile.Key) bool { return slices.Contains(sections[:], k.Name) })
	}
	return slices.EqualFunc(rest(a), rest(b), func(x, y configfile.Key) bool { return x.Name == y.Name && sameNode(x.Value, y.Value) })
}

func sameNode(a, b *configfile.Node) bool {
	return a.Kind == b.Kind && a.Text == b.Text && a.Bool == b.Bool && a.Int == b.Int &&
		slices.EqualFunc(a.Keys, b.Keys, func(x, y configfile.Key) bool { return x.Name == y.Name && sameNode(x.Value, y.Value) }) &&
		slices.EqualFunc(a.List, b.List, sameNode)
}
