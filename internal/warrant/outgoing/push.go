package outgoing

import (
	"regexp"
	"slices"
	"strings"
)

// Push is what a git push does over there besides adding commits to a branch. The zero Push does no more than that.
type Push struct {
	To      string   // where to, by a name or an address; empty: where the branch goes
	Forces  bool     // it puts something else in the place of what is there
	Removes bool     // it takes something away
	Tags    bool     // it sets tags
	Many    bool     // all that there is here, not what is named
	Unread  bool     // it does what nobody here knows
	Names   []string // what is set or taken away over there, where that is not called as it is here, or is taken away
	Marks   []string // names that may be tags
}

// More reports whether a push does more than adding commits.
func (p *Push) More() bool {
	return p.Forces || p.Removes || p.Tags || p.Many || p.Unread || len(p.Names)+len(p.Marks) > 0
}

// lettersOfPush are options of one letter: what they do, or nothing. pushOptions are those with a name. What is in neither nobody
// knows; git takes the beginning of a name for the name, so that "--forc" is one of these.
var (
	lettersOfPush = map[rune]Push{'u': {}, 'q': {}, 'v': {}, 'n': {}, '4': {}, '6': {}, 'f': {Forces: true}, 'd': {Removes: true}}
	pushOptions   = map[string]Push{
		"--set-upstream": {}, "--dry-run": {}, "--porcelain": {}, "--quiet": {}, "--verbose": {}, "--progress": {}, "--no-progress": {},
		"--atomic": {}, "--no-verify": {}, "--verify": {}, "--no-force-with-lease": {}, "--no-follow-tags": {}, "--no-tags": {},
		"--thin": {}, "--no-thin": {}, "--ipv4": {}, "--ipv6": {},
		"--force": {Forces: true}, "--force-with-lease": {Forces: true}, "--force-if-includes": {Forces: true}, "--delete": {Removes: true},
		"--prune": {Removes: true, Many: true}, "--mirror": {Forces: true, Removes: true, Many: true},
		"--all": {Many: true}, "--branches": {Many: true},
		"--tags": {Tags: true}, "--follow-tags": {Tags: true},
	}
	version = regexp.MustCompile(`^[A-Za-z._/-]*v?[0-9]+(\.[0-9]+)+([._+-].*)?$`)
)

// Pushes reads the words behind "git push". known tells for each whether it is what it will be when it runs; nil: all are.
func Pushes(args []string, known func(i int) bool) Push {
	var out Push
	var operands []string
	for i, a := range args {
		switch {
		case known != nil && !known(i):
			out.Unread = true
		case !strings.HasPrefix(a, "-"):
			operands = append(operands, a)
		default:
			out.add(optionOfPush(a))
		}
	}
	if len(operands) > 0 {
		out.To, operands = operands[0], operands[1:]
	}
	for i, ref := range operands {
		if ref == "tag" && i+1 < len(operands) {
			out.Tags = true
			continue
		}
		out.ref(ref)
	}
	return out
}

func optionOfPush(a string) Push {
	if strings.HasPrefix(a, "--") {
		name, _, given := strings.Cut(a, "=")
		if o, ok := pushOptions[name]; ok && (!given || name == "--force-with-lease") {
			return o
		}
		return Push{Unread: true}
	}
	var out Push
	for _, c := range a[1:] {
		o, ok := lettersOfPush[c]
		if out.add(o); !ok {
			out.Unread = true
		}
	}
	return out
}

func (p *Push) add(o Push) {
	p.Forces, p.Removes, p.Tags = p.Forces || o.Forces, p.Removes || o.Removes, p.Tags || o.Tags
	p.Many, p.Unread = p.Many || o.Many, p.Unread || o.Unread
}

// ref reads what is to be set over there.
func (p *Push) ref(text string) {
	text, plus := strings.CutPrefix(text, "+")
	p.Forces = p.Forces || plus
	from, to, both := strings.Cut(text, ":")
	if !both {
		to = from
	}
	p.Tags = p.Tags || strings.HasPrefix(to, "refs/tags/")
	p.Many = p.Many || strings.ContainsAny(text, "*^~@{") || text == ":"
	p.Unread = p.Unread || strings.HasPrefix(to, "refs/") && !strings.HasPrefix(to, "refs/tags/") && !strings.HasPrefix(to, "refs/heads/")
	bare := func(ref string) string {
		return strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/tags/")
	}
	name := bare(to)
	p.Removes = p.Removes || both && from == "" && to != ""
	switch {
	case name == "":
	case p.Removes || bare(from) != name:
		if !slices.Contains(p.Names, name) {
			p.Names = append(p.Names, name)
		}
	case version.MatchString(name):
		p.Marks = append(p.Marks, name)
	}
}
