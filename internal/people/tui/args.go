package tui

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

const (
	// deepest is how far arguments are taken apart; what is deeper is shown as JSON.
	deepest = 4
	// longValue is from how many characters on a value is taken for free text.
	longValue = 80
	// longestPattern is what the server accepts.
	longestPattern = 1024
)

// argument is one value of a call.
type argument struct {
	path    string // dots go into objects
	text    string // for people
	pattern string // what a grant can ask for; it is the exact value unless it has a *
	plain   bool   // a grant can constrain it
}

// acting are arguments that say what a call acts on. The first that is there stands for
// the call in the list, and none of them is let vary unless a person says so.
var acting = []string{
	"command", "cmd", "url", "to", "recipient", "recipients", "path", "file_path", "file",
	"host", "target", "channel", "query", "code", "name", "id",
}

var (
	hidden = regexp.MustCompile(`\[REDACTED(: [^\]]*)?\]`) // what stands where a secret was
	stars  = regexp.MustCompile(`\*{2,}`)
)

// arguments takes the redacted arguments of a call apart. What cannot be read, because
// it was cut or is no object, is the rest.
func arguments(text string) (args []argument, rest string) {
	return members(nil, "", strictjson.Value(text), 1)
}

func members(args []argument, prefix string, object strictjson.Value, depth int) ([]argument, string) {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return args, string(object)
	}
	for d.PeekKind() == '"' {
		start := d.InputOffset()
		name, err := d.ReadToken()
		if err != nil {
			return args, cutOff(object[start:])
		}
		path := prefix + name.String()
		value, err := d.ReadValue()
		if err != nil {
			return args, cutOff(object[start:])
		}
		if value.Kind() == '{' && len(value) > 2 && depth < deepest {
			args, _ = members(args, path+".", slices.Clone(value), depth+1)
			continue
		}
		args = append(args, newArgument(args, path, value))
	}
	if _, err := d.ReadToken(); err != nil {
		return args, cutOff(object[d.InputOffset():])
	}
	return args, ""
}

// cutOff is what follows the last argument that could be read; a lone brace that is
// missing was cut too.
func cutOff(tail strictjson.Value) string {
	if s := strings.Trim(string(tail), ", "); s != "" {
		return s
	}
	return "…"
}

// newArgument reads a value the way a grant's constraint will.
func newArgument(before []argument, path string, value strictjson.Value) argument {
	a := argument{path: path, text: string(value)}
	switch value.Kind() {
	case '"':
		if strictjson.Unmarshal(value, &a.text) != nil {
			return a
		}
		a.pattern, a.plain = a.text, true
	case 't', 'f':
		a.pattern, a.plain = a.text, true
	case '0':
		n, err := strconv.ParseFloat(a.text, 64)
		a.pattern, a.plain = strconv.FormatFloat(n, 'g', -1, 64), err == nil
	}
	// A secret is hidden from us too: the closest a pattern can come is anything plain.
	a.pattern = stars.ReplaceAllString(hidden.ReplaceAllString(a.pattern, "*"), "*")
	if path == "" || len(path) > longestPattern || slices.ContainsFunc(before, func(b argument) bool { return b.path == path }) {
		a.plain = false // it has no name to be asked for by, or another answers to it
	}
	return a
}

// acts reports whether the argument says what the call acts on.
func (a argument) acts() bool {
	return slices.Contains(acting, strings.ToLower(a.path[strings.LastIndexByte(a.path, '.')+1:]))
}

// freeText reports whether the value is what a person would write: long, or of many lines.
func (a argument) freeText() bool {
	return !a.acts() && (len([]rune(a.text)) > longValue || strings.ContainsAny(a.text, "\n\r"))
}

// fixable reports whether a grant can demand this value.
func (a argument) fixable() bool { return a.plain && len(a.pattern) <= longestPattern }

// fixed reports whether a grant demands this value unless a person says otherwise.
func (a argument) fixed() bool {
	return a.fixable() && !a.freeText() && (a.pattern != "*" || a.acts())
}

// mainArgument is the argument that says most about the call.
func mainArgument(args []argument) (argument, bool) {
	for _, name := range acting {
		if i := slices.IndexFunc(args, func(a argument) bool { return strings.EqualFold(a.path, name) }); i >= 0 {
			return args[i], true
		}
	}
	if len(args) == 0 {
		return argument{}, false
	}
	return args[0], true
}
