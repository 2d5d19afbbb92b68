package policy

import (
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/trust"
)

// subjectKind is which part of a call's arguments a trust rule looks at.
type subjectKind uint8

const (
	anySubject subjectKind = iota // the call as a whole
	urlSubject
	pathSubject
	commandSubject
	numSubjects
)

var subjectNames = [numSubjects]string{"", "url", "path", "command"}

// trustRule makes the trust of a response depend on the call's arguments.
type trustRule struct {
	rule     string
	tools    toolset
	kind     subjectKind
	urls     []urlPattern
	paths    []pathPattern
	commands []commandPattern
	actions  []string // of the call's action argument; shipped rules only
	when     *condition

	trust     trust.Level
	setsTrust bool
	sens      trust.Sensitivity
	setsSens  bool
	lowers    bool // applies only where it makes trust worse

	binds     bool   // it says who may read what comes
	readers   group  // who may
	otherwise Effect // what becomes of a call that would tell others
}

// subject is one thing a call is about: a URL, a path, a program.
type subject struct {
	kind   subjectKind
	ok     bool // it could be read
	url    place
	path   filePath
	run    *shell.Run
	unsure bool
}

// fits says how well the subject fits the rule's patterns.
func (r *trustRule) fits(s *subject) sureness {
	if r.kind == anySubject {
		return sure
	}
	best := no
	if r.kind != s.kind {
		return no
	}
	for _, p := range r.urls {
		best = max(best, p.match(s.url))
	}
	for _, p := range r.paths {
		best = max(best, p.match(s.path))
	}
	for _, p := range r.commands {
		best = max(best, p.match(s.run, s.unsure))
	}
	return best
}
