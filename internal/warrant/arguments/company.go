package arguments

import (
	_ "embed" // the words are part of the program
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/warrant/wordlist"
)

// Hosts name a program and its words apart, run several commands with one call, and say in
// which folder and with which settings. A command is judged in every way in which it could
// be run.

// company is what stands beside a command.
type company struct {
	words  []string // its arguments
	line   bool     // they are one text, which a shell may take apart
	folder string   // where it runs, if that matters
	env    string   // settings, as a shell would be given them
}

// beside gives the texts of an object their company: whichever of them is a command has it.
func beside(out []Leaf, path string, keys []string, fields map[string]any) {
	c := companyOf(keys, fields)
	if c == nil {
		return
	}
	for i := range out {
		name := strings.TrimPrefix(strings.TrimPrefix(out[i].Path, path), ".")
		if out[i].Quoted && !strings.ContainsAny(name, ".[") && !isWords(name) {
			out[i].with = c
		}
	}
}

func companyOf(keys []string, fields map[string]any) *company {
	var c company
	for _, k := range keys {
		switch v := fields[k].(type) {
		case string:
			switch {
			case isWords(k):
				c.add(v)
			case isFolder(k) && matters(v):
				c.folder = v
			}
		case []any:
			if isWords(k) {
				for _, l := range Of(v) {
					c.words = append(c.words, l.Text)
				}
				c.line = c.line || len(v) == 1
			}
		case map[string]any:
			if strings.HasPrefix(strings.ToLower(k), "env") {
				c.settings(v)
			}
		}
	}
	if c.words == nil && c.folder == "" && c.env == "" {
		return nil
	}
	found := c // one that is found lives on, and only that one
	return &found
}

// add takes words that are one text; it may be a list, written down.
func (c *company) add(text string) {
	if list, ok := listIn(text); ok {
		for _, l := range Of(list) {
			c.words = append(c.words, l.Text)
		}
		return
	}
	if strings.TrimSpace(text) != "" {
		c.words, c.line = append(c.words, text), true
	}
}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c *company) settings(env map[string]any) {
	for _, k := range Keys(nil, env) {
		if v, ok := env[k].(string); ok && settingName.MatchString(k) {
			c.env += "export " + k + "=" + quoted(v) + "; "
		}
	}
}

// isWords reports whether a parameter holds the words of a command that is named apart from
// them: args, argv, arguments, params, cmd_args.
func isWords(name string) bool {
	if low := strings.ToLower(name); !strings.Contains(low, "arg") && !strings.Contains(low, "param") {
		return false // nearly all of them
	}
	for _, w := range NameWords(name) {
		if strings.HasPrefix(w, "arg") || strings.HasPrefix(w, "param") {
			return true
		}
	}
	return false
}

//go:embed words.txt
var wordsText string

var folders = wordlist.Read(wordsText).Set("folders")

func isFolder(name string) bool { return folders[strings.ToLower(name)] }

var weighty = regexp.MustCompile(`^(?:[~/]|~[A-Za-z0-9_-]*/?|/(?:home|Users)/[^/]+/?|/root/?` +
	`|/(?:etc|usr|bin|sbin|boot|var|lib|opt)(?:/.*)?)$|(?:^|/)\.[^./]|\.\.`)

// matters reports whether a command means more in a folder than in the workspace: settings
// are kept there, or everything. Hosts name the workspace with every call.
func matters(folder string) bool { return weighty.MatchString(folder) }

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// listIn is the list that a text is, written down as JSON.
func listIn(text string) ([]any, bool) {
	text = strings.TrimLeft(text, "\ufeff \t\r\n")
	if !strings.HasPrefix(text, "[") {
		return nil, false
	}
	var list []any
	return list, strictjson.Unmarshal([]byte(text), &list) == nil
}

// MostCommands bounds how many readings of commands one call is worth: each may cost as much
// as the shell's own bounds allow. A call with more is not understood.
const MostCommands = 256

// Command is the whole command as text.
func (l *Leaf) Command() string {
	if l.Argv != nil {
		return strings.Join(l.Argv, " ")
	}
	return l.Text
}

// Worded reports whether the words of a command stand beside it: it names the program alone.
func (l *Leaf) Worded() bool { return l.with != nil && l.with.words != nil }

// Commands are the ways in which a command can be read: as it stands, with what stands
// beside it, and one by one where it may be a list of several.
func (l *Leaf) Commands() []Leaf {
	out := []Leaf{*l}
	read := func(text string) { out = append(out, Leaf{Path: l.Path, Text: text, Quoted: true}) }
	if c := l.with; c != nil && !l.Later {
		text := l.Command()
		for _, w := range c.words {
			text += " " + quoted(w)
		}
		read(c.around(text))
		if c.line {
			read(c.around(l.Command() + " " + strings.Join(c.words, " ")))
		}
	}
	if l.Argv != nil && several(l) {
		for _, text := range l.Argv {
			read(text)
		}
	}
	if list, ok := listIn(l.Text); ok && l.Quoted {
		for _, in := range under(nil, l.Path, list) {
			in.Later = false // of several commands, each runs
			out = append(out, in.Commands()...)
		}
	}
	return out
}

// around puts a command where it runs.
func (c *company) around(text string) string {
	if c.folder != "" {
		text = "cd " + strings.Replace(quoted(c.folder), "'~", "~'", 1) + " && " + text
	}
	return c.env + text
}

// several reports whether a list is one of commands and not of words: its name says so, or
// its first is more than a program.
func several(l *Leaf) bool {
	words := NameWords(l.Path)
	return len(words) > 0 && strings.HasSuffix(words[len(words)-1], "s") && !isWords(l.Path) || strings.ContainsAny(l.Argv[0], " ;|&")
}
