package policy

import (
	"fmt"
	"path"
	"strings"

	"github.com/tidemark/tidemark/internal/base/glob"
)

// pathPattern is a file path with * and **; it may begin with ~/ for any home.
// A pattern without a slash fits a file of that name in any folder.
type pathPattern struct {
	exact []string // as written, for a sure match
	loose []string // lower case and, for ~ and bare names, anywhere
}

func parsePathPattern(s string) (pathPattern, error) {
	clean := strings.ReplaceAll(s, `\`, "/")
	if strings.ContainsRune(clean, 0) {
		return pathPattern{}, fmt.Errorf("path pattern %q holds a zero byte", s)
	}
	if climbs(clean) {
		return pathPattern{}, fmt.Errorf("path pattern %q holds .., which a cleaned path never does", s)
	}
	clean = path.Clean(clean)
	if !strings.Contains(clean, "/") {
		clean = "**/" + clean
	}
	exact := segments(clean)
	loose := segments(strings.ToLower(clean))
	if loose[0] == "~" {
		loose[0] = "**"
	}
	return pathPattern{exact: exact, loose: loose}, nil
}

// segments keeps the leading empty one of an absolute path.
func segments(p string) []string { return strings.Split(p, "/") }

// filePath is a path from a call's arguments, cleaned.
type filePath struct {
	segs  []string
	plain bool // nothing in it can lead elsewhere than it says
}

// readPath cleans a path; ok is false for what no file system would take.
func readPath(s string) (filePath, bool) {
	if s == "" || strings.ContainsAny(s, "\x00\n\r") {
		return filePath{}, false
	}
	plain := true
	if rest, ok := strings.CutPrefix(s, "file://"); ok {
		s, plain = rest, false
	}
	for _, home := range []string{"$HOME", "${HOME}", "%USERPROFILE%"} {
		if rest, ok := strings.CutPrefix(s, home); ok {
			s, plain = "~"+rest, false
		}
	}
	if len(s) > 2 && s[1] == ':' && s[2] == '\\' {
		s = strings.ReplaceAll(s, `\`, "/") // a Windows path, where it means nothing else
	}
	if strings.ContainsAny(s, `\$%*?`) {
		plain = false
	}
	s = strings.ReplaceAll(s, `\`, "/")
	plain = plain && !climbs(s)
	return filePath{segs: segments(path.Clean(s)), plain: plain}, true
}

func (p pathPattern) match(f filePath) sureness {
	if f.plain && glob.Path(p.exact, f.segs) {
		return sure
	}
	segs := make([]string, len(f.segs))
	for i, seg := range f.segs {
		segs[i] = strings.ToLower(seg)
	}
	if glob.Path(p.loose, segs) {
		return maybe
	}
	// a way up from nobody knows where may end at an absolute path
	for len(segs) > 0 && segs[0] == ".." {
		segs = segs[1:]
	}
	if len(segs) < len(f.segs) && glob.Path(p.loose, append([]string{""}, segs...)) {
		return maybe
	}
	return no
}
