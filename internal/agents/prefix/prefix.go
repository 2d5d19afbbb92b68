// Package prefix is the program with which an agent starts its commands, where it can be told to start all of them with one. Its hook has
// left word of what was decided about each: it runs in its session's box, or as it would without us. A command about which nothing was
// said is not run.
//
// It does I/O and judges nothing. Invariants:
//   - a command runs once for each time that it was judged, and what runs in a box is the line that was judged, byte for byte;
//   - what the agent starts that is no command of its shell (its people's hooks, MCP servers) is started as it would be without us: no hook
//     is asked about it;
//   - where anything fails nothing runs, the exit code is 125, and standard error says why.
package prefix

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/shim"
)

// Command is a line that is to run in a box, with what the agent puts around it.
type Command struct {
	Data, Ticket, Line, Dir string
	Before                  []byte   // text for the shell that comes first
	Quiet                   bool     // the line has nothing to read
	Where                   *os.File // the folder it ends in is written to this
}

// Enter runs a command in its box, or says why not, and returns the exit code.
type Enter func(c Command) int

// exitNothing says that nothing was run.
const exitNothing = 125

// Main is the program, by the name that it was started with: it returns the exit code, if there is one of its own.
func Main(program string, args []string, enter Enter, errOut io.Writer) int {
	code, err := run(program, args, enter)
	if err != nil {
		_, _ = fmt.Fprintf(errOut, "tidemark: nothing was run: %v\n", err) // nobody is left to tell
		return exitNothing
	}
	return code
}

func run(program string, args []string, enter Enter) (int, error) {
	data, name, ok := catalogue.Prefixed(program)
	a := catalogue.Lookup(name)
	if !ok || a == nil || a.Prefix == nil || !a.Prefix.Dash && len(args) != 1 {
		return 0, errors.New("this is started by an agent, with one command")
	}
	own := shell(cmp.Or(os.Getenv(a.Prefix.Own), os.Getenv("SHELL")))
	if a.Prefix.Dash {
		if len(args) != 2 || args[0] != "-c" {
			return 0, become(own, args...) // a terminal that a person opens; no command of a model is started so
		}
		args = args[1:]
	}
	w, ok := a.Prefix.Read(args[0])
	if !ok {
		return 0, become("/bin/sh", "-c", args[0])
	}
	if w.Line == "" {
		return 0, errors.New("the command comes in a form that is not known here")
	}
	session := a.Name + ":" + os.Getenv(a.Prefix.Session)
	pass, err := shim.TakePass(data, a.Name, session, w.Line)
	if err != nil {
		return 0, err
	}
	if pass.Ticket == "" {
		return 0, become(own, "-c", args[0])
	}
	return inBox(data, pass, w, enter)
}

// maxSource bounds what a shell is given with a line; the kernel takes twice as much as one argument.
const maxSource = 64 << 10

// inBox runs the line with what the agent puts around it. A file that the shell is to read first is read here: it lies where no box
// looks. One that is too large is left out, as one that cannot be read is by the agent itself.
func inBox(data string, pass shim.Pass, w catalogue.Wrapped, enter Enter) (int, error) {
	dir, err := os.Getwd()
	if err != nil {
		return 0, fmt.Errorf("find this folder: %w", err)
	}
	c := Command{Data: data, Ticket: pass.Ticket, Line: w.Line, Dir: dir, Before: []byte(w.Before), Quiet: w.Quiet}
	if info, err := os.Stat(w.Source); err == nil && info.Mode().IsRegular() && info.Size() <= maxSource {
		if text, err := os.ReadFile(w.Source); err == nil {
			c.Before = append(append(text, '\n'), c.Before...)
		}
	}
	near, far, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("ask for the folder it ends in: %w", err)
	}
	c.Where = far
	code := enter(c)
	_ = far.Close()
	if folder := ended(near); inside(folder, pass.Root) {
		note(w.Where, folder)
	}
	return code, nil
}

// ended is what the shell said of the folder it ended in, as far as it has come: somebody in the box may hold the other end open for
// ever, and write anything to it.
func ended(near *os.File) string {
	buf := make([]byte, 4096)
	n := readNow(near, buf)
	_ = near.Close()
	folder, ok := strings.CutSuffix(string(buf[:max(n, 0)]), "\n")
	if !ok || strings.ContainsAny(folder, "\n\r\x00") || !filepath.IsAbs(folder) {
		return ""
	}
	return filepath.Clean(folder)
}

// inside reports whether a folder is there, and is the one that is worked on or one below it. Into any other a box must not lead its agent.
func inside(folder, root string) bool {
	real, err := filepath.EvalSymlinks(root)
	if folder == "" || root == "" || err != nil {
		return false
	}
	if at, err := filepath.EvalSymlinks(folder); err != nil || at != folder {
		return false
	}
	rel, err := filepath.Rel(real, folder)
	return err == nil && filepath.IsLocal(rel)
}

// note writes a file that the agent reads once and removes. It must be a new one: what stands at its name could be somebody's link.
func note(file, folder string) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return // the agent stays where it is
	}
	_, _ = f.WriteString(folder + "\n") // as above
	_ = f.Close()
}

// shell is the one that the agent has lines read by: the user's, where it is one that the agent knows.
func shell(own string) string {
	if base := filepath.Base(own); base != "bash" && base != "zsh" {
		own = ""
	}
	for _, path := range []string{own, "/bin/bash", "/usr/bin/bash"} {
		//nolint:gosec // the person's own shell
		if info, err := os.Stat(path); filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return "/bin/sh"
}
