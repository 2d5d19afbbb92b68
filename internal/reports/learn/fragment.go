package learn

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
)

// sections are the lists of a policy file that proposals go into.
var sections = [...]string{"rules", "policies"}

// Fragment writes proposals as a part of a policy file, each with what it stands on.
func Fragment(list []Proposal) []byte {
	var b strings.Builder
	for _, key := range sections {
		if items := entries(list, key, "  "); items != "" {
			b.WriteString(key + ":\n" + items)
		}
	}
	return []byte(b.String())
}

// entries are the items of one section, indented.
func entries(list []Proposal, section, indent string) string {
	var b strings.Builder
	for i := range list {
		p := &list[i]
		if (p.Effect == "block_turn") != (section == "policies") {
			continue
		}
		for _, line := range p.entry() {
			b.WriteString(indent + line + "\n")
		}
	}
	return b.String()
}

// entry is one item, line by line. Everything in it is plain ASCII without quotes of the
// kind it stands in: names come from agents.
func (p *Proposal) entry() []string {
	unit := "calls"
	if p.Effect == "block_turn" {
		unit = "turns"
	}
	out := []string{
		"# " + ascii(p.Evidence),
		fmt.Sprintf("# would have stopped %d of %d %s in clean sessions, %d of %d in all",
			p.Backtest.Clean, p.Backtest.CleanOf, unit, p.Backtest.All, p.Backtest.AllOf),
		"- name: " + p.Name,
	}
	reason := "'learned: " + ascii(p.Text) + "'"
	if p.Effect == "block_turn" {
		return append(out,
			fmt.Sprintf("  when: {iteration_gte: %d, expression: '%s'}", p.From, p.When),
			"  action: {block_turn: true, reason: "+reason+"}")
	}
	return append(out, "  when: '"+p.When+"'", "  effect: "+strings.Replace(p.Effect, "escalate", "ask", 1), "  reason: "+reason)
}

// quote writes text as a string of a condition. It has no quotes but the outer ones and
// nothing a YAML scalar could end at.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\'' || r == '\\' || r < ' ' || r > '~' && r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// plain is a name inside a sentence for people.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// ascii is a sentence that can stand in a comment or between single quotes.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '\'' {
			return '?'
		}
		return r
	}, s)
}

// slug is a name as part of a rule's name: the same for the same name, and another one
// for another.
func slug(s string) string {
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, s)
	out = out[:min(len(out), 40)]
	if out != s || out == "" {
		sum := sha256.Sum256([]byte(s))
		out += "-" + hex.EncodeToString(sum[:4])
	}
	return strings.TrimPrefix(out, "-")
}
