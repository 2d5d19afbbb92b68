package toolinfo

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/tool"
)

// correct lets the parameters correct the act. But for a question to a database that takes
// no statement, only ever to a graver one.
func (m *Meaning) correct(r *reading, fields []field, said *speech, d tool.Definition) bool {
	changed := m.choose(r, fields)
	changed = m.orders(r, fields, said, d) || changed
	changed = m.redirect(r) || changed
	return m.noLook(r) || changed
}

var isMethod = wordSet("method")

// redirect knows parameters that only one kind of tool has.
func (m *Meaning) redirect(r *reading) bool {
	if m.Act == Execute || m.Act == Pay {
		return false
	}
	var money, account, method, address string
	for _, p := range m.Params {
		last := lastName(p.Path)
		switch {
		case p.Role == Amount && p.Kind == Money:
			money = p.Path
		case p.Role == Target && (p.Kind == IBAN || strings.Contains(last, "account")):
			account = p.Path
		case p.Role == Target && p.Kind == URL:
			address = p.Path
		case isMethod.has(last):
			method = p.Path
		}
	}
	switch {
	case money != "" && account != "" && m.Act != Read:
		r.become(Pay, "`"+money+"` and `"+account+"` make a payment")
	case method != "" && address != "" && (m.Act == Read || m.Act == Unknown):
		r.become(Send, "`"+method+"` chooses what is done at `"+address+"`")
	default:
		return false
	}
	m.Act = r.act
	return true
}

// orders looks for what is executed: a command, a statement. A tool that takes one executes
// it, unless its words say that it takes questions only.
func (m *Meaning) orders(r *reading, fields []field, said *speech, d tool.Definition) bool {
	order, text := -1, false
	for i := range fields {
		n := nameOf(fields[i].path)
		switch {
		case m.Params[i].Role == Command && (commandWords.has(lastName(fields[i].path)) || fields[i].statement(&n)):
			order = i
		case isFree.has(n.head) || isCommand.has(n.head):
			text = true
		}
	}
	switch {
	case order < 0 && m.Act == Execute && verbs[r.verb] == Read && len(fields) > 0 && !text:
		r.become(Read, "it takes no statement")
	case order >= 0 && m.Act == Read && asksOnly(&fields[order], said, d):
		r.orders = fields[order].path
		return false
	case order < 0, m.Act == Execute, m.Act == Send, m.Act == Delete, m.Act == Pay:
		return false
	default:
		r.become(Execute, "`"+fields[order].path+"` is a command")
	}
	m.Act = r.act
	return true
}

// asksOnly reports whether a tool's own words say that its statements only ask.
func asksOnly(f *field, said *speech, d tool.Definition) bool {
	if slices.ContainsFunc(said.words, isStatement.has) || slices.ContainsFunc(f.about, isStatement.has) {
		return false
	}
	readOnly := false
	for i, w := range said.words {
		readOnly = readOnly || w == "readonly" || w == "only" && i > 0 && said.words[i-1] == "read"
	}
	return readOnly || isTrue(d.ReadOnly) || slices.Contains(said.words, "select") || slices.Contains(f.about, "select")
}

// noLook knows looks that are none: who is told the decision, or where to put what was found,
// acts. A name that only lists things lists them unless it takes more than what to list.
func (m *Meaning) noLook(r *reading) bool {
	if m.Act != Read {
		return false
	}
	if r.listed {
		for i := range m.Params {
			switch p := &m.Params[i]; p.Role {
			case Target, Command, Credential, Content, Amount:
				r.become(Unknown, "but `"+p.Path+"` is no way to choose among them")
				m.Act = r.act
				return true
			}
		}
	}
	for i := range m.Params {
		p := &m.Params[i]
		n := nameOf(p.Path)
		switch {
		case p.Decides && isVerdict.has(n.head):
			r.become(Grant, "`"+p.Path+"` is a decision")
		case p.Writes && n.saves():
			r.become(Create, "`"+p.Path+"` is where it writes")
		default:
			continue
		}
		m.Act = r.act
		return true
	}
	return false
}
