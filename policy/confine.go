package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

// Confine says which commands of an agent's own shell run in a box. The zero value is none.
type Confine uint8

// The ways.
const (
	ConfineOff    Confine = iota
	ConfineAuto           // once somebody but the user has said something
	ConfineAlways         // from the first command on
)

var confineNames = [...]string{"off", "auto", "always"}

// String is the word in files.
func (c Confine) String() string {
	if int(c) < len(confineNames) {
		return confineNames[c]
	}
	return confineNames[ConfineOff]
}

// Box is what a box shows of the machine beyond what every box does. The zero value shows no more.
type Box struct {
	Write []string `json:"write"` // folders beyond the workspace that may be written: absolute, or below ~
	Read  []string `json:"read"`  // files and folders of the home that may be read
	Hide  []string `json:"hide"`  // what must not be seen besides
	Guard []string `json:"guard"` // what of the workspace must not be written: relative to it
	Ports []int    `json:"ports"` // of this machine that may be reached
	Hosts []string `json:"hosts"` // that may be read from, without sending anything
	Layer string   `json:"layer"` // what of the home is written to a layer of the box: caches, home, none
}

// layers are the words for what of the home is a layer; the first is the default.
var layers = []string{"caches", "home", "none"}

// maxBox bounds each list of a box.
const maxBox = 256

// Box is what the boxes of this policy show.
func (s *Set) Box() Box {
	b := s.box
	b.Write, b.Read, b.Hide = slices.Clone(b.Write), slices.Clone(b.Read), slices.Clone(b.Hide)
	b.Guard, b.Ports, b.Hosts = slices.Clone(b.Guard), slices.Clone(b.Ports), slices.Clone(b.Hosts)
	return b
}

// confining is when commands are confined where the file does not say it: under a preset that looks at calls. One of
// levels alone asks as it always did.
func (r *reader) confining() Confine {
	if r.base.needs != nil {
		return ConfineAuto
	}
	return ConfineOff
}

func (r *reader) readConfine(n *configfile.Node) {
	if i, ok := r.Choice(n, confineNames[:]...); ok {
		r.settings.Confine = Confine(i) // one of three
	}
}

// readBox reads what boxes show. A path that would open all of the machine or of the home is none that somebody meant.
func (r *reader) readBox(n *configfile.Node) {
	b := &r.box
	r.Fields(n, map[string]func(*configfile.Node){
		"write": func(v *configfile.Node) { b.Write = r.boxed(v, widePath) },
		"read":  func(v *configfile.Node) { b.Read = r.boxed(v, widePath) },
		"hide":  func(v *configfile.Node) { b.Hide = r.boxed(v, placed) },
		"guard": func(v *configfile.Node) { b.Guard = r.boxed(v, within) },
		"hosts": func(v *configfile.Node) { b.Hosts = r.boxed(v, hostName) },
		"layer": r.word(&b.Layer, layers...),
		"ports": func(v *configfile.Node) {
			for _, item := range r.Items(v) {
				if port, ok := r.Int(item, 1, 65_535); ok {
					b.Ports = append(b.Ports, int(port))
				}
			}
			if len(b.Ports) > maxBox {
				r.Errorf(v.Pos, "%s has more than %d entries", v.Path, maxBox)
			}
		},
	})
}

// boxed reads a list of which each entry must pass a check, which says what is wrong with it.
func (r *reader) boxed(n *configfile.Node, check func(string) string) []string {
	var out []string
	for _, item := range r.Texts(n) {
		if why := check(item.Text); why != "" {
			r.Errorf(item.Pos, "%s %s, not %q", item.Path, why, item.Text)
			continue
		}
		out = append(out, item.Text)
	}
	if len(out) > maxBox {
		r.Errorf(n.Pos, "%s has more than %d entries", n.Path, maxBox)
	}
	return out
}

// placed says what is wrong with a path of the machine.
func placed(p string) string {
	rest, home := strings.CutPrefix(p, "~/")
	if !home && !strings.HasPrefix(p, "/") && p != "~" || !leadsDown(strings.TrimPrefix(rest, "/")) {
		return `must be a path that begins with "/" or "~/"`
	}
	return ""
}

// widePath is placed for what a box opens: neither all of the machine nor all of the home.
func widePath(p string) string {
	if clean := path.Clean(p); placed(p) == "" && (clean == "/" || clean == "~" || clean == "/home" || clean == "/root") {
		return "must name one place: this one is all there is"
	}
	return placed(p)
}

// within says what is wrong with a path in the workspace.
func within(p string) string {
	if p == "" || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || !leadsDown(p) {
		return "must be a path in the workspace"
	}
	return ""
}

// leadsDown reports whether a path leads down and nowhere else.
func leadsDown(p string) bool {
	return !strings.ContainsFunc(p, func(c rune) bool { return c < ' ' }) && !slices.Contains(strings.Split(p, "/"), "..")
}

// hostName says what is wrong with the name of a host: it is no address, pattern or port.
func hostName(s string) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-."
	if len(s) > 253 || !strings.Contains(s, ".") || strings.Trim(s, letters) != "" || strings.Trim(s, "-.") != s ||
		strings.Contains(s, "..") {
		return "must be the full name of a host in lower case"
	}
	return ""
}
