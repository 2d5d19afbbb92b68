package toolinfo

import (
	"slices"
	"strings"
)

// name is a parameter's name in words.
type name struct {
	all  []string // singular
	head string   // the word that says what it is
	mods []string // the words before it
}

// maxPlain is how many words a plain name of a parameter has.
const maxPlain = 3

// PlainName reports whether a name is made of nothing but words that parameters are called by, and of few of them: whoever chose it could
// say nothing else with it.
func PlainName(parameter string) bool {
	list := words(parameter)
	if len(list) == 0 || len(list) > maxPlain {
		return false
	}
	return !slices.ContainsFunc(list, func(w string) bool { return !isParameter.has(singular(w)) })
}

func nameOf(path string) name {
	path = strings.TrimRight(path, "[]0123456789")
	if i := strings.LastIndexAny(path, ".]"); i >= 0 {
		path = path[i+1:]
	}
	var n name
	for _, w := range words(path) {
		n.all = append(n.all, singular(w))
	}
	rest := slices.Clone(n.all)
	for len(rest) > 1 && isDecoration.has(rest[len(rest)-1]) {
		rest = rest[:len(rest)-1]
	}
	for len(rest) > 1 && isDecoration.has(rest[0]) {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		n.head, n.mods = rest[len(rest)-1], rest[:len(rest)-1]
	}
	return n
}

func (n *name) mod(s set) bool { return slices.ContainsFunc(n.mods, s.has) }

// before is the word in front of the head.
func (n *name) before() string {
	if len(n.mods) == 0 {
		return ""
	}
	return n.mods[len(n.mods)-1]
}

// secret tells a password from a page token, and a security code from a country code.
func (n *name) secret() bool {
	switch n.head {
	case "token":
		return !n.mod(isPaging)
	case "code":
		return n.mod(isCredential) || n.before() == "verification" || n.before() == "security"
	case "number":
		return n.before() == "card"
	}
	return isCredential.has(n.head)
}

// saves reports whether the name says that something is put there: save_path, outputFile.
func (n *name) saves() bool {
	return len(n.all) > 1 && n.mod(isSaving) && (isPathWord.has(n.head) || n.head == "to")
}

// record reports whether the name is that of an identifier: issue_number, commit_sha, and not
// a page's number.
func (n *name) record() bool {
	if isNumbering.has(n.head) {
		return len(n.mods) > 0 && !isPaging.has(n.before()) && !isOrdinal.has(n.before())
	}
	return isRecordKey.has(n.head)
}

// decides reports whether the value matters for what the act means: a decision, a permission,
// who may see the result, that nothing is asked or kept.
func (n *name) decides(f *field) bool {
	if f.fixed && (n.head == "event" || n.head == "state") && slices.ContainsFunc(f.values, names) {
		return true
	}
	if slices.ContainsFunc(f.values, isAudience) || isDeciding.has(n.head) {
		return true
	}
	return (isGrade.has(n.head) || n.head == "state" && f.fixed) && (n.head == "state" || n.mod(isDeciding))
}

// names reports whether a listed value names an act.
func names(value string) bool { return readName(value).act > Read }
