// Package outgoing knows the command lines that leave this machine in a plain way: one command of a known program and verb, with
// nothing in it but options and operands that are known. Such a line is a deed with slots like a call of any tool, and can be judged
// by what its owner asked for. It is pure.
//
// Invariants:
//   - a line is plain only if every sign of it is: no pipe, chain, substitution, redirection, variable, pattern, assignment, comment or
//     job, and no quote that a shell reads further;
//   - what the data (forms.txt) does not name makes a line no plain form: program, verb, option, and the look of every value;
//   - Argv is what is judged and what is run; no shell reads it again.
package outgoing

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

// Form is one plain command that leaves this machine.
type Form struct {
	Program string // git
	Verb    string // push; empty: the program has none
	Deed    string // as policies name it
	Name    string // as a tool would be called that does this: git_push
	Argv    []string
	Slots   []Slot
	Flags   []string // options that take no value, as they stand there

	Brings   bool   // it carries nothing there but names, and changes only what is here
	Lists    bool   // it is plain where there is a broker alone, which looks at what it brings
	Why      string // why no broker does it, for people; empty: one does, or nobody has said
	Brokered bool   // the broker runs it: with one capability, and no code of the workspace or of a package
}

// Slot is a value of a form.
type Slot struct {
	Path string // what it is called: the option's name, or the kind of operand
	Kind string // remote, host, repository, branch, object, url, npm ...
	Text string
	Role mandate.Role
}

// Plain reads a line. It reports whether the line is one plain command of a known form, and which.
func Plain(line string) (Form, bool) {
	argv, ok := split(line)
	if !ok || len(argv) == 0 {
		return Form{}, false
	}
	return Words(argv)
}

// Words is Plain for words that a shell has read already.
func Words(argv []string) (Form, bool) {
	for _, f := range known.forms {
		if len(argv) < len(f.words) || !slices.Equal(argv[:len(f.words)], f.words) {
			continue
		}
		if out, ok := known.parse(f, argv); ok {
			return out, true
		}
	}
	return Form{}, false
}

// begun is a form before anything of a line is in it.
func (f *form) begun(short map[string]string) Form {
	out := Form{Program: f.words[0], Verb: strings.Join(f.words[1:], " "), Deed: f.deed, Brings: f.brings, Lists: f.lists, Why: f.why}
	for i, w := range f.words {
		if long, ok := short[w]; ok {
			w = long
		}
		if i > 0 {
			out.Name += "_"
		}
		out.Name += strings.ReplaceAll(w, "-", "_")
	}
	return out
}

// parse reads the words of a command as a form has them.
func (t *table) parse(f *form, argv []string) (Form, bool) {
	out := f.begun(t.short)
	out.Argv = argv
	var operands []string
	needed := len(f.needs) == 0
	out.Brokered = f.brokered
	for rest := f.apart(argv[len(f.words):]); len(rest) > 0; rest = rest[1:] {
		word := rest[0]
		if !strings.HasPrefix(word, "-") {
			operands = append(operands, word)
			continue
		}
		name, value, given := strings.Cut(word, "=")
		o, ok := f.options[name]
		out.Brokered = out.Brokered && slices.Contains(f.broker, name)
		switch {
		case !ok, given && (o.kind == nil || !strings.HasPrefix(name, "--")):
			return Form{}, false
		case o.kind == nil:
			out.Flags = append(out.Flags, word)
			needed = needed || slices.Contains(f.needs, word)
			if o.turns != "" {
				out.Deed = o.turns
			}
			continue
		case !given:
			if len(rest) < 2 {
				return Form{}, false
			}
			value, rest = rest[1], rest[1:]
		}
		if !t.fits(o.kind, value) {
			return Form{}, false
		}
		needed = needed || slices.Contains(f.needs, name)
		out.Slots = append(out.Slots, Slot{Path: o.name, Kind: o.kind.name, Text: value, Role: o.kind.role})
	}
	slots, ok := t.place(f.operands, operands)
	out.Slots = append(out.Slots, slots...)
	return out, ok && needed
}

// apart has letters that stand behind one dash as the options that they are, where each of them takes no value and leaves the deed what
// it is: -qu is -q -u.
func (f *form) apart(words []string) []string {
	var out []string
	for i, w := range words {
		var letters []string
		for _, c := range strings.TrimPrefix(w, "-") {
			if o, ok := f.options["-"+string(c)]; ok && o.kind == nil && o.turns == "" {
				letters = append(letters, "-"+string(c))
			}
		}
		_, known := f.options[w]
		value := i > 0 && f.takes(words[i-1])
		if known || value || len(w) < 3 || w[0] != '-' || len(letters) != len(w)-1 {
			letters = []string{w}
		}
		out = append(out, letters...)
	}
	return out
}

// takes reports whether a word is an option whose value is the next one.
func (f *form) takes(word string) bool { return f.options[word].kind != nil }

// place gives each operand its place. One that may stand there several times takes all that the ones behind it do not need.
func (t *table) place(places []operand, words []string) ([]Slot, bool) {
	var out []Slot
	for i, p := range places {
		behind := 0
		for _, q := range places[i+1:] {
			if !q.none {
				behind++
			}
		}
		take := len(words) - behind
		if !p.many {
			take = min(take, 1)
		}
		if take < 1 && !p.none || take < 0 {
			return nil, false
		}
		for _, w := range words[:take] {
			if !t.fits(p.kind, w) {
				return nil, false
			}
			out = append(out, Slot{Path: p.description, Kind: p.kind.name, Text: w, Role: p.kind.role})
		}
		words = words[take:]
	}
	return out, len(words) == 0
}

// Values are the slots as the mandate is asked about them.
func (f *Form) Values() []mandate.Value {
	out := make([]mandate.Value, 0, len(f.Slots))
	for _, s := range f.Slots {
		out = append(out, mandate.Value{Path: s.Path, Text: s.Text, Role: s.Role})
	}
	return out
}

// Slot is the text of the first slot of a name; empty: there is none.
func (f *Form) Slot(path string) string {
	for _, s := range f.Slots {
		if s.Path == path {
			return s.Text
		}
	}
	return ""
}

// Hosts are the computers that the slots name. A remote by its short name is not among them: only the repository knows where it is.
func (f *Form) Hosts() []string {
	var out []string
	for _, s := range f.Slots {
		if s.Role != mandate.Aim && s.Kind != "reference" {
			continue
		}
		if h := HostOf(s.Text, s.Kind == "host"); h != "" && !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// HostOf is the computer that an address names: a URL, what scp and git write (user@host:path) or, if it is one alone, a host.
func HostOf(text string, alone bool) string {
	if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil {
			return ""
		}
		return strings.ToLower(u.Hostname())
	}
	host, _, colon := strings.Cut(text, ":")
	if !colon && !alone {
		return ""
	}
	if _, after, ok := strings.Cut(host, "@"); ok {
		host = after
	}
	if _, err := netip.ParseAddr(host); err != nil && !strings.Contains(host, ".") && !alone {
		return ""
	}
	return strings.ToLower(host)
}
