package policyedit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/tool"
)

// edit changes a few places of a text. It may get an unusual file wrong: the caller looks.
type edit struct{ lines []string }

// change carries a change out, and says below which place of the file it is.
func (e *edit) change(root *configfile.Node, c *report.Change) (within string, err error) {
	byHand := fmt.Errorf("%w: %s", ErrByHand, c)
	where, name, isRule := c.Rule()
	if !isRule {
		if !e.set(root, c.Path, c.Word(), 0) {
			return "", byHand
		}
		return "/" + strings.Join(c.Path, "/"), nil
	}
	list, depth := root, len(where)-1
	for _, key := range where {
		list = list.Get(key)
	}
	var ok bool
	if name == "" {
		ok = e.addRule(list, depth, newRule("allow-"+c.Tool, c.Tool, "", c.To))
		name = "allow-" + c.Tool + "]"
	} else {
		name, ok, err = e.rule(list, depth, name, c)
	}
	if err == nil && !ok {
		err = byHand
	}
	return "/" + strings.Join(where, "/") + "/[" + name, err
}

// rule changes what a rule says of one tool, and names what became another; not ok: it is written in a way that cannot
// be changed so.
func (e *edit) rule(list *configfile.Node, depth int, name string, c *report.Change) (changed string, ok bool, err error) {
	rule := named(list, name)
	if rule == nil {
		return "", false, fmt.Errorf("%w: the file has no rule %s any more", ErrFit, name)
	}
	if effect := rule.Get("effect"); effect == nil || effect.Text != "ask" && effect.Text != "escalate" {
		return "", false, fmt.Errorf("%w: the rule %s no longer asks", ErrFit, name)
	}
	tools := toolsOf(rule)
	has := slices.Contains(tools, c.Tool)
	switch {
	case has && len(tools) == 1:
		return name + "]/effect", e.scalar(rule.Get("effect"), c.To), nil
	case c.To == "deny" && (has || len(tools) == 0): // the strictest rule decides: one more narrows it for this tool alone
		own, when := name+"-"+c.Tool, ""
		if v := rule.Get("when"); v != nil {
			when = v.Text
		}
		return own + "]", named(list, own) == nil && e.addRule(list, depth, newRule(own, c.Tool, when, c.To)), nil
	case has:
		return name + "]/tools", e.drop(rule.Get("tools"), c.Tool), nil
	case len(tools) > 0 && !slices.ContainsFunc(tools, func(t string) bool { return strings.Contains(t, "*") }):
		return "", false, fmt.Errorf("%w: the rule %s is no longer about %s", ErrFit, name, c.Tool)
	}
	return "", false, nil
}

// named is the entry of a list with a name.
func named(list *configfile.Node, name string) *configfile.Node {
	if list == nil {
		return nil
	}
	for _, item := range list.List {
		if v := item.Get("name"); v != nil && v.Text == name {
			return item
		}
	}
	return nil
}

// toolsOf are the tools that a rule names.
func toolsOf(rule *configfile.Node) []string {
	var out []string
	switch n := rule.Get("tools"); {
	case n.Empty():
	case n.Kind == configfile.List:
		for _, item := range n.List {
			out = append(out, tool.Name(item.Text))
		}
	default:
		out = append(out, tool.Name(n.Text))
	}
	return out
}

// newRule is a rule in lines, as an entry of a list.
func newRule(name, toolName, when, effect string) []string {
	out := []string{"- name: " + word(name), "  tools: [" + word(toolName) + "]"}
	if when != "" {
		out = append(out, "  when: "+quote(when))
	}
	return append(out, "  effect: "+effect)
}

// set gives a key a value, and makes what is missing on the way.
func (e *edit) set(n *configfile.Node, path []string, value string, depth int) bool {
	if n.Empty() { // an empty file
		e.insert(len(e.lines), nested(path, value, 2*depth))
		return depth == 0
	}
	if n.Kind != configfile.Map {
		return false
	}
	i := slices.IndexFunc(n.Keys, func(k configfile.Key) bool { return k.Name == path[0] })
	switch {
	case i >= 0 && len(path) == 1:
		return e.scalar(n.Keys[i].Value, value)
	case i >= 0 && n.Keys[i].Value.Empty():
		if e.inFlow(n) {
			return false
		}
		k := n.Keys[i]
		e.insert(k.Pos.Line, nested(path[1:], value, k.Pos.Col+1))
		return true
	case i >= 0:
		return e.set(n.Keys[i].Value, path[1:], value, depth+1)
	case e.inFlow(n):
		return e.intoFlow(n, path, value)
	case len(n.Keys) == 0:
		return false
	}
	first := n.Keys[0].Pos
	e.insert(e.end(first.Line, first.Col-1), nested(path, value, first.Col-1))
	return true
}

// nested is a key in lines.
func nested(path []string, value string, indent int) []string {
	var out []string
	for i, key := range path {
		line := strings.Repeat(" ", indent+2*i) + word(key) + ":"
		if i == len(path)-1 {
			line += " " + value
		}
		out = append(out, line)
	}
	return out
}

// insert puts lines behind the first n.
func (e *edit) insert(n int, lines []string) {
	e.lines = slices.Insert(e.lines, min(n, len(e.lines)), lines...)
}

// end is the last line of what begins at a line and is indented at least so far.
func (e *edit) end(line, indent int) int {
	last := line
	for i := line; i < len(e.lines); i++ {
		text := e.lines[i]
		bare := strings.TrimLeft(text, " ")
		switch {
		case bare == "" || strings.HasPrefix(bare, "#") && len(text)-len(bare) < indent:
		case len(text)-len(bare) < indent:
			return last
		default:
			last = i + 1
		}
	}
	return last
}

// inFlow reports whether a node is written in brackets.
func (e *edit) inFlow(n *configfile.Node) bool {
	at := e.from(n.Pos)
	return strings.HasPrefix(at, "{") || strings.HasPrefix(at, "[")
}

// from is the text of a line from a place on.
func (e *edit) from(p configfile.Pos) string {
	if p.Line < 1 || p.Line > len(e.lines) {
		return ""
	}
	line := []rune(e.lines[p.Line-1])
	if p.Col < 1 || p.Col > len(line) {
		return ""
	}
	return string(line[p.Col-1:])
}

// intoFlow adds a key to a map in brackets.
func (e *edit) intoFlow(n *configfile.Node, path []string, value string) bool {
	text := value
	for i := len(path) - 1; i >= 0; i-- {
		if text = word(path[i]) + ": " + text; i > 0 {
			text = "{" + text + "}"
		}
	}
	if len(n.Keys) > 0 {
		text += ", "
	}
	rest := e.from(n.Pos)
	if !strings.HasPrefix(rest, "{") {
		return false
	}
	line := &e.lines[n.Pos.Line-1]
	*line = strings.TrimSuffix(*line, rest) + "{" + text + strings.TrimLeft(rest[1:], " ")
	return true
}

var written = regexp.MustCompile(`^(?:"[^"\\]*"|'[^']*'|[\w*.-]+)`)

// scalar replaces a word.
func (e *edit) scalar(n *configfile.Node, value string) bool {
	if n.Empty() {
		return false
	}
	rest := e.from(n.Pos)
	old := written.FindString(rest)
	if old == "" || n.Kind == configfile.Map || n.Kind == configfile.List {
		return false
	}
	line := &e.lines[n.Pos.Line-1]
	*line = strings.TrimSuffix(*line, rest) + value + strings.TrimPrefix(rest, old)
	return true
}

// drop takes a tool out of a list of several.
func (e *edit) drop(list *configfile.Node, name string) bool {
	if list.Kind != configfile.List {
		return false
	}
	i := slices.IndexFunc(list.List, func(n *configfile.Node) bool { return tool.Name(n.Text) == name })
	at := list.List[i].Pos
	if !e.inFlow(list) {
		if !strings.HasPrefix(strings.TrimSpace(e.lines[at.Line-1]), "- ") {
			return false
		}
		e.lines = slices.Delete(e.lines, at.Line-1, at.Line)
		return true
	}
	rest := e.from(at)
	old := written.FindString(rest)
	line := &e.lines[at.Line-1]
	before, after := strings.TrimSuffix(*line, rest), strings.TrimPrefix(rest, old)
	if behind, ok := strings.CutPrefix(after, ","); ok {
		after = strings.TrimLeft(behind, " ")
	} else {
		before = strings.TrimSuffix(strings.TrimRight(before, " "), ",")
	}
	*line = before + after
	return old != ""
}

// addRule adds an entry at the end of a list, or begins the list of the file.
func (e *edit) addRule(list *configfile.Node, depth int, entry []string) bool {
	if list.Empty() {
		if depth > 0 || list != nil {
			return false
		}
		e.insert(len(e.lines), append([]string{"rules:"}, indented(entry, 2)...))
		return true
	}
	if list.Kind != configfile.List || len(list.List) == 0 || e.inFlow(list) {
		return false
	}
	first := list.List[0].Pos.Line
	text := e.lines[first-1]
	indent := len(text) - len(strings.TrimLeft(text, " "))
	if !strings.HasPrefix(text[indent:], "- ") {
		return false
	}
	last := first
	for i := first; i < len(e.lines); i++ {
		bare := strings.TrimLeft(e.lines[i], " ")
		deep := len(e.lines[i]) - len(bare)
		if bare == "" || strings.HasPrefix(bare, "#") {
			continue
		}
		if deep < indent || deep == indent && !strings.HasPrefix(bare, "- ") {
			break
		}
		last = i + 1
	}
	e.insert(last, indented(entry, indent))
	return true
}

func indented(lines []string, by int) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.Repeat(" ", by) + l
	}
	return out
}

var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// word is a name as YAML takes it for a text.
func word(s string) string {
	if plain.MatchString(s) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s)) {
		return s
	}
	return quote(s)
}

// quote is a text between quotes, as YAML and JSON have it.
func quote(s string) string {
	raw, err := strictjson.Marshal(s)
	if err != nil {
		return `""` // no UTF-8: no name of a tool; the result is looked at
	}
	return string(raw)
}
