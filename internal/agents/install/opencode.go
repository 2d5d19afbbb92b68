package install

import (
	_ "embed" // the plugin's text
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

//go:embed opencode.js
var opencodeSource string

// opencodeExtra writes the plugin: a program in JavaScript that starts the hook.
func opencodeExtra() extra {
	return extra{
		files: func(_ World, plan []file, c catalogue.Command) ([]file, error) {
			body, err := opencodePlugin(c)
			plan[0].Own = body
			return plan, err
		},
		script: &catalogue.Script{Command: opencodeCommand, Alike: opencodeAlike},
	}
}

// opencodeHook is the line of the plugin that names the hook's program and arguments.
var opencodeHook = regexp.MustCompile(`(?m)^const HOOK = (\[.*\]);$`)

// opencodeLimit is the line that names its own limit.
var opencodeLimit = regexp.MustCompile(`(?m)^const LIMIT_MS = \d+;$`)

// opencodeShell is the line that names the program with which its commands are started.
var opencodeShell = regexp.MustCompile(`(?m)^const SHELL = "([^"\n]*)";`)

// opencodePlugin is the plugin for this hook. Its own limit lies beyond the hook's.
func opencodePlugin(c catalogue.Command) ([]byte, error) {
	argv, err := strictjson.Marshal(c.Argv())
	if err != nil {
		return nil, fmt.Errorf("write plugin: %w", err)
	}
	text := strings.Replace(opencodeSource, "const HOOK = [];", "const HOOK = "+string(argv)+";", 1)
	if c.Prefix != "" {
		program, err := strictjson.Marshal(c.Prefix)
		if err != nil {
			return nil, fmt.Errorf("write plugin: %w", err)
		}
		text = strings.Replace(text, `const SHELL = "";`, "const SHELL = "+string(program)+";", 1)
	}
	return []byte(strings.Replace(text, "const LIMIT_MS = 0;", fmt.Sprintf("const LIMIT_MS = %d;", c.Seconds()*1000), 1)), nil
}

// opencodeAlike reports whether a plugin is ours but for its command. The program that starts its commands must be that of the data folder
// which the command names: any other is somebody's.
func opencodeAlike(src []byte) bool {
	if m := opencodeShell.FindSubmatch(src); m != nil && len(m[1]) > 0 {
		argv := opencodeCommand(src)
		at := slices.Index(argv, "--data")
		if at < 0 || at+1 >= len(argv) || string(m[1]) != catalogue.PrefixProgram(argv[at+1], "opencode") {
			return false
		}
	}
	bare := opencodeShell.ReplaceAll(opencodeHook.ReplaceAll(src, []byte("const HOOK = [];")), []byte(`const SHELL = "";`))
	return string(opencodeLimit.ReplaceAll(bare, []byte("const LIMIT_MS = 0;"))) == opencodeSource
}

func opencodeCommand(src []byte) []string {
	m := opencodeHook.FindSubmatch(src)
	if m == nil {
		return nil
	}
	var argv []string
	if strictjson.Unmarshal(m[1], &argv) != nil {
		return nil
	}
	return argv
}
