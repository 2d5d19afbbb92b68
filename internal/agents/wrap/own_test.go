package wrap

import "testing"

// Only what is known word for word is taken for a server that brings nothing from elsewhere.
func TestServersOfTheMachineAreKnownWordForWord(t *testing.T) {
	for name, tt := range map[string]struct {
		argv, env []string
		want      string
	}{
		"files":                   {[]string{"npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/me/notes"}, nil, "@modelcontextprotocol/server-filesystem"},
		"pinned":                  {[]string{"npx", "@modelcontextprotocol/server-memory@2026.8.31"}, []string{"MEMORY_FILE_PATH"}, "@modelcontextprotocol/server-memory"},
		"git":                     {[]string{"uvx", "mcp-server-git", "--repository", "."}, nil, "mcp-server-git"},
		"time":                    {[]string{"pipx", "run", "mcp-server-time==2026.10.19"}, nil, "mcp-server-time"},
		"what fetches":            {[]string{"uvx", "mcp-server-fetch"}, nil, ""},
		"a look-alike":            {[]string{"npx", "-y", "@modelcontextprotocol/server-filesystem-pro"}, nil, ""},
		"another scope":           {[]string{"npx", "-y", "@modelcontextprotoco1/server-filesystem"}, nil, ""},
		"a fork by its address":   {[]string{"npx", "-y", "@modelcontextprotocol/server-filesystem@https://evil.example/x.tgz"}, nil, ""},
		"an alias":                {[]string{"npx", "-y", "@modelcontextprotocol/server-filesystem@npm:evil"}, nil, ""},
		"another package first":   {[]string{"npx", "-p", "evil", "@modelcontextprotocol/server-filesystem"}, nil, ""},
		"another registry":        {[]string{"npx", "--registry=https://evil.example", "@modelcontextprotocol/server-filesystem"}, nil, ""},
		"a registry by variable":  {[]string{"npx", "-y", "@modelcontextprotocol/server-filesystem"}, []string{"npm_config_registry"}, ""},
		"a module by variable":    {[]string{"npx", "-y", "@modelcontextprotocol/server-filesystem"}, []string{"NODE_OPTIONS"}, ""},
		"a launcher by its path":  {[]string{"./npx", "-y", "@modelcontextprotocol/server-filesystem"}, nil, ""},
		"from another place":      {[]string{"uvx", "--from", "git+https://evil.example", "mcp-server-git"}, nil, ""},
		"a shell":                 {[]string{"sh", "-c", "npx -y @modelcontextprotocol/server-filesystem"}, nil, ""},
		"nothing behind the flag": {[]string{"npx", "-y"}, nil, ""},
		"the name of a program":   {[]string{"mcp-server-git"}, nil, ""},
		"of another kind":         {[]string{"npx", "mcp-server-git"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (&server{argv: tt.argv, env: tt.env}).ofMachine(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
