package app_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/datafolder"
)

func TestTheKeyOfAnUpstreamStaysWithTheServerTheFileNames(t *testing.T) {
	const key = "sk-of-the-file"
	t.Setenv("TEST_LLM_KEY", key)
	got := make(chan string, 1)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"data":[]}`)
	}))
	defer provider.Close()
	named := strings.Replace(provider.URL, "127.0.0.1", "localhost", 1)
	for name, c := range map[string]struct{ file, redirect, want string }{
		"where the file says": {provider.URL, "", "Bearer " + key},
		"elsewhere":           {"https://api.openai.com", provider.URL, "Bearer own"},
		"the same port":       {named, provider.URL, "Bearer own"},
		"another path of it":  {provider.URL, provider.URL + "/x", "Bearer " + key},
		"without its TLS":     {strings.Replace(provider.URL, "http:", "https:", 1), provider.URL, "Bearer own"},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			p := datafolder.Paths{Data: data, Config: filepath.Join(data, "tidemark.yaml")}
			if err := os.WriteFile(p.Config, []byte("llm:\n  upstreams:\n    openai: {baseUrl: \""+c.file+"\", keyEnv: TEST_LLM_KEY}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			o := app.Options{Paths: p, Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)}
			if c.redirect != "" {
				o.Upstreams = map[string]string{"openai": c.redirect}
			}
			a, err := app.New(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			url, err := a.Start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = a.Stop(t.Context()) }()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/openai/v1/models", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer own")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("got %d, want 200", resp.StatusCode)
			}
			if auth := <-got; auth != c.want {
				t.Errorf("the provider got %q, want %q", auth, c.want)
			}
		})
	}
}
