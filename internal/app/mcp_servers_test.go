package app_test

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/datafolder"
)

// An agent whose server was put behind Tidemark must not be given another one because the file took its name.
// MCP-40
func TestAFileThatTakesTheNameOfAWrappedServerIsRefused(t *testing.T) {
	const moved = `{"servers":{"hub":{"url":"https://hub.example/mcp","headers":{"Authorization":"Bearer secret"}}}}`
	for name, tt := range map[string]struct{ url, want string }{
		"at another address":  {"https://other.example/mcp", "mcp.servers.hub: an agent's server of this name, at another address"},
		"at the same address": {"https://hub.example/mcp", ""},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			p := datafolder.Paths{Data: data, Config: filepath.Join(data, "tidemark.yaml")}
			for file, text := range map[string]string{
				p.Config: "mcp: {servers: {hub: {url: \"" + tt.url + "\"}}}\n", filepath.Join(data, "mcp-servers.json"): moved,
			} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			a, err := app.New(t.Context(), app.Options{Paths: p, Listen: "127.0.0.1:0", Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
			if err == nil {
				err = a.Stop(t.Context())
				if tt.want != "" {
					t.Error("it starts")
				}
			}
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "tidemark mcp unwrap") ||
				strings.Contains(err.Error(), "secret")):
				t.Errorf("got %v, want %q, what to do, and no secret", err, tt.want)
			}
		})
	}
}
