package install

import (
	_ "embed" // the plugin's text
	"fmt"
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

//go:embed opencode.js
var opencodeSource string

// opencodeHook is the line of the plugin that names the hook's program and arguments.
var opencodeHook = regexp.MustCompile(`(?m)^const HOOK = (\[.*\]);$`)

// opencodePlugin is the plugin for this hook. Its own limit lies beyond the hook's.
func opencodePlugin(c command) ([]byte, error) {
	argv, err := strictjson.Marshal(c.argv(""))
	if err != nil {
		return nil, fmt.Errorf("write plugin: %w", err)
	}
	text := strings.Replace(opencodeSource, "const HOOK = [];", "const HOOK = "+string(argv)+";", 1)
	return []byte(strings.Replace(text, "const LIMIT_MS = 0;", fmt.Sprintf("const LIMIT_MS = %d;", c.seconds()*1000), 1)), nil
}

// opencodeLimit is the line that names its own limit.
var opencodeLimit = regexp.MustCompile(`(?m)^const LIMIT_MS = \d+;$`)

// opencodeAlike reports whether a plugin is ours but for its command.
func opencodeAlike(src []byte) bool {
	bare := opencodeHook.ReplaceAll(src, []byte("const HOOK = [];"))
	return string(opencodeLimit.ReplaceAll(bare, []byte("const LIMIT_MS = 0;"))) == opencodeSource
}
