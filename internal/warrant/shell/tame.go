package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// tame says how plainly a program answers whose answer is put into a command.
type tame uint8

const (
	wild      tame = iota // it may say anything
	tameValue             // a folder, a date, a number: nothing that carries much or runs
	tameInit              // settings for the shell, meant to be evaluated
)

// tameWords are the programs, with the word that must follow where one does.
var tameWords = map[string]map[string]tame{
	"npm":                         {"bin": tameValue, "prefix": tameValue, "root": tameValue},
	"yarn":                        {"bin": tameValue},
	"pnpm":                        {"bin": tameValue},
	"go":                          {"env": tameValue, "version": tameValue},
	"brew":                        {"--prefix": tameValue, "shellenv": tameInit},
	"git":                         {"rev-parse": tameValue, "describe": tameValue},
	"date":                        {"": tameValue},
	"pwd":                         {"": tameValue},
	"nproc":                       {"": tameValue},
	"uname":                       {"": tameValue},
	"arch":                        {"": tameValue},
	"seq":                         {"": tameValue},
	"mktemp":                      {"": tameValue},
	"id":                          {"": tameValue},
	"ssh-agent":                   {"": tameInit},
	"dircolors":                   {"": tameInit},
	"keychain":                    {"": tameInit},
	"lesspipe":                    {"": tameInit},
	"direnv":                      {"hook": tameInit, "export": tameInit},
	"pyenv":                       {"init": tameInit, "virtualenv-init": tameInit},
	"rbenv":                       {"init": tameInit},
	"nodenv":                      {"init": tameInit},
	"goenv":                       {"init": tameInit},
	"zoxide":                      {"init": tameInit},
	"starship":                    {"init": tameInit},
	"fnm":                         {"env": tameInit},
	"mise":                        {"activate": tameInit, "env": tameInit},
	"opam":                        {"env": tameInit},
	"conda":                       {"shell.bash": tameInit, "shell.zsh": tameInit},
	"minikube":                    {"docker-env": tameInit},
	"docker-machine":              {"env": tameInit},
	"register-python-argcomplete": {"": tameInit},
	"asdf":                        {"exec-env": tameInit},
}

// tameness is what is known of the answer of a substitution: one plain program.
func (w *walker) tameness(list []*syntax.Stmt) tame {
	if w.renamed() {
		return wild
	}
	return plainAnswer(list)
}

// renamed reports whether the name of a program may mean another.
func (w *walker) renamed() bool {
	return len(w.names.funcs)+len(w.names.aliases)+len(w.copied) > 0 || w.paths
}

// ofPrograms reports whether all that a value for PATH leaves open is where the programs are
// that are found already.
func (w *walker) ofPrograms(n *syntax.Word) bool {
	if w.renamed() {
		return false
	}
	parts := n.Parts
	if q, ok := parts[0].(*syntax.DblQuoted); ok && len(parts) == 1 {
		parts = q.Parts
	}
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
		case *syntax.ParamExp:
			if name := plainParam(p); name != "PATH" && places[name] == "" {
				return false
			}
		case *syntax.CmdSubst:
			if !tellsFolder(p.Stmts) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// tellsFolder reports whether all that commands do is to say where programs are.
func tellsFolder(list []*syntax.Stmt) bool {
	if plainAnswer(list) == tameValue {
		return true
	}
	words := literal(list)
	switch strings.Join(words[:min(len(words), 2)], " ") {
	case "yarn global":
		return len(words) == 3 && words[2] == "bin"
	case "dirname ":
		inner := list[0].Cmd.(*syntax.CallExpr).Args[1].Parts
		if q, ok := inner[0].(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
			inner = q.Parts
		}
		if s, ok := inner[0].(*syntax.CmdSubst); ok && len(words) == 2 && len(inner) == 1 {
			asked := literal(s.Stmts)
			return asksWhere(asked)
		}
	}
	return false
}

// asksWhere reports whether a command only says where one program is.
func asksWhere(words []string) bool {
	switch len(words) {
	case 2:
		return words[0] == "which" && words[1] != ""
	case 3:
		return words[0] == "command" && words[1] == "-v" && words[2] != ""
	}
	return false
}

// literal are the words of one plain command; those that are not plain text are empty.
func literal(list []*syntax.Stmt) []string {
	if len(list) != 1 || len(list[0].Redirs) > 0 {
		return nil
	}
	c, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 {
		return nil
	}
	var out []string
	for _, a := range c.Args {
		out = append(out, a.Lit())
	}
	return out
}

// answered is what is known of a value that is nothing but the answer of a program.
func answered(n *syntax.Word) tame {
	if n == nil || len(n.Parts) != 1 {
		return wild
	}
	part := n.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	if s, ok := part.(*syntax.CmdSubst); ok {
		return plainAnswer(s.Stmts)
	}
	return wild
}

// plainAnswer is what is known of the answer of one plain program.
func plainAnswer(list []*syntax.Stmt) tame {
	if len(list) != 1 || len(list[0].Redirs) > 0 {
		return wild
	}
	c, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || len(c.Assigns) > 0 {
		return wild
	}
	for _, a := range c.Args {
		if substitutes(a) {
			return wild
		}
	}
	words := tameWords[c.Args[0].Lit()]
	if t, ok := words[""]; ok {
		return t
	}
	if len(c.Args) > 1 {
		return words[c.Args[1].Lit()]
	}
	return wild
}

// told is what is known of what a substitution puts out.
type told uint8

const (
	anything  told = iota
	nameTold       // the name of something of the work
	valueTold      // a date, a number, a folder: no name of anybody's choosing
)

// dated is how a date may be asked for, without a word of one's own in it.
var dated = regexp.MustCompile(`^\+(?:%[A-Za-z]|[-_:.0-9T])*$`)

// worded reports whether a word for date puts a text of its own into the answer.
func worded(s string) bool { return strings.HasPrefix(s, "+") && !dated.MatchString(s) }

// flagsOnly are programs that answer with a word of the system's, where they are given nothing but flags.
var flagsOnly = set("nproc uname arch id whoami hostname pwd")

// answer is what is known of the answer of one plain program.
func (w *walker) answer(list []*syntax.Stmt) told {
	words := quietly(list)
	if w.renamed() || len(words) == 0 || slices.Contains(words, "") {
		return anything
	}
	flag := func(s string) bool { return strings.HasPrefix(s, "-") && !strings.ContainsAny(s, "=/~$") }
	name, rest := words[0], words[1:]
	switch line := strings.Join(rest, " "); {
	case flagsOnly[name] && !slices.ContainsFunc(rest, func(s string) bool { return !flag(s) }),
		name == "date" && !slices.ContainsFunc(rest, worded),
		name == "seq" && !slices.ContainsFunc(rest, func(s string) bool { return strings.Trim(s, "0123456789") != "" }),
		name == "mktemp" && !slices.ContainsFunc(rest, func(s string) bool { return !flag(s) && !under(path.Clean(s), "/tmp") }):
		return valueTold
	case name == "git" && (line == "rev-parse --show-toplevel" || line == "rev-parse HEAD" || line == "rev-parse --short HEAD"):
		return valueTold
	case name == "git" && (line == "branch --show-current" || line == "rev-parse --abbrev-ref HEAD" || strings.HasPrefix(line, "describe")):
		return nameTold
	}
	return anything
}

// quietly are the words of one plain command whose mistakes may go nowhere.
func quietly(list []*syntax.Stmt) []string {
	if len(list) != 1 {
		return nil
	}
	for _, r := range list[0].Redirs {
		if r.N == nil || r.N.Value != "2" || r.Word == nil || r.Word.Lit() != "/dev/null" {
			return nil
		}
	}
	c, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 {
		return nil
	}
	var out []string
	for _, a := range c.Args {
		out = append(out, plainText(a))
	}
	return out
}
