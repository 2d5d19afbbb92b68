package warrant

import (
	"path"
	"slices"
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
	name := strings.TrimPrefix(r.Name, "./")
	words, ok := programs[name]
	if !ok {
		return strings.HasSuffix(r.Name, ".sh") || strings.HasSuffix(r.Name, ".py") || strings.HasPrefix(r.Path, "./")
	}
	goals := goalsOf(name, r.Args)
	switch {
	case printsAll(name, r, goals):
		return false
	case r.Fed && words != nil && (len(goals) == 0 || everyGoal[name]):
		return false // what it is to do comes from elsewhere
	case everyGoal[name]:
		return !slices.ContainsFunc(goals, func(g string) bool { return !plainGoal(name, g, words) })
	}
	return words == nil || !slices.ContainsFunc(firsts(name, r.Args), func(at int) bool { return !plainVerb(name, at, words, r) })
}

// plainVerb reports whether a program is fine where one of its words is the verb.
func plainVerb(name string, at int, words map[string]bool, r *shell.Run) bool {
	sub := r.Args[at].Text
	switch scripted := namedScripts[name] && runScript[sub]; {
	case !words[sub], r.Fed && (scripted || sub == "config"):
		return false
	case scripted:
		behind := r.Args[at+1:]
		named := firsts(name, behind)
		return len(named) > 0 && !slices.ContainsFunc(named, func(i int) bool { return !plainScript(behind[i].Text) })
	}
	return r.Name != "git" || plainGit(sub, r)
}

// firsts are the places of the words that may be the first which is no option and no value of one: behind an option that nobody here
// knows it may be either, and the next one too.
func firsts(name string, args []shell.Word) []int {
	var out []int
	open, value := false, false // what the option before may take, and does
	for i, a := range args {
		switch {
		case value:
			value = false
		case a.Text == "--":
			open = false
		case strings.HasPrefix(a.Text, "-"):
			value = valued[name+"="+a.Text]
			open = !strings.Contains(a.Text, "=") && !flagged[name+"="+a.Text]
		case strings.Contains(a.Text, "=") && !startsURL(a.Text):
			open = false
		default:
			if out = append(out, i); !open {
				return out
			}
			open = false
		}
	}
	return out
}

// printsAll reports whether a program prints what is set, secrets too.
func printsAll(name string, r *shell.Run, goals []string) bool {
	if showsAll[name] {
		return len(goals) == 0
	}
	return showsBare[name] && !slices.ContainsFunc(r.Args, func(a shell.Word) bool { return a.Text != "-p" })
}

// goalsOf are the words behind a program that are no options, and no values of options or variables.
func goalsOf(name string, args []shell.Word) []string {
	var out []string
	for i, a := range args {
		behind := i > 0 && (valued[name+"="+args[i-1].Text] || args[i-1].Text == "-j" && figure.MatchString(a.Text)) // so many at once
		if !strings.HasPrefix(a.Text, "-") && !behind && (!strings.Contains(a.Text, "=") || startsURL(a.Text)) {
			out = append(out, a.Text)
		}
	}
	return out
}

// plainGoal reports whether a goal of a build is one that is fine. What stands before it names a part of the work to Gradle; to others it
// may be the name of a program that is fetched.
func plainGoal(name, goal string, words map[string]bool) bool {
	if strings.HasPrefix(name, "gradle") {
		goal = goal[strings.LastIndexByte(goal, ':')+1:]
	}
	return words[goal]
}

var (
	everyGoal    = list("every_goal")
	valued       = list("valued_options")
	flagged      = list("flag_options")
	showsAll     = list("shows_all")
	showsBare    = list("shows_bare")
	namedScripts = list("named_scripts")
	runScript    = list("run_script")
	scripts      = list("plain_scripts")
	qualifiers   = list("script_qualifiers")
)

// plainScript reports whether a script of a project is one that builds, tests or serves it here, by every part of its name.
func plainScript(name string) bool {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == ':' || r == '-' || r == '_' || r == '.' })
	return len(parts) > 0 && scripts[parts[0]] && !slices.ContainsFunc(parts, func(p string) bool { return !scripts[p] && !qualifiers[p] })
}

// plainGit reports whether git is used without force, and leaves alone where it sends things
// and what it runs.
func plainGit(sub string, r *shell.Run) bool {
	for _, a := range r.Args {
		switch {
		case sub == "reset" && shell.Begins(a.Text, "--hard"), sub == "config" && len(r.Args) > 2:
			return false
		case sub == "remote" && (a.Text == "add" || strings.HasPrefix(a.Text, "set")):
			return false
		case shell.Begins(a.Text, "--force"), strings.HasPrefix(a.Text, "--force"), strings.HasPrefix(a.Text, "-c"):
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

// destroys is what of a command line removes what stands nowhere else, or puts it away, that the owner did not name; empty: nothing does.
// A line that only adds, or changes what the work is on, does not.
func (c *Context) destroys(line *shell.Line) string {
	for i := range line.Runs {
		r := &line.Runs[i]
		var lost []string
		switch r.Name {
		case "git":
			lost = gitLoses(r)
		case "find":
			lost = findLoses(r)
		case "sort":
			lost = valueOf(r.Args, "-o", "--output")
			if len(lost) > 0 && operands(r.Args, lost[0]) > 1 {
				lost = nil // a file that is sorted as it stands
			}
		case "mv", "rm", "shred", "truncate", "unlink":
			lost = farOperands(r.Args)
		case "dd":
			lost = valueOf(r.Args, "of=")
		}
		for _, l := range lost {
			if !c.index.Said(l) {
				return l
			}
		}
	}
	return ""
}

// gitLoses is what a verb of git's takes from the work or its history that no commit of a branch has.
func gitLoses(r *shell.Run) []string {
	for verb, ends := range gitEnds {
		args, is := shell.GitArgs(r, verb)
		stays := func(a shell.Word) bool { return a.Text == "--staged" || a.Text == "-S" } // in the work
		if !is || verb == "restore" && slices.ContainsFunc(args, stays) {
			continue
		}
		ending, all := ends["*"], []string{}
		for _, a := range args {
			switch {
			case endsBy(a.Text, ends):
				ending = true
			case !strings.HasPrefix(a.Text, "-"):
				all = append(all, a.Text)
			}
		}
		switch {
		case ending && len(all) == 0:
			return []string{"git " + verb}
		case ending:
			return all
		}
	}
	return nil
}

// endsBy reports whether a word behind a verb of git's is one by which it loses something, also shortened, with a value, or among letters.
func endsBy(word string, ends map[string]bool) bool {
	if ends[word] {
		return true
	}
	name, _, _ := strings.Cut(word, "=")
	for e := range ends {
		letter := len(e) == 2 && e[0] == '-' && len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.Contains(word, e[1:])
		if letter || len(name) > 4 && strings.HasPrefix(name, "--") && strings.HasPrefix(e, name) {
			return true
		}
	}
	return false
}

// gitEnds are git's verbs that lose something, with the words behind them by which they do; "*": whatever stands there.
var gitEnds = func() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, line := range lists.Lines("git_ends") {
		out[line[0]] = setOf(line[1:])
	}
	return out
}()

// findLoses is what find removes, or gives to a program that does.
func findLoses(r *shell.Run) []string {
	for i, a := range r.Args {
		switch {
		case a.Text == "-delete", strings.HasPrefix(a.Text, "-fprint"), strings.HasPrefix(a.Text, "-fls"):
		case strings.HasPrefix(a.Text, "-exec") || strings.HasPrefix(a.Text, "-ok"):
			if i+1 < len(r.Args) && !findEnds[r.Args[i+1].Text] {
				continue
			}
		default:
			continue
		}
		return []string{"find " + a.Text}
	}
	return nil
}

var findEnds = list("find_ends")

// farOperands are the operands of a program that lie neither in the work nor among temporary files.
func farOperands(args []shell.Word) []string {
	var out []string
	for _, a := range args {
		far := strings.HasPrefix(a.Text, "../") || a.Text != "" && strings.Contains("/~$", a.Text[:1])
		if far && !strings.HasPrefix(a.Text, "/tmp/") {
			out = append(out, a.Text)
		}
	}
	return out
}

// operands is how often a word stands behind a program.
func operands(args []shell.Word, word string) int {
	n := 0
	for _, a := range args {
		if a.Text == word {
			n++
		}
	}
	return n
}

// valueOf are the values of an option, apart from it or joined to it.
func valueOf(args []shell.Word, names ...string) []string {
	for i, a := range args {
		for _, n := range names {
			switch rest, ok := strings.CutPrefix(a.Text, n); {
			case ok && rest == "" && i+1 < len(args):
				return []string{args[i+1].Text}
			case ok && rest != "":
				return []string{strings.TrimPrefix(rest, "=")}
			}
		}
	}
	return nil
}
