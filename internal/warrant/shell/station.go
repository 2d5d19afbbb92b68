package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Station is where what watches the agent stands itself: whoever gets at it can answer in
// the owner's place or switch it off. It is data, handed in by whoever knows; the zero
// Station is the one that an installation without settings has.
type Station struct {
	Data []string // folders it keeps its data in
	Port string   // it listens on; "" is the usual one
	Home string   // of the user it runs as, so that a home spelled out is known for one
	PID  string
}

// usualPort is the one it listens on where nothing else is said.
const usualPort = "8417"

// usual is what is guarded wherever it stands: the data folder where none is given, and the
// settings of a host that hold our token.
var usual = []string{"~/.local/share/tidemark", "~/.openclaw/openclaw.json", "~/.openclaw/openclaw.json.*"}

// Watch tells the reader where the station is.
func (r *Reader) Watch(s Station) {
	r.station = s
	r.guarded = nil
	for _, f := range s.Data {
		if f != "" {
			r.guarded = append(r.guarded, r.parts(nil, f))
		}
	}
	r.guarded = append(r.guarded, usualParts()...)
}

func usualParts() [][]string {
	out := make([][]string, 0, len(usual))
	for _, f := range usual {
		out = append(out, strings.Split(f, "/"))
	}
	return out
}

// Guards reports whether a file, or one that a pattern may stand for, is the station's own.
func (r *Reader) Guards(file string) bool { return r.relation(file) == inside }

// Around reports whether a folder has the station's files in it, or is among them: to read
// all that is in it is to read them.
func (r *Reader) Around(folder string) bool { return r.relation(folder) != apart }

// relation is how a path stands to the files that are guarded.
type relation int

const (
	apart  relation = iota
	above           // a folder around them
	inside          // one of them, or the folder itself
)

func (r *Reader) relation(file string) relation {
	if file == "" || len(file) > maxFolderName {
		return apart
	}
	if webby(file) {
		return apart
	}
	var room [12]string // most paths have fewer folders
	have, out := room[:1], apart
	if have[0] = file; !single(file) {
		have = r.parts(room[:0], file)
	}
	for _, want := range r.guarded {
		out = max(out, related(have, want))
	}
	return out
}

// webby reports whether a value is plainly an address of the web, and no file in any reading.
func webby(value string) bool {
	return (strings.HasPrefix(value, "https://") || strings.HasPrefix(value, "http://")) &&
		!strings.Contains(value, "..") && !signed(value)
}

// signed reports whether a value has a sign by which it may be read as something else than it
// seems.
func signed(value string) bool {
	for _, b := range []byte(value) {
		switch b {
		case '*', '?', '[', '\\', '$', '~', '"', '\'':
			return true
		}
	}
	return false
}

// single reports whether a value is one name of small letters, digits and dashes, and so by
// itself the only part of a path.
func single(value string) bool {
	for _, b := range []byte(value) {
		if (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '_' && b != '-' {
			return false
		}
	}
	return true
}

// parts adds a path by its folders to an empty list, with every home as "~".
func (r *Reader) parts(to []string, file string) []string {
	file = strings.ToLower(cleaned(file))
	if rest, ok := strings.CutPrefix(file, "/proc/"); ok {
		if _, in, ok := strings.Cut(rest, "/root/"); ok {
			file = "/" + in // the same files by another way
		}
	}
	if home := strings.ToLower(strings.TrimRight(r.station.Home, "/")); home != "" && under(file, home) {
		return slashed(to, "~"+file[len(home):])
	}
	all := slashed(to, file)
	switch {
	case len(all) > 2 && all[0] == "" && (all[1] == "home" || all[1] == "users"):
		all[2] = "~"
		return all[2:]
	case len(all) > 1 && all[0] == "" && all[1] == "root":
		all[1] = "~"
		return all[1:]
	case strings.HasPrefix(file, "~"):
		all[0] = "~"
	case file == "/":
		return all[:1]
	}
	return all
}

// slashed adds the parts of a path between its slashes.
func slashed(to []string, file string) []string {
	for {
		part, rest, more := strings.Cut(file, "/")
		if to = append(to, part); !more {
			return to
		}
		file = rest
	}
}

// related compares a path, which may be a pattern, with one that is guarded.
func related(have, want []string) relation {
	switch {
	case have[0] == want[0]:
		return along(have[1:], want[1:])
	case have[0] == "" && want[0] == "~" && len(have) <= 2:
		if len(have) == 1 || part(have[1], "home") || part(have[1], "users") || part(have[1], "root") {
			return above
		}
	case have[0] == "$" || have[0] == "**":
		return anywhere(have[1:], want, 1)
	case have[0] != "" && have[0] != "~":
		return anywhere(have, want, 2)
	}
	return apart
}

// along compares them folder by folder.
func along(have, want []string) relation {
	for i, h := range have {
		switch {
		case i == len(want):
			return inside
		case h == "**":
			return inside // it may be any of them
		case !part(h, want[i]):
			return apart
		}
	}
	if len(have) == len(want) {
		return inside
	}
	return above
}

// anywhere compares a path whose beginning is not known with the end of one that is guarded.
// At least so many folders must be the same, and one of them by its name.
func anywhere(have, want []string, least int) relation {
	for from := 1; from < len(want); from++ {
		tail := want[from:]
		if len(tail) < least || len(have) < len(tail) {
			continue
		}
		if along(have, tail) != inside {
			continue
		}
		for _, h := range have[:len(tail)] {
			if !strings.ContainsAny(h, "*?[$") {
				return inside
			}
		}
	}
	return apart
}

// part reports whether a folder's name, or a shell's pattern, may be the name that is wanted.
func part(have, want string) bool {
	if have == want {
		return true
	}
	if strings.ContainsAny(want, "*") {
		ok, err := path.Match(want, have)
		return ok && err == nil
	}
	if !strings.ContainsAny(have, `*?[\$`) {
		return false // it is a name, and another one
	}
	have = strings.ReplaceAll(have, "$", "*")
	if have == "" || want != "" && want[0] == '.' && strings.ContainsAny(have[:1], "*?") {
		return false // a pattern leaves hidden files out
	}
	ok, err := path.Match(have, want)
	return ok && err == nil
}

// Touches reports whether a value that a tool is given is a file of the station's, or its
// address. With deep, a folder around its files counts too.
func (r *Reader) Touches(value string, deep bool) bool {
	if value == "" || len(value) > maxFolderName || spaced(value) {
		return false
	}
	if r.Reaches(value) && isAddress.MatchString(value) { // nearly all values name no such port
		return true
	}
	return r.Guards(value) || deep && r.Around(value)
}

// spaced reports whether a value has a blank in it: it is no name of anything then.
func spaced(value string) bool {
	for _, b := range []byte(value) {
		if b == ' ' || b == '\n' || b == '\t' {
			return true
		}
	}
	return false
}

// isAddress is a value that names a host and a port.
var isAddress = regexp.MustCompile(`(?i)^(?:[a-z][a-z0-9+.-]*:)?(?://)?[^/\s]*:0*[0-9]+(?:[/?#]|$)`)

// takesAll are words of tools that take the content of all that is in a folder.
var takesAll = set("grep ripgrep rg copy cp move mv archive zip tar compress upload sync backup rsync")

// TakesAll reports whether a tool takes the content of whole folders, by the words of its name.
func TakesAll(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return takesAll[w] })
}

// typing are tools that type into a program which runs already, and typed what they type.
var (
	typing = set(`process write_stdin send_keys sendkeys send_input terminal_input write_to_terminal terminal_write tmux_send_keys
		send_to_terminal write_to_process process_write pty_write interact_with_process send_terminal_input`)
	typed = set("data text keys input chars literal stdin characters command content line value")
)

// Typed reports whether an argument of a tool is typed into a running program: most of them
// are shells, so that it is a command.
func Typed(tool, param string) bool {
	name := param[strings.LastIndexByte(param, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	return typing[tool] && typed[strings.ToLower(name)]
}
