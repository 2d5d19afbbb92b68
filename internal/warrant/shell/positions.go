package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxSpread bounds the words that braces make of one.
const maxSpread = 64

// handedOn are the words a function was handed, where a word is nothing but "$@", $@, $*
// or one of them.
func (w *walker) handedOn(n *syntax.Word) ([]Word, bool) {
	if !w.names.handed || len(n.Parts) != 1 {
		return nil, false
	}
	part, quoted := n.Parts[0], false
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part, quoted = q.Parts[0], true
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok {
		return nil, false
	}
	list := w.names.args
	switch name := plainParam(p); {
	case name == "@" || name == "*" && !quoted:
	case quoted:
		return nil, false
	default:
		a, ok := w.names.position(name)
		if !ok {
			return nil, false
		}
		list = []Word{a}
	}
	if quoted {
		return list, true
	}
	var out []Word
	for _, a := range list {
		switch {
		case !a.Known || w.vars.set["IFS"] > 0 || strings.ContainsAny(a.Text, "*?["):
			a.Known, a.loose = false, true
			out = append(out, a)
		default:
			out = append(out, fields(a.Text)...)
		}
	}
	return out, true
}

// spellPosition puts in what a function was handed; false if the name is no position, or
// it is not known what stands there.
func (w *walker) spellPosition(s *spelling, name string, quoted bool) bool {
	list := w.names.args
	if name != "@" && name != "*" {
		a, ok := w.names.position(name)
		if !ok {
			return false
		}
		list = []Word{a}
	}
	if !w.names.handed || w.vars.set["IFS"] > 0 {
		return false
	}
	for i, a := range list {
		if i > 0 {
			s.text.WriteByte(' ')
		}
		s.text.WriteString(a.Text)
		s.flow, s.open = s.flow.join(a.flow), s.open || a.open
		s.named = s.named || !a.Known
		if !a.Known || !quoted && strings.ContainsAny(a.Text, " \t\n*?[") {
			s.blind, s.wild = true, true
			s.split = s.split || !quoted
		}
	}
	return true
}

// braced is a copy of a word that has braces which make several words of it, else nil. The
// word itself must stay as it is: the rest of the tree is walked with it.
func braced(n *syntax.Word) *syntax.Word {
	if !slices.ContainsFunc(n.Parts, func(p syntax.WordPart) bool {
		l, ok := p.(*syntax.Lit)
		_, is := p.(*syntax.BraceExp)
		return is || ok && strings.Contains(l.Value, "{")
	}) {
		return nil
	}
	out := &syntax.Word{Parts: slices.Clone(n.Parts)}
	for i, p := range out.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			lit := *l
			out.Parts[i] = &lit
		}
	}
	syntax.SplitBraces(out)
	for _, p := range out.Parts {
		if _, ok := p.(*syntax.BraceExp); ok {
			return out
		}
	}
	return nil
}

// spread are the words that braces make of one; nil if there are none, or too many.
func spread(n *syntax.Word) []*syntax.Word {
	if n = braced(n); n == nil {
		return nil
	}
	out := []*syntax.Word{{}}
	for _, p := range n.Parts {
		choices := []*syntax.Word{{Parts: []syntax.WordPart{p}}}
		if b, ok := p.(*syntax.BraceExp); ok {
			if b.Sequence || len(b.Elems) > maxSpread {
				return nil
			}
			choices = b.Elems
		}
		if len(out)*len(choices) > maxSpread {
			return nil
		}
		var next []*syntax.Word
		for _, o := range out {
			for _, c := range choices {
				next = append(next, &syntax.Word{Parts: append(o.Parts[:len(o.Parts):len(o.Parts)], c.Parts...)})
			}
		}
		out = next
	}
	return out
}
