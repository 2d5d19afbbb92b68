package shell

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/text"
)

// escapes are the ways by which programs that are no shells run a command for one.
var escapes = func() map[string][]string {
	out := map[string][]string{}
	for names, marks := range map[string][]string{
		"vim vi nvim ex view vimdiff gvim ed": {"!", "system("},
		"less more man most":                  {"!"},
		"sqlite3":                             {".system ", ".shell "},
		"psql":                                {`\!`, "program '"},
		"mysql mariadb":                       {`\!`, "system "},
		"ftp lftp sftp":                       {"!"},
		"expect":                              {"spawn ", "exec ", "system "},
		"emacs":                               {"shell-command ", "call-process "},
		"guile":                               {"(system "},
		"julia":                               {"run(`"},
	} {
		for n := range strings.FieldsSeq(names) {
			out[n] = marks
		}
	}
	return out
}()

// escaped reads the commands that words of a program, or what it is fed, hand to a shell.
func (c *call) escaped() {
	marks := escapes[c.name]
	if marks == nil {
		return
	}
	list := c.args
	if c.in.known {
		list = append(list[:len(list):len(list)], Word{Text: c.in.text, Known: true})
	}
	for _, a := range list {
		for _, m := range marks {
			if _, end := text.IndexFold(a.Text, m); end >= 0 {
				c.afterMark(a, a.Text[end:])
				break
			}
		}
	}
	if c.name == "man" {
		flags, _ := options(c.args, "P", set("--pager"))
		for _, v := range append(flags["-P"], flags["--pager"]...) {
			c.script(v, flow{})
		}
	}
}

// afterMark reads the text after a mark, up to the end of its line.
func (c *call) afterMark(a Word, rest string) {
	rest, _, _ = strings.Cut(rest, "\n")
	rest = strings.TrimSpace(rest)
	switch {
	case rest == "" || rest[0] == '=':
	case !a.Known:
		c.unread()
	default:
		if q := rest[0]; q == '\'' || q == '"' || q == '`' || q == '(' {
			rest = strings.Trim(rest, "'\"`()")
		}
		c.does |= c.started(strings.TrimRight(rest, "'\"`);"))
	}
}

var (
	archiveLong = set(`--checkpoint-action --to-command --use-compress-program --info-script --new-volume-script --rsh-command
		--file --directory --unzip-command`)
	archiveRunning = []string{
		"--to-command", "--use-compress-program", "--info-script", "--new-volume-script", "--rsh-command", "-I", "-F",
		"--unzip-command",
	}
)

// archiveRuns reads the commands that tar and zip are told to run.
func (c *call) archiveRuns() {
	flags, rest := options(c.args, "IFfCTbX", archiveLong)
	if c.name == "zip" {
		flags, _ = options(c.args, "", set("-TT --unzip-command"))
		for i, a := range c.args {
			if a.Text == "-TT" && i+1 < len(c.args) {
				c.script(c.args[i+1].Text, flow{})
			}
		}
	}
	for _, v := range valuesOf(flags, archiveRunning...) {
		c.script(v, c.in)
	}
	for _, v := range flags["--checkpoint-action"] {
		if run, ok := strings.CutPrefix(v, "exec="); ok {
			c.script(run, flow{})
		}
	}
	for _, f := range append(flags["-f"], flags["--file"]...) {
		c.otherMachine(f)
	}
	if len(rest) > 1 && !strings.HasPrefix(c.args[0].Text, "-") && c.name == "tar" {
		c.otherMachine(rest[1].Text)
	}
}

// otherMachine notes host:path.
func (c *call) otherMachine(file string) {
	if host, _, ok := strings.Cut(file, ":"); ok && !strings.Contains(host, "/") && len(host) > 1 {
		c.does |= NetworkRead | NetworkWrite
		c.address(host)
	}
}
