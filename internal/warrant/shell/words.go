package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is the text a word has when it runs, if that is known now.
func (w *walker) word(n *syntax.Word) Word {
	list := w.words(n)
	if len(list) == 1 {
		return list[0]
	}
	out := Word{Known: true}
	for i, a := range list {
		if i > 0 {
			out.Text += " "
		}
		out.Text, out.Known, out.flow = out.Text+a.Text, out.Known && a.Known, out.flow.join(a.flow)
		out.open = out.open || a.open
	}
	return out
}

// spelling is one word being put together.
type spelling struct {
	text   strings.Builder
	bare   strings.Builder // what is not quoted, and so may expand
	blind  bool            // some of it is decided when it runs
	split  bool            // and may be taken apart into several words
	quotes bool
	wild   bool // some of what is not known may be anything
	open   bool // and is none of what is known to be no path of somebody's choosing
	named  bool // something in it is a name of the work that is not known
	tame   tame
	plain  bool // a variable in it holds a plain answer
	flow   flow
}

// unknown puts the mark of what is not known.
func (s *spelling) unknown(quoted bool) {
	s.text.WriteByte('$')
	s.blind, s.wild = true, true
	s.split = s.split || !quoted
}

// tamed is how plain what is not known of it is.
func (s *spelling) tamed() tame {
	if s.wild {
		return wild
	}
	return s.tame
}

// words are what the shell makes of one word: several, if a variable with blanks in it
// is not quoted.
func (w *walker) words(n *syntax.Word) []Word {
	if n == nil || w.stopped() {
		return nil
	}
	list := w.expanded(n)
	size := 0
	for _, a := range list {
		size += len(a.Text)
	}
	w.weigh(8*len(list) + size)
	return list
}

// weigh counts text that is looked at as steps.
func (w *walker) weigh(size int) {
	if w.steps += size / 64; w.steps > maxSteps {
		w.unread()
	}
}

func (w *walker) expanded(n *syntax.Word) []Word {
	if len(n.Parts) == 1 {
		if p, ok := n.Parts[0].(*syntax.ParamExp); ok {
			if v, ok := w.vars.value(p); ok {
				return patterns(v)
			}
		}
	}
	if list, ok := w.handedOn(n); ok {
		return list
	}
	if list := spread(n); list != nil {
		return w.spreadWords(list)
	}
	var s spelling
	for _, part := range n.Parts {
		w.spell(&s, part, false)
	}
	bare, text := s.bare.String(), s.text.String()
	known := !s.blind && !expands(bare)
	if text == "" && known && !s.quotes {
		return nil // nothing is left of it
	}
	open := s.open || s.named && landing(text)
	return []Word{{Text: text, Known: known, flow: s.flow, loose: s.split, tame: s.tamed(), plain: s.plain, open: open}}
}

// spreadWords reads the words that braces made of one.
func (w *walker) spreadWords(list []*syntax.Word) []Word {
	if w.steps += len(list); w.steps > maxSteps {
		w.unread()
		return nil
	}
	var out []Word
	for _, a := range list {
		out = append(out, w.words(a)...)
	}
	return out
}

// fields are the words of a value that is not quoted.
func fields(v string) []Word {
	var out []Word
	for f := range strings.FieldsSeq(v) {
		out = append(out, Word{Text: f, Known: true})
	}
	return out
}

// patterns are fields, of which a shell may make the names of files.
func patterns(v string) []Word {
	out := fields(v)
	for i, f := range out {
		if strings.ContainsAny(f.Text, "*?[") {
			out[i].Known, out[i].loose = false, true
		}
	}
	return out
}

func (w *walker) spell(s *spelling, part syntax.WordPart, quoted bool) {
	if w.spelled += s.text.Len() / 1024; s.text.Len() > maxCommand || w.spelled > maxParsed {
		w.unread()
		return
	}
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			unescape(&s.text, p.Value, "\"\\$`\n")
			return
		}
		s.bare.WriteString(p.Value)
		unescape(&s.text, p.Value, "")
	case *syntax.SglQuoted:
		s.quotes = true
		if p.Dollar {
			s.text.WriteString(ansi(p.Value))
			return
		}
		s.text.WriteString(p.Value)
	case *syntax.DblQuoted:
		s.quotes = true
		for _, inner := range p.Parts {
			w.spell(s, inner, true)
		}
	case *syntax.ParamExp:
		w.spellParam(s, p, quoted)
	case *syntax.CmdSubst:
		w.spellSubst(s, p, quoted)
	case *syntax.ArithmExp:
		w.spellSum(s, p)
	case *syntax.BraceExp: // of a word that was taken apart already
		for _, e := range p.Elems {
			a := w.word(e)
			s.flow, s.open = s.flow.join(a.flow), s.open || a.open
		}
		s.unknown(quoted)
	default: // process substitution, patterns
		s.flow, s.open = s.flow.join(w.nested(part)), s.open || w.partMayBe(part, 0)
		s.unknown(true)
	}
}

func (w *walker) spellParam(s *spelling, p *syntax.ParamExp, quoted bool) {
	v, ok := w.vars.value(p)
	name := plainParam(p)
	switch {
	case ok && (quoted || !strings.ContainsAny(v, " \t\n*?[")):
		s.text.WriteString(v)
	case w.vars.set[name] == 0 && places[name] != "":
		s.text.WriteString(places[name])
		s.blind, s.wild = true, true
	case name == "OLDPWD" && w.where.moved && w.vars.set[name] == 0:
		s.text.WriteString(w.where.old)
		s.blind, s.wild = true, true
	case w.spellPosition(s, name, quoted):
	default:
		s.flow = s.flow.join(w.nested(p))
		if p.Param != nil {
			s.flow.made = s.flow.made || w.vars.made[p.Param.Value] && p.Param.Value != w.setNow
			s.plain = s.plain || w.vars.tamed[p.Param.Value]
		}
		s.open, s.named = s.open || w.mayHold(p, 0), s.named || p.Param != nil && !fixed[p.Param.Value]
		s.unknown(quoted)
	}
}

func (w *walker) spellSubst(s *spelling, p *syntax.CmdSubst, quoted bool) {
	kind := w.tameness(p.Stmts)
	f := w.apart(func() flow { return w.stmts(p.Stmts, flow{}) })
	f.known = f.known || len(p.Stmts) == 0
	v := strings.TrimRight(f.text, "\n")
	known := f.known
	f.given, f.made = false, f.made || !known && kind == wild
	s.flow = s.flow.join(f)
	if known && (quoted || !strings.ContainsAny(v, " \t\n*?[")) {
		w.told[p] = valueTold
		s.text.WriteString(v)
		return
	}
	if w.told[p] = w.answer(p.Stmts); f.names {
		w.told[p] = nameTold
	}
	s.open, s.named = s.open || w.told[p] == anything, s.named || w.told[p] == nameTold
	was := s.wild
	s.unknown(quoted)
	s.wild = was || kind == wild || s.tame != wild && s.tame != kind
	s.tame = kind
}

func (w *walker) spellSum(s *spelling, p *syntax.ArithmExp) {
	if v, ok := sum(p.X, 0); ok {
		s.text.WriteString(strconv.FormatInt(v, 10))
		return
	}
	s.flow = s.flow.join(w.nested(p))
	s.unknown(true)
}

// places are variables that hold one folder each, and how it is written otherwise.
var places = map[string]string{"HOME": "~", "PWD": "."}

// expands reports whether the shell makes other words of this one.
func expands(bare string) bool {
	if bare == "[" || bare == "[[" {
		return false
	}
	return strings.ContainsAny(bare, "*?[") ||
		strings.Contains(bare, "{") && (strings.Contains(bare, ",") || strings.Contains(bare, ".."))
}

// unescape drops the backslashes that quote; within double quotes only those before one
// of the special characters do. A backslash before a line's end takes both away.
func unescape(b *strings.Builder, s, special string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (special == "" || strings.IndexByte(special, s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
}

// ansi undoes the escapes of $'…'.
func ansi(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'x', 'u', 'U':
			width := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			v, n := digits(s[i+1:], width, 16)
			if n == 0 {
				b.WriteString(s[i-1 : i+1])
			} else if c == 'x' {
				b.WriteByte(byte(v))
			} else {
				b.WriteRune(rune(v))
			}
			i += n
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v, n := digits(s[i:], 3, 8)
			b.WriteByte(byte(v))
			i += n - 1
		default:
			if k := strings.IndexByte("abeEfnrtv", c); k >= 0 {
				c = "\a\b\x1b\x1b\f\n\r\t\v"[k]
			} else if strings.IndexByte(`\'"?`, c) < 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// digits reads up to width digits, and says how many there were.
func digits(s string, width, base int) (value uint32, n int) {
	for n < len(s) && n < width {
		d := strings.IndexByte("0123456789abcdef", s[n]|0x20)
		if '0' <= s[n] && s[n] <= '9' {
			d = int(s[n] - '0')
		}
		if d < 0 || d >= base {
			break
		}
		value = value*uint32(base) + uint32(d)
		n++
	}
	return value, n
}
