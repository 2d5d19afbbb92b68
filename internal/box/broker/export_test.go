package broker

import (
	"net/http"

	"github.com/tidemark/tidemark/internal/box"
)

// Lets reports whether the door of a command of docker's lets a request through.
func Lets(verb string, own []string, r *http.Request) bool {
	return (&shipping{verb: verb, own: own}).lets(r)
}

// ReadPoetry is the list of a project as poetry is given it, and what it needs.
func ReadPoetry(raw []byte) (text string, needs []string, err error) {
	p, err := readPoetry(raw)
	return string(p.text), p.needs, err
}

// ReadPoetryLock is a lock as poetry is given it, and what it pins.
func ReadPoetryLock(raw []byte) (text string, names []string, err error) {
	lock, all, err := readPoetryLock(raw)
	return string(lock), (&poetic{packages: all}).pins(), err
}

// PythonOf is the Python that a program is started by, for commands with this PATH in a workspace.
func PythonOf(program, workspace, path string) (string, error) {
	b := &Broker{opts: Options{Want: box.Want{Workspace: workspace, Env: []string{"PATH=" + path}}}}
	return b.pythonOf(program)
}
