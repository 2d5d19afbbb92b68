package shell

import "mvdan.cc/sh/v3/syntax"

// tame says how plainly a program answers whose answer is put into a command.
type tame uint8

const (
	wild      tame = iota // it may say anything
	tameValue             // a folder, a date, a number: nothing that carries much or runs
	tameInit              // settings for the shell, meant to be evaluated
)

// tameWords are the programs, with the word that must follow where one does.
var tameWords = map[string]map[string]tame{
	"npm":   {"bin": tameValue, "prefix": tameValue, "root": tameValue},
	"yarn":  {"bin": tameValue},
	"pnpm":  {"bin": tameValue},
	"go":    {"env": tameValue, "version": tameValue},
	"brew":  {"--prefix": tameValue, "shellenv": tameInit},
	"git":   {"rev-parse": tameValue, "describe": tameValue},
	"date":  {"": tameValue},
	"pwd":   {"": tameValue},
	"nproc": {"": tameValue}, "uname": {"": tameValue}, "arch": {"": tameValue}, "seq": {"": tameValue}, "mktemp": {"": tameValue}, "id": {"": tameValue},
	"ssh-agent": {"": tameInit}, "dircolors": {"": tameInit}, "keychain": {"": tameInit}, "lesspipe": {"": tameInit},
	"direnv": {"hook": tameInit, "export": tameInit}, "pyenv": {"init": tameInit, "virtualenv-init": tameInit}, "rbenv": {"init": tameInit}, "nodenv": {"init": tameInit}, "goenv": {"init": tameInit},
	"zoxide": {"init": tameInit}, "starship": {"init": tameInit}, "fnm": {"env": tameInit}, "mise": {"activate": tameInit, "env": tameInit}, "opam": {"env": tameInit}, "conda": {"shell.bash": tameInit, "shell.zsh": tameInit},
	"minikube": {"docker-env": tameInit}, "docker-machine": {"env": tameInit}, "register-python-argcomplete": {"": tameInit}, "asdf": {"exec-env": tameInit},
}

// tameness is what is known of the answer of a substitution: one plain program.
func (w *walker) tameness(list []*syntax.Stmt) tame {
	if len(w.names.funcs)+len(w.names.aliases)+len(w.copied) > 0 || w.paths {
		return wild // its name may mean another
	}
	return plainAnswer(list)
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
