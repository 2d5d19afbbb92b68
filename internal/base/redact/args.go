package redact

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deep arguments are looked into; what is deeper is removed whole.
const maxDepth = 100

var errMore = errors.New("more than one value")

// Args are the arguments of a call without what field rules name and without secrets,
// as JSON of the same shape. What is not JSON becomes a JSON string of its text; where
// the tool's arguments hold what is written to a file, not even that: a patch is often
// handed over bare. Whoever has read the call says which parameters hold credentials, by
// their paths with [] for lists, whatever they are called: those go whole.
func (r *Redactor) Args(tool string, args []byte, keys ...string) []byte {
	return r.args(tool, args, false, keys)
}

// Bodies is Args with what is written to files in it, without secrets: for whoever is asked about that.
func (r *Redactor) Bodies(tool string, args []byte, keys ...string) []byte {
	return r.args(tool, args, true, keys)
}

func (r *Redactor) args(tool string, args []byte, bodies bool, keys []string) []byte {
	if r == nil || r.shipped == nil {
		return quoteText(nil, Mark)
	}
	if len(bytes.TrimSpace(args)) == 0 {
		return []byte("{}")
	}
	tool = toolName(tool)
	w := walker{r: r, out: make([]byte, 0, len(args)+64), paths: len(keys) > 0, bodies: bodies}
	for _, k := range keys {
		w.keys = append(w.keys, fieldName(strings.ReplaceAll(k, "[]", "")))
	}
	for i := range r.fields {
		if f := &r.fields[i]; f.about(tool) {
			w.rules = append(w.rules, f)
			w.paths = w.paths || len(f.paths) > 0
			w.content = w.content || f.sized && len(f.tools) > 0
		}
	}
	if err := w.read(args); err == nil {
		return w.out
	}
	if w.content && !bodies {
		return quoteText(nil, sized(utf8.RuneCount(args)))
	}
	return quoteText(nil, r.Text(string(bytes.ToValidUTF8(args, []byte("\uFFFD")))))
}

func sized(n int) string { return "[REDACTED: " + strconv.Itoa(n) + " chars]" }

// walker copies one JSON value, removing as it goes. Keys that come twice are kept apart
// and bad UTF-8 is replaced: both are read, for a rule must not miss its field over them.
type walker struct {
	r       *Redactor
	rules   []*fieldRule
	paths   bool     // some rule has a path
	keys    []string // paths of credentials
	content bool     // the tool writes: arguments that are no object are content
	bodies  bool     // content is shown, without secrets
	dec     *jsontext.Decoder
	out     []byte
}

func (w *walker) read(args []byte) error {
	w.dec = jsontext.NewDecoder(bytes.NewReader(args), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if kind := w.dec.PeekKind(); w.content && kind != '{' {
		return errMore // any error: it is removed whole
	}
	if err := w.value("", 0); err != nil {
		return err
	}
	if _, err := w.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errMore
	}
	return nil
}

// value copies the next value; path is where it stands.
func (w *walker) value(path string, depth int) error {
	switch kind := w.dec.PeekKind(); kind {
	case '{', '[':
		if depth >= maxDepth {
			return w.hide(true)
		}
		if _, err := w.dec.ReadToken(); err != nil {
			return err
		}
		if kind == '{' {
			return w.object(path, depth+1)
		}
		return w.array(path, depth+1)
	case '"':
		s, err := w.text()
		w.out = quoteText(w.out, w.r.Text(s))
		return err
	default:
		raw, err := w.dec.ReadValue()
		if kind == '0' && cardNumber(string(raw)) {
			raw = jsontext.Value(strconv.Quote(Mark))
		}
		w.out = append(w.out, raw...)
		return err
	}
}

// text reads a string.
func (w *walker) text() (string, error) {
	t, err := w.dec.ReadToken()
	if err != nil {
		return "", err
	}
	return t.String(), nil
}

func (w *walker) object(path string, depth int) error {
	w.out = append(w.out, '{')
	seen := map[string]int{}
	told := false // a member has said that the value beside it is a secret
	for n := 0; w.dec.PeekKind() != '}'; n++ {
		if n > 0 {
			w.out = append(w.out, ',')
		}
		name, err := w.text()
		if err != nil {
			return err
		}
		w.out = append(quoteText(w.out, unique(seen, w.r.Text(name))), ':')
		if told, err = w.member(name, path, told, depth); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	_, err := w.dec.ReadToken()
	return err
}

// member copies the value of a member. It reports whether the object has named a secret:
// {"name": "DB_PASSWORD", "value": ...}.
func (w *walker) member(name, path string, told bool, depth int) (bool, error) {
	key := fieldName(name)
	path = w.below(path, key)
	if rule := w.rule(key, path); rule != nil {
		return told, w.hide(rule.sized)
	}
	if w.key(path) {
		return told, w.hide(false)
	}
	if w.dec.PeekKind() != '"' {
		return told, w.value(path, depth)
	}
	s, err := w.text()
	if err != nil {
		return told, err
	}
	m := member{name: name, kind: nameOf(name), sep: ':', quoted: true, value: s, to: len(s)}
	switch {
	case told && (key == "value" || key == "val"),
		m.kind >= shortName && m.kind != headerName && m.secret(s),
		m.kind == vagueName && random(s):
		w.out = quoteText(w.out, mark(s))
	case key == "name" || key == "key" || key == "header":
		told = nameOf(s) >= headerName
		w.out = quoteText(w.out, w.r.Text(s))
	default:
		w.out = quoteText(w.out, w.r.Text(s))
	}
	return told, nil
}

// maxPath bounds a path: none in a rule is longer.
const maxPath = 1024

// below is the path of a field. It is only kept where a rule asks for one.
func (w *walker) below(path, key string) string {
	switch {
	case !w.paths || len(path)+len(key) >= maxPath:
		return ""
	case path == "":
		return key
	}
	return path + "." + key
}

// rule is the one that names the field. One that does not tell the size comes first.
func (w *walker) rule(key, path string) *fieldRule {
	var found *fieldRule
	for _, f := range w.rules {
		if (found == nil || !f.sized) && f.matches(key, path) {
			found = f
		}
	}
	return found
}

// key reports whether the next value is a credential, or a text that one was read out of.
func (w *walker) key(path string) bool {
	for _, k := range w.keys {
		if k == path || path != "" && w.dec.PeekKind() == '"' && strings.HasPrefix(k, path+".") {
			return true
		}
	}
	return false
}

// hide replaces the next value. Null, true and false hold nothing.
func (w *walker) hide(tellSize bool) error {
	switch kind := w.dec.PeekKind(); kind {
	case 'n', 't', 'f':
		return w.value("", 0)
	case '"':
		s, err := w.text()
		if tellSize && w.bodies {
			w.out = quoteText(w.out, w.r.Text(s))
			return err
		}
		w.put(tellSize, utf8.RuneCountInString(s))
		return err
	default:
		raw, err := w.dec.ReadValue()
		w.put(tellSize, utf8.RuneCount(raw))
		return err
	}
}

func (w *walker) put(tellSize bool, n int) {
	if tellSize {
		w.out = quoteText(w.out, sized(n))
	} else {
		w.out = quoteText(w.out, Mark)
	}
}

func (w *walker) array(path string, depth int) error {
	w.out = append(w.out, '[')
	flag := false // the element before was --password or the like
	for n := 0; w.dec.PeekKind() != ']'; n++ {
		if n > 0 {
			w.out = append(w.out, ',')
		}
		if w.dec.PeekKind() != '"' {
			flag = false
			if err := w.value(path, depth); err != nil {
				return err
			}
			continue
		}
		s, err := w.text()
		if err != nil {
			return err
		}
		if flag {
			w.out = quoteText(w.out, Mark)
		} else {
			w.out = quoteText(w.out, w.r.Text(s))
		}
		flag = !flag && len(s) > 2 && s[:2] == "--" && nameOf(s) >= shortName
	}
	w.out = append(w.out, ']')
	_, err := w.dec.ReadToken()
	return err
}

// unique keeps apart names that were different before secrets were removed from them, or
// that came twice: some readers refuse an object that has a name twice.
func unique(seen map[string]int, name string) string {
	n := seen[name]
	if n == 0 {
		seen[name] = 1
		return name
	}
	for {
		n++
		if out := name + "~" + strconv.Itoa(n); seen[out] == 0 {
			seen[name], seen[out] = n, 1
			return out
		}
	}
}

// quoteText appends s as a JSON string. What is not UTF-8 comes out as U+FFFD.
func quoteText(b []byte, s string) []byte {
	out, _ := jsontext.AppendQuote(b, s)
	return out
}
