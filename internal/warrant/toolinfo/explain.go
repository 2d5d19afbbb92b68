package toolinfo

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
)

// why says in a few words what a parameter is and how that was seen.
func why(p *Param, f *field) string {
	var b strings.Builder
	switch p.Role {
	case Unclear:
		return "nothing says what it is for"
	case Amount:
		b.WriteString("an ")
	default:
		b.WriteString("a ")
	}
	b.WriteString(p.Role.String())
	if p.Kind != Plain {
		b.WriteString(": ")
		if f.types&ofList != 0 {
			b.WriteString("list of " + plural(kindWords[p.Kind]))
		} else {
			b.WriteString(kindWords[p.Kind])
		}
	}
	if p.Object {
		b.WriteString(", the thing acted on")
	}
	for _, more := range []struct {
		is   bool
		text string
	}{{p.Chooses, ", which chooses what is done"}, {p.Decides, ", which decides"}, {p.Writes, ", a place it writes to"}} {
		if more.is {
			b.WriteString(more.text)
		}
	}
	return b.String()
}

func plural(s string) string {
	switch {
	case s == "person or group":
		return "people or groups"
	case s == "sum of money":
		return "sums of money"
	case s == "date or time":
		return "dates or times"
	case s == "text" || s == "program text":
		return s + "s"
	case strings.HasSuffix(s, "s"):
		return s + "es"
	}
	return s + "s"
}

// Explain says in sentences what was understood and from what.
func (m *Meaning) Explain() []string {
	out := []string{"`" + m.Tool + "`: " + m.Act.String() + ", gravity " + m.Gravity.String() + " (" + m.Why + ")"}
	for _, fact := range []struct {
		is   bool
		text string
	}{
		{m.Source, "its response brings content of others"},
		{m.Sink, "it acts on the world outside or on what is shared"},
		{m.Sensitive, "it reads credentials, personal or financial data"},
		{m.Reaches, "it asks an address that the caller chooses"},
		{m.Bare != m.Gravity, "gravity " + m.Bare.String() + " when it names nobody"},
	} {
		if fact.is {
			out = append(out, fact.text)
		}
	}
	for _, p := range m.Params {
		out = append(out, p.explain())
	}
	return out
}

func (p *Param) explain() string {
	if p.Role == Unclear {
		return "`" + p.Path + "`: " + p.Why
	}
	return "`" + p.Path + "` is " + p.Why
}

// YAML writes annotations for review, as a policy file has them. What a policy file has no
// key for stands in comments. Of two spellings of one tool the facts are joined.
func YAML(list []*Meaning) []byte {
	var b bytes.Buffer
	b.WriteString("annotations:")
	written := map[string]bool{}
	for _, m := range list {
		if m == nil || m.Tool == "" || written[m.Tool] {
			continue
		}
		written[m.Tool] = true
		facts := facts{}
		for _, other := range list {
			if other == nil || other.Tool != m.Tool {
				continue
			}
			facts.join(other)
		}
		b.WriteByte('\n')
		for _, line := range m.Explain() {
			b.WriteString("  # " + oneLine(line) + "\n")
		}
		b.WriteString("  " + strconv.QuoteToASCII(m.Tool) + ":\n")
		b.WriteString("    taintSource: " + strconv.FormatBool(facts.source) + "\n")
		b.WriteString("    taintSink: " + strconv.FormatBool(facts.sink) + "\n")
		b.WriteString("    sensitive: " + strconv.FormatBool(facts.sensitive) + "\n")
	}
	if len(written) == 0 {
		b.WriteString(" {}\n")
	}
	return b.Bytes()
}

type facts struct{ source, sink, sensitive bool }

func (f *facts) join(m *Meaning) {
	f.source, f.sink, f.sensitive = f.source || m.Source, f.sink || m.Sink, f.sensitive || m.Sensitive
}

// oneLine keeps names from outside inside their comment.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s)
}
