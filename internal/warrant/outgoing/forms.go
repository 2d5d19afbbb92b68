package outgoing

import (
	_ "embed" // the forms are part of the program
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

//go:embed forms.txt
var formsText string

// kind is what a value may look like, and what it is to the mandate.
type kind struct {
	name  string
	role  mandate.Role
	shape *regexp.Regexp
}

// operand is a place for words that are no options.
type operand struct {
	kind        *kind
	none, many  bool // there may be none, or more than one
	description string
}

// option is an option of a form.
type option struct {
	name  string // as its slot is called
	kind  *kind  // of its value; nil: it takes none
	turns string // the deed that it makes of the form; empty: none
}

// form is one line of the data.
type form struct {
	words    []string // program and verb
	deed     string
	options  map[string]option
	needs    []string
	operands []operand
	brings   bool
	lists    bool
	brokered bool
	broker   []string // the options with which the broker runs it
	why      string   // why no broker does
}

// table is the data as it is read.
type table struct {
	kinds    map[string]*kind
	archives []string // endings
	packages []string // kinds
	short    map[string]string
	forms    []*form
}

var known = mustRead(formsText)

var roles = map[string]mandate.Role{
	"order": mandate.Order, "aim": mandate.Aim, "object": mandate.Object,
	"place": mandate.Place, "measure": mandate.Measure, "text": mandate.Text,
}

func mustRead(text string) *table {
	t, err := read(text)
	if err != nil {
		panic("outgoing: " + err.Error()) // it is part of the program
	}
	return t
}

// read reads the data. It refuses what it does not understand: a line that were skipped could be the one that closes something.
func read(text string) (*table, error) {
	t := &table{kinds: map[string]*kind{}, short: map[string]string{}}
	var (
		open []*form // those that the next lines are of
		body bool    // such a line has come
	)
	number := 0
	for line := range strings.Lines(text) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "//" {
			continue
		}
		var err error
		switch words[0] {
		case "kind":
			err = t.addKind(words)
		case "archive":
			t.archives = append(t.archives, words[1:]...)
		case "short":
			if len(words) != 3 {
				err = fmt.Errorf("short has a word and what it stands for")
				break
			}
			t.short[words[1]] = words[2]
		case "packages":
			t.packages = append(t.packages, words[1:]...)
		case "form":
			if body {
				open, body = nil, false
			}
			f := &form{options: map[string]option{}}
			if f.words, f.deed, err = heading(words[1:]); err == nil {
				open, t.forms = append(open, f), append(t.forms, f)
			}
		default:
			body = true
			if len(open) == 0 {
				err = fmt.Errorf("%s stands before any form", words[0])
			}
			for _, f := range open {
				if err == nil {
					err = t.add(f, words)
				}
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return t, nil
}

func (t *table) addKind(words []string) error {
	if len(words) < 4 {
		return fmt.Errorf("a kind has a name, a role and a pattern")
	}
	role, ok := roles[words[2]]
	shape, err := regexp.Compile("^(?:" + strings.Join(words[3:], " ") + ")$")
	if !ok || err != nil || t.kinds[words[1]] != nil {
		return fmt.Errorf("kind %s: role %s: %w", words[1], words[2], err)
	}
	t.kinds[words[1]] = &kind{name: words[1], role: role, shape: shape}
	return nil
}

func heading(words []string) (names []string, deed string, err error) {
	at := slices.Index(words, ":")
	if at < 1 || at != len(words)-2 {
		return nil, "", fmt.Errorf("a form is a program, its verb, a colon and a deed")
	}
	return words[:at], words[at+1], nil
}

// add adds a line to a form.
func (t *table) add(f *form, words []string) error {
	o, names := option{}, words[1:]
	switch words[0] {
	case "needs":
		if f.needs = names; slices.ContainsFunc(names, func(n string) bool { return f.takes(n) }) {
			return nil // they stand there already, with their values
		}
	case "flag":
	case "turns", "takes":
		if len(names) < 2 {
			return fmt.Errorf("%s names no option", words[0])
		}
		if words[0] == "turns" {
			o.turns = names[0]
		} else if o.kind = t.kinds[names[0]]; o.kind == nil {
			return fmt.Errorf("no kind is called %s", names[0])
		}
		names = names[1:]
	case "words":
		return t.addOperands(f, names)
	case "brings":
		f.brings = true
		return nil
	case "lists":
		f.lists = true
		return nil
	case "why":
		f.why = strings.Join(names, " ")
		return nil
	case "broker":
		f.brokered, f.broker = true, names
		for _, name := range names {
			if _, ok := f.options[name]; !ok {
				return fmt.Errorf("%s is no option of it", name)
			}
		}
		return nil
	default:
		return fmt.Errorf("nothing is called %s", words[0])
	}
	for i, name := range names {
		if _, twice := f.options[name]; twice || name[0] != '-' {
			return fmt.Errorf("%s is no option, or stands there twice", name)
		}
		o.name = strings.TrimLeft(name, "-")
		if i+1 < len(names) && !strings.HasPrefix(name, "--") && strings.HasPrefix(names[i+1], "--") {
			o.name = strings.TrimLeft(names[i+1], "-") // the short name of the one behind it
		}
		f.options[name] = o
	}
	return nil
}

func (t *table) addOperands(f *form, names []string) error {
	for i, name := range names {
		bare := strings.TrimRight(name, "?+*")
		o := operand{kind: t.kinds[bare], none: strings.HasSuffix(name, "?") || strings.HasSuffix(name, "*"),
			many: strings.HasSuffix(name, "+") || strings.HasSuffix(name, "*"), description: bare}
		if o.kind == nil {
			return fmt.Errorf("no kind is called %s", bare)
		}
		if o.none && i < len(names)-1 && !strings.HasSuffix(names[i+1], "?") && !strings.HasSuffix(names[i+1], "*") {
			return fmt.Errorf("%s may be missing, and what stands behind it not", bare)
		}
		f.operands = append(f.operands, o)
	}
	return nil
}

// fits reports whether a value is one of a kind. For a package that is called like an archive a file of that name could be taken.
func (t *table) fits(k *kind, value string) bool {
	if !k.shape.MatchString(value) {
		return false
	}
	ending := strings.ToLower(value[strings.LastIndex(value, ".")+1:])
	return !slices.Contains(t.packages, k.name) || !slices.Contains(t.archives, ending)
}
