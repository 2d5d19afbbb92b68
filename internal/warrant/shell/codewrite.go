package shell

import (
	"path"
	"regexp"
	"strings"
)

// opening is where code opens a file, makes a path or writes one, with the name it is given.
var opening = regexp.MustCompile(`(?i)\b(?:open|fopen|path|purepath|posixpath|write_?file\w*|append_?file\w*|createwritestream|file_put_contents` +
	`|file\.write|file\.open|rename\w*|copy\w*|move|symlink\w*|link\w*|replace)\s*\(\s*((?:[^,()\n]|\([^()\n]*\))*)`)

// codeDisguise are what code says when it puts a name together out of what is none.
var codeDisguise = append([]string{"''.join", `"".join`, "[::-1]", "reversed(", "string.fromcharcode", "charcodeat", "rot13", "maketrans", "\\x"},
	codeDecode...)

// codeWrites notes the files that code may write: every text in it that looks like one. It
// reports whether it may write others, whose names the text does not show.
func (w *walker) codeWrites(code string) (hidden bool) {
	list := quoted(code)
	for _, q := range list {
		if len(q) < 200 && fileLike(q) {
			for _, f := range w.everywhere(q) {
				note(&w.line.Writes, f)
			}
			w.makes(Made{File: w.at(q), Text: strings.Join(list, "\n"), Part: true})
		}
	}
	low := strings.ToLower(code)
	disguised := mentions(low, codeDisguise)
	for _, m := range opening.FindAllStringSubmatch(code, maxNamed) {
		if hides(strings.TrimSpace(m[1]), code, disguised) {
			return true
		}
	}
	return false
}

// fileLike reports whether a text in code may name a file.
func fileLike(q string) bool {
	if strings.ContainsAny(q, " \n\t(){}<>;,") || strings.Contains(q, "://") {
		return false
	}
	return strings.Contains(q, "/") || strings.ContainsRune(strings.TrimRight(q, "."), '.') || Lasting(q)
}

var (
	identifier = regexp.MustCompile(`^[A-Za-z_][\w.]*$`)
	composing  = regexp.MustCompile(`[+%]|\{|(?i)join|format|concat`)
	wholeText  = regexp.MustCompile(`^[A-Za-z]{0,2}(?:'[^'{]*'|"[^"{]*")$`)
)

// hides reports whether what names a file in code does not show the name. Disguised says that
// the code makes text out of what is none.
func hides(name, code string, disguised bool) bool {
	if identifier.MatchString(name) {
		if at := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\s*=\s*([^=\n][^\n;]*)`).FindStringSubmatch(code); at != nil {
			name = strings.TrimSpace(at[1])
		}
	}
	switch {
	case name == "" || wholeText.MatchString(name):
		return false
	case disguised:
		return true
	case !composing.MatchString(name):
		return false
	}
	list := quoted(name)
	return len(list) == 0 || !plainEnding(list[len(list)-1])
}

// plainEnding reports whether a name ends like a file that is looked at or edited.
func plainEnding(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return dataFiles[ext] || codeEndings[ext] || shellEndings[ext] && ext != ".envrc"
}
