package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"
)

// fences are the blocks of a document between fences of a language.
func fences(doc, language string) []string {
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(doc, -1) {
		out = append(out, m[1])
	}
	return out
}

func document(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Every recipe of the cookbook does what it says.
func TestEveryRecipeOfTheCookbookHolds(t *testing.T) {
	recipes := regexp.MustCompile(`(?m)^## (\d+)\. `).Split(document(t, "docs/cookbook.md"), -1)[1:]
	if len(recipes) != 30 {
		t.Fatalf("there are %d recipes, want 30", len(recipes))
	}
	further := map[int][]string{} // tries for maintainers, by the recipe's number
	for _, part := range strings.Split(document(t, "docs/dev/cookbook.md"), "\n## ")[1:] {
		number, rest, _ := strings.Cut(part, "\n")
		n, err := strconv.Atoi(number)
		if err != nil || n > len(recipes) {
			t.Fatalf("docs/dev/cookbook.md: no recipe %q", number)
		}
		further[n] = fences(rest, "sh")
	}
	for i, recipe := range recipes {
		title, _, _ := strings.Cut(recipe, "\n")
		t.Run(title, func(t *testing.T) {
			folder := t.TempDir()
			file := filepath.Join(folder, "recipe.yaml")
			pieces := fences(recipe, "yaml")
			if len(pieces) != 1 {
				t.Fatalf("it has %d pieces of a file, want one", len(pieces))
			}
			writeFile(t, file, pieces[0])
			writeFile(t, filepath.Join(folder, "candidate.yaml"), "preset: strict\n")
			tries := 0
			for _, block := range append(fences(recipe, "sh"), further[i+1]...) {
				for line := range strings.Lines(block) {
					tries++
					tryLine(t, strings.TrimSpace(line), file)
				}
			}
			if tries == 0 {
				t.Error("nothing in it can be tried")
			}
			if i >= 20 && !strings.Contains(recipe, "Does not catch: ") {
				t.Error("it does not say what it does not catch")
			}
		})
	}
}

// tryLine runs a line of the cookbook and holds the answer against what stands behind it.
func tryLine(t *testing.T, line, file string) {
	t.Helper()
	text, want, found := strings.Cut(line, "   # ")
	words, err := shell.Fields(text, func(string) string { return "" })
	if err != nil || !found || len(words) < 3 || words[0] != "tidemark" {
		t.Fatalf("no line to try: %q, %v", line, err)
	}
	args := words[1:]
	what := args[0]
	if what == "policy" {
		what = args[1]
	}
	switch what {
	case "check":
		args[2] = file
	case "explain":
		args = append(args, "--json")
		fallthrough
	default:
		args = append(args, "--config", file, "--data", t.TempDir())
	}
	out, errOut, code := command(t, args...)
	if code != exitOK {
		t.Fatalf("%s: exit %d, %s%s", line, code, out, errOut)
	}
	verdict, rule, _ := strings.Cut(want, " ")
	switch what {
	case "try":
		if !strings.HasPrefix(out, words[2]+": "+verdict+"\n") || rule != "" && !strings.Contains(out, "because "+rule+":") {
			t.Errorf("%s\ngot\n%s", line, out)
		}
	case "explain":
		if !strings.Contains(out, `"response": "`+verdict+`"`) {
			t.Errorf("%s\ngot\n%s", line, out)
		}
	default:
		if !strings.Contains(out, verdict) {
			t.Errorf("%s\ngot\n%s", line, out)
		}
	}
}

// commandLines are the lines of a document that run our program: in blocks and in the text.
func commandLines(doc string) []string {
	var out []string
	for _, m := range regexp.MustCompile("(?m)^(?:    |)(?:\\$ )?(tidemark [a-z].*)$|`(tidemark [a-z][^`]*)`").FindAllStringSubmatch(doc, -1) {
		line, _, _ := strings.Cut(m[1]+m[2], "  #")
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

// Every command that the documentation has exists, with its flags.
func TestEveryCommandOfTheDocumentationExists(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../docs/dev/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range append(append(files, more...), "../../README.md", "../../SECURITY.md", "../../CONTRIBUTING.md") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range commandLines(string(data)) {
			plain := strings.NewReplacer("[", " ", "]", " ", "|", " ", "…", "", "(", " ", ")", " ", "<", " ", ">", " ", "&", " ", ";", " ").Replace(line)
			words, err := shell.Fields(plain, func(string) string { return "" })
			if err != nil {
				words = strings.Fields(plain)
			}
			seen++
			root := (&env{}).command()
			root.InitDefaultCompletionCmd()
			cmd, rest, err := root.Find(words[1:])
			if err != nil || !cmd.HasParent() {
				t.Errorf("%s: %q: there is no such command", filepath.Base(file), line)
				continue
			}
			for _, w := range rest {
				if w == "--" {
					break
				}
				name, isFlag := strings.CutPrefix(strings.TrimRight(w, ",.`"), "--")
				name, _, _ = strings.Cut(name, "=")
				if isFlag && cmd.Flag(name) == nil && cmd.InheritedFlags().Lookup(name) == nil && name != "help" {
					t.Errorf("%s: %q: %s has no --%s", filepath.Base(file), line, cmd.CommandPath(), name)
				}
			}
			if len(rest) > 0 && cmd.HasSubCommands() && !strings.HasPrefix(rest[0], "-") && cmd.Args != nil && cmd.ValidateArgs(rest[:1]) != nil {
				t.Errorf("%s: %q: %s has no %s", filepath.Base(file), line, cmd.CommandPath(), rest[0])
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d commands were found", seen)
	}
}
