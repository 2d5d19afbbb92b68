package origin

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// names is what the user's words name: single words, names by their capitals, hosts.
type names struct {
	words  map[string]bool
	order  []string
	proper map[string]bool
	hosts  map[string]bool
}

func newNames() names {
	return names{words: map[string]bool{}, proper: map[string]bool{}, hosts: map[string]bool{}}
}

// learn takes in a text of the user.
func (n *names) learn(l *lexer, text []byte) {
	l.src, l.pos = text, 0
	for l.next() {
		t := l.tok
		switch {
		case t.kind == Word:
			n.split(t.text)
			if naming(text, t) {
				n.proper[string(t.text)] = true
			}
		case t.kind == URL || t.kind == Host:
			if h := hostOf(t.text); h != nil {
				n.hosts[string(h)] = true
			}
			n.proper[string(t.text)] = true
		}
	}
}

// split adds the words of a token: "follow-up" is two.
func (n *names) split(text []byte) {
	for _, w := range bytes.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if s := string(w); !n.words[s] {
			n.words[s] = true
			n.order = append(n.order, s)
		}
	}
}

// naming reports a word written as a name: with a capital inside a sentence, with a
// digit or a mark in it, or in quotes.
func naming(text []byte, t token) bool {
	raw := text[t.start:t.end]
	first, size := utf8.DecodeRune(raw)
	for _, b := range raw[size:] {
		if r := roles[b]; r == digit || r == soft && b != '-' || b >= 'A' && b <= 'Z' {
			return true
		}
	}
	before := bytes.TrimRight(text[:t.start], " \t")
	last := byte('\n')
	if len(before) > 0 {
		last = before[len(before)-1]
	}
	switch last {
	case '"', '\'', '`':
		return len(before) == t.start
	case '.', '!', '?', ':', '\n', '\r', '-', '*':
		return unicode.IsUpper(first) && subject(text[t.end:])
	}
	return unicode.IsUpper(first)
}

// subject reports whether what follows the first word of a sentence is a verb in the
// past or of a third person: then the word names who did it, and is no command.
func subject(after []byte) bool {
	l := lexer{src: after[:min(len(after), maxKey)]}
	return l.next() && (bytes.HasSuffix(l.tok.text, []byte("ed")) || thirdPerson[string(l.tok.text)])
}

var thirdPerson = wordSet(`is was has had will would can did does says said sent told wrote wants needs asks owes paid made gave got
 put took sold bought let forgot`)

// hostOf is the host of a link in its one spelling. A link with a user in front of its
// host, or with a backslash, is read differently by different programs: it has none.
func hostOf(link []byte) []byte {
	if i := bytes.Index(link, []byte("://")); i >= 0 {
		link = link[i+3:]
	}
	host := link[:authority(link)]
	if len(host) == 0 || bytes.IndexByte(host, '@') >= 0 || bytes.IndexByte(link, '\\') >= 0 {
		return nil
	}
	return host
}

// commonWords are too common to name anything by themselves.
var commonWords = wordSet(`a an the this that these those my your our his her its their me you him us them it i we he she they
 of to in on at by for from with without about into over under after before between and or but not no yes if then else
 is are was were be been being am do does did done have has had can could will would shall should may might must
 what which who whom whose when where why how all any each every some none one two three four five first second last next
 new old other another same more most less least very just also only too so as than now today tomorrow yesterday week
 month year day hour time date please thanks thank hello hi dear hey regards re fw fwd ok
 send sent get give take make made create add update change set delete remove find search read write show list tell say ask
 reply forward pay buy sell call check look see use need want help try let open close book cancel move copy save
 email mail message messages meeting meetings event events file files folder document documents invoice bill payment
 transaction transfer account report summary note notes task tasks project list item items name title subject number id
 user person people team group company customer client contact channel calendar appointment order orders ticket issue
 link url website page site address phone info information data details status urgent important reminder request
 question answer test mr mrs ms dr inc ltd llc gmbh co`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range bytes.Fields([]byte(words)) {
		set[string(w)] = true
	}
	return set
}
