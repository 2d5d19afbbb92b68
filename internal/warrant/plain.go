package warrant

import (
	"path"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/wordlist"
)

// programs are those that are fine, each with the words that may follow where not all may.
var programs = fine(wordlist.Read(programsText))

func fine(given wordlist.Lists) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for name := range given {
		out[name] = given.Set(name)
	}
	for name := range given.Set("*") {
		out[name] = nil
	}
	delete(out, "*")
	return out
}

// plain reports whether a program of a command line looks, computes, builds and tests in
// the workspace, or is one of the workspace's own scripts.
func plain(r *shell.Run) bool {
	words, ok := programs[strings.TrimPrefix(r.Name, "./")]
	if !ok {
		return strings.HasSuffix(r.Name, ".sh") || strings.HasSuffix(r.Name, ".py") || strings.HasPrefix(r.Path, "./")
	}
	sub := ""
	for _, a := range r.Args {
		if !strings.HasPrefix(a.Text, "-") && (!strings.Contains(a.Text, "=") || startsURL(a.Text)) {
			sub = a.Text
			break
		}
	}
	if words != nil && sub != "" && !words[sub] {
		return false
	}
	return r.Name != "git" || plainGit(sub, r)
}

// plainGit reports whether git is used without force, and leaves alone where it sends things
// and what it runs.
func plainGit(sub string, r *shell.Run) bool {
	for _, a := range r.Args {
		switch {
		case sub == "reset" && a.Text == "--hard", sub == "config" && len(r.Args) > 2:
			return false
		case sub == "remote" && (a.Text == "add" || strings.HasPrefix(a.Text, "set")):
			return false
		case strings.HasPrefix(a.Text, "--force"), strings.HasPrefix(a.Text, "-c"):
			return false
		}
	}
	return true
}

var (
	contents  = list("contents")
	running   = list("running")
	obeyed    = list("obeyed")
	idle      = list("idle")
	leftovers = list("leftovers")
	frontEnd  = list("frontend")
)

// steers reports whether a file decides what a machine or an agent does next: everything
// that is not plain content in plain folders.
func steers(file string) bool {
	f := strings.ToLower(strings.ReplaceAll(file, "\\", "/"))
	base := path.Base(f)
	if dir := path.Dir(f); idle[base] && (dir == "." || !strings.Contains("/"+dir, "/.")) {
		return false
	}
	if running[base] || !contents[path.Ext(base)] {
		return true
	}
	return placed(f)
}

// placed reports whether a file is in a folder whose files something runs or obeys: one that is hidden, but for
// those in which tools leave what they found, one of programs, one of the works of others.
func placed(file string) bool {
	f := strings.ToLower(strings.ReplaceAll(file, "\\", "/"))
	far := strings.HasPrefix(f, "/") || strings.HasPrefix(f, "~")
	for seg := range strings.SplitSeq(f, "/") {
		switch {
		case strings.HasPrefix(seg, ".") && seg != "." && seg != ".." && !leftovers[seg]:
			return true
		case seg == "hooks" && frontEnd[path.Ext(f)]: // what code for browsers calls by that name
		case obeyed[seg] || seg == "bin" && far:
			return true
		}
	}
	return strings.HasPrefix(f, "/etc/") || strings.HasPrefix(f, "/usr/") || strings.HasPrefix(f, "/lib/")
}

// sensitive reports whether a file is one of those that attacks are after, wherever content
// came from.
func sensitive(file string) bool {
	low := strings.ToLower(strings.ReplaceAll(file, "\\", "/"))
	return shell.Lasting(file) || shell.Secret(file) || shell.Overseen(file) ||
		strings.HasPrefix(low, "/etc/") || strings.HasPrefix(low, ".config/") || strings.Contains(low, "/.config/")
}
