package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// topCommands are what somebody reads in tidemark --help.
func topCommands(t *testing.T) []string {
	t.Helper()
	out, _, code := command(t, "--help")
	listed := regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) {2,}\S`).FindAllStringSubmatch(out[strings.Index(out, "[command]"):], -1)
	if code != exitOK || len(listed) == 0 {
		t.Fatalf("exit %d, %s", code, out)
	}
	var names []string
	for _, l := range listed {
		names = append(names, l[1])
	}
	return names
}

// The page of help is one that is read: few commands, each below what people look for.
func TestCommandsAreFewAndGrouped(t *testing.T) {
	if names := topCommands(t); len(names) > 30 {
		t.Errorf("%d commands stand at the top, at most 30 may: bring one below another (%s)", len(names), strings.Join(names, " "))
	}
	root := (&env{}).command()
	for _, c := range root.Commands() {
		if !c.Hidden && !root.ContainsGroup(c.GroupID) {
			t.Errorf("%s is in no group", c.Name())
		}
	}
	if out, _, _ := command(t, "--help"); strings.Contains(out, "Additional") {
		t.Errorf("there are commands in no group:\n%s", out)
	}
}

// Whoever asks a command what it can do reads what stands below it, and so does a shell.
func TestParentsListWhatIsBelow(t *testing.T) {
	for _, n := range oldNames {
		words := strings.Fields(n.now)
		parent, name := words[:len(words)-1], words[len(words)-1]
		out, _, code := command(t, append(slices.Clone(parent), "--help")...)
		if code != exitOK || !regexp.MustCompile(`(?m)^  `+name+` +\S`).MatchString(out) {
			t.Errorf("tidemark %s --help does not list %s:\n%s", strings.Join(parent, " "), name, out)
		}
		out, _, _ = command(t, slices.Concat([]string{cobra.ShellCompNoDescRequestCmd}, parent, []string{""})...)
		if !slices.Contains(strings.Split(out, "\n"), name) {
			t.Errorf("a shell does not complete tidemark %s:\n%s", n.now, out)
		}
	}
}

// Scripts and timers say the old names: what they get is what the new one gives, to the letter.
func TestOldNamesGoOn(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.yaml")
	writeFile(t, good, "preset: strict\n")
	t.Setenv("TIDEMARK_DATA", t.TempDir())
	tools := `[{"name":"send_mail","description":"Send a mail","inputSchema":{"type":"object"}}]`
	for _, n := range oldNames {
		now := strings.Fields(n.now)
		data := t.TempDir()
		cases := []struct{ before, after []string }{
			{nil, []string{"--help"}},
			{nil, []string{"-h"}},
			{nil, []string{"--no-such-flag"}},
			{nil, []string{"no-such-word", "another", "--json", "and-one-more"}},
			{[]string{"--json"}, []string{"--no-such-flag"}},
			{[]string{"--data", data, "--json"}, nil},
			{[]string{"--data=" + data}, []string{"--", "--json"}},
			{[]string{"--data", n.old}, []string{n.old, "--no-such-flag"}},
			{[]string{"help"}, nil},
			{[]string{"--data", data, "help"}, nil},
			{[]string{cobra.ShellCompRequestCmd}, []string{""}},
			{[]string{cobra.ShellCompRequestCmd, "--json"}, []string{"--"}},
			{[]string{cobra.ShellCompNoDescRequestCmd}, []string{"--no"}},
			{nil, []string{"--data", data, good}},
			{nil, []string{"--data", data, "-"}},
		}
		for _, c := range (&env{}).find(t, now).Commands() {
			cases = append(cases, struct{ before, after []string }{nil, []string{c.Name(), "--help"}},
				struct{ before, after []string }{nil, []string{c.Name(), "--no-such-flag", "x", "y", "z"}})
		}
		for _, c := range cases {
			old, oldErr, oldCode := given(t, tools, slices.Concat(c.before, []string{n.old}, c.after))
			new, newErr, newCode := given(t, tools, slices.Concat(c.before, now, c.after))
			if old != new || oldErr != newErr || oldCode != newCode {
				t.Errorf("%q %s %q: exit %d, %s%s\nby its new name: exit %d, %s%s", c.before, n.old, c.after, oldCode, old, oldErr, newCode, new, newErr)
			}
		}
	}
}

func given(t *testing.T, in string, args []string) (string, string, int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(in), &out, &errOut)
	return out.String(), errOut.String(), code
}

// find is the command of a path.
func (e *env) find(t *testing.T, path []string) *cobra.Command {
	t.Helper()
	cmd, rest, err := e.command().Find(path)
	if err != nil || len(rest) > 0 || !cmd.HasParent() {
		t.Fatalf("there is no tidemark %s: %v", strings.Join(path, " "), err)
	}
	return cmd
}

// An old name is nothing but an old name, and says nothing to a program that reads our output.
func TestOldNamesStayFree(t *testing.T) {
	root := (&env{}).command()
	if len(oldNames) < 21 {
		t.Errorf("an old name was taken away: there are %d", len(oldNames))
	}
	for _, n := range oldNames {
		cmd := (&env{}).find(t, []string{n.old})
		if !cmd.Hidden || cmd.Runnable() || cmd.HasSubCommands() {
			t.Errorf("%s is a command besides an old name", n.old)
		}
		if now := (&env{}).find(t, strings.Fields(n.now)); now.Hidden || now.CommandPath() != "tidemark "+n.now {
			t.Errorf("%s is now %s, which is no command that is shown", n.old, n.now)
		}
		same := 0
		for _, c := range root.Commands() {
			if c.Name() == n.old || c.HasAlias(n.old) {
				same++
			}
		}
		if same != 1 {
			t.Errorf("%d commands are called %s", same, n.old)
		}
	}
}

// What our own installs have written into the settings of agents, services and images stands there for years.
func TestWhatInstallsWroteGoesOn(t *testing.T) {
	for _, line := range []string{
		"hook --agent claude --installed x --wait 1s --start", "mcp --name x --env Y -- true", "llm -- true", "box keep", "run -- true",
		"serve --unless-running", "serve --listen 127.0.0.1:1", "service install", "status", "version",
	} {
		words := strings.Fields(line)
		cmd, rest, err := (&env{}).command().Find(words)
		if err != nil || !cmd.Runnable() {
			t.Errorf("tidemark %s: %v", line, err)
			continue
		}
		if flags := rest[:max(0, slices.Index(append(rest, "--"), "--"))]; cmd.ParseFlags(flags) != nil {
			t.Errorf("tidemark %s: its flags are no longer known", line)
		}
		if got, told := byNewName((&env{}).command(), words); told != "" || !slices.Equal(got, words) {
			t.Errorf("tidemark %s became %q", line, got)
		}
	}
}

// A wrong name is told what may have been meant, wherever that stands now.
func TestAWrongNameIsToldTheNewOne(t *testing.T) {
	for wrong, want := range map[string]string{
		"statsu": "did you mean status?", "aduit": "log?", "replya": "did you mean policy replay?", "rest-trust": "did you mean trust session?", "verify": "did you mean log verify?",
		"approve": "did you mean approvals approve?", "anchor": "did you mean log anchor?", "frobnicate": "tidemark --help lists them",
	} {
		if out, errOut, code := command(t, wrong); code != exitUsage || out != "" || !strings.Contains(errOut, want) {
			t.Errorf("%s: exit %d, %s%s; want %q", wrong, code, out, errOut, want)
		}
	}
}

// oldMention matches a text that has somebody type an old name: in a line, over two lines, after a variable with the
// program's path, in a list of words of a program.
func oldMention() *regexp.Regexp {
	var olds []string
	for _, n := range oldNames {
		olds = append(olds, regexp.QuoteMeta(n.old))
	}
	old := `(` + strings.Join(olds, "|") + `)`
	flags := `(?:[ ]+--(?:data|config|store)[= ]"?[^\s"]+"?|[ ]+--json)*`
	return regexp.MustCompile(`(?m)(?:^|[^\w.-])(?:tidemark|\{program\}|\$TIDEMARK|TIDEMARK"\])(?:"?\}?` + flags + `(?:[ ]+|[ ]*\\?\n[ \t]*(?://[ ]|#[ ])?)|",[ ]*"|,[ ]*")` + old +
		`(?:[^\w:=/-]|:[^\w]|$)`)
}

func TestOldMentionsAreSeen(t *testing.T) {
	for text, want := range map[string]string{
		"run `tidemark audit verify`":                   "audit",
		"see tidemark\n// check.":                       "check",
		"tidemark\naudit":                               "audit",
		`"$work/tidemark" --data "$w" --json audit`:     "audit",
		`[bin + "/tidemark", "replay", "-"]`:            "replay",
		`[os.environ["TIDEMARK"], "replay"]`:            "replay",
		`{program} replay --json`:                       "replay",
		"# added by tidemark learn: each":               "learn",
		"tidemark log export":                           "",
		"tidemark policy check":                         "",
		"tidemark:labels":                               "",
		"tidemark-audit.csv":                            "",
		`"github.com/tidemark/tidemark/internal/audit"`: "",
		"name: tidemark, labels: {}":                    "",
	} {
		got := ""
		if m := oldMention().FindStringSubmatch(text); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Nobody learns an old name from us: no document, no help, no message, no example, no package says one. What was said
// once (CHANGELOG, decisions) stays as it was, and tests may say what they like.
func TestNoTextSaysAnOldName(t *testing.T) {
	seen, says := 0, oldMention()
	look := func(where, text string) {
		for _, at := range says.FindAllStringSubmatchIndex(text, -1) {
			old := text[at[2]:at[3]]
			i := slices.IndexFunc(oldNames, func(n struct{ old, now string }) bool { return n.old == old })
			t.Errorf("%s:%d says tidemark %s, which is tidemark %s now", where, 1+strings.Count(text[:at[2]], "\n"), old, oldNames[i].now)
		}
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		switch {
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == "decisions" || d.Name() == "bin" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case !d.Type().IsRegular(), name == "CHANGELOG.md", name == "cmd/tidemark/oldnames.go", strings.HasSuffix(name, "_test.go"):
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > 1<<20 {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		seen++
		look(name, string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 500 {
		t.Errorf("only %d files were read", seen)
	}
	var every func(c *cobra.Command)
	every = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		var out bytes.Buffer
		c.SetOut(&out)
		if err := c.Help(); err != nil {
			t.Error(err)
		}
		look(c.CommandPath()+" --help", out.String())
		for _, below := range c.Commands() {
			every(below)
		}
	}
	every((&env{}).command())
}
