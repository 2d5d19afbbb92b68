package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

func TestPathsAreFound(t *testing.T) {
	data := t.TempDir()
	if p, err := app.FindPaths(data, ""); err != nil || p.Config != "" {
		t.Errorf("no file: got %+v, %v; want no policy file", p, err)
	}
	file := filepath.Join(data, "tidemark.yaml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := app.FindPaths(data, ""); err != nil || p.Config != file {
		t.Errorf("a file in the data folder: got %+v, %v", p, err)
	}
	t.Setenv("TIDEMARK_DATA", data)
	if p, err := app.FindPaths("", "other.yaml"); err != nil || p.Data != data || p.Config != "other.yaml" {
		t.Errorf("named file and folder of the environment: got %+v, %v", p, err)
	}
}

// A file from before tokens were hashed goes on with the tokens it has, and keeps their hashes.
//
// WAR-10
func TestAnOldTokenFileIsBroughtUpToDate(t *testing.T) {
	path, long := filepath.Join(t.TempDir(), "tokens.json"), strings.Repeat("x", 40)
	if err := os.WriteFile(path, []byte(`{"agent":"a`+long+`","approver":"b`+long+`","admin":"c`+long+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got, made, err := accounts.OpenTokens(path)
	if err != nil || !made || got.Agent != "a"+long || got.Approver != httpapi.HashToken("b"+long) || got.Admin != httpapi.HashToken("c"+long) || accounts.Hashed(got.Owner) {
		t.Fatalf("got %+v, %v, %v", got, made, err)
	}
	if raw, err := os.ReadFile(path); err != nil || strings.Contains(string(raw), "b"+long) || strings.Contains(string(raw), got.Owner) || !strings.Contains(string(raw), "a"+long) {
		t.Errorf("the file holds %s (%v)", raw, err)
	}
	if again, made, err := accounts.OpenTokens(path); err != nil || made || again.Admin != got.Admin || again.Reader != got.Reader {
		t.Errorf("the second time: got %+v, %v, %v", again, made, err)
	}
}

func TestTokensOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	first, made, err := accounts.LoadTokens(path)
	if err != nil || !made || len(first.Agent) < 32 || first.Agent == first.Admin {
		t.Fatalf("got %+v, %v, %v", first, made, err)
	}
	again, made, err := accounts.LoadTokens(path)
	if err != nil || made || again.Agent != first.Agent || again.Reader != first.Reader || !accounts.Hashed(again.Owner) || !accounts.Hashed(again.Approver) || !accounts.Hashed(again.Admin) {
		t.Errorf("the second time: got %+v, %v, %v", again, made, err)
	}
	if renewed, err := accounts.RenewTokens(path); err != nil || renewed.Agent != first.Agent || accounts.Hashed(renewed.Admin) || renewed.Admin == first.Admin {
		t.Errorf("renewed: got %+v, %v", renewed, err)
	}
	same := strings.Repeat("x", 40)
	for name, c := range map[string]struct{ body, want string }{
		"a token is missing": {`{"agent":"` + same + `","approver":"` + same + `1"}`, "delete the file"},
		"two are the same":   {`{"agent":"` + same + `","approver":"` + same + `","admin":"` + same + `1"}`, "delete the file"},
		"a foreign field":    {`{"agent":"` + same + `","root":"x"}`, "newer version of tidemark, use that one"}, // deleting it would lose tokens
		"not JSON":           {`x`, "delete the file"},
	} {
		if err := os.WriteFile(path, []byte(c.body), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _, err := accounts.LoadTokens(path); err == nil || got != (accounts.Tokens{}) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v; want an error that says what to do", name, got, err)
		}
	}
}

// start runs a server on a policy file and returns its URL.
func start(t *testing.T, policy string) (*app.App, string) {
	t.Helper()
	data := t.TempDir()
	p := datafolder.Paths{Data: data, Config: filepath.Join(data, "tidemark.yaml")}
	if err := os.WriteFile(p.Config, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), app.Options{Paths: p, Listen: "127.0.0.1:0", Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	url, err := a.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := a.Stop(ctx); err != nil {
			t.Error(err)
		}
		if _, err := datafolder.FindRunning(p); err == nil {
			t.Error("the stopped server still announces itself")
		}
	})
	if r, err := datafolder.FindRunning(p); err != nil || r.URL != url {
		t.Errorf("announced %+v, %v; want %s", r, err, url)
	}
	return a, url
}

// HOOK-07 HOOK-08 HOOK-10: a plugin behind HTTP, named in the policy file, takes part in
// the hooks of a running server; it can refuse, and where it fails nothing runs.
func TestARemotePluginTakesPart(t *testing.T) {
	const secret = "a secret of the plugin's own"
	t.Setenv("PLUGIN_SECRET", secret)
	answer := `{}`
	plugin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := hook.VerifySignature([]byte(secret), r.Header.Get, body, time.Now(), time.Minute); err != nil {
			t.Errorf("signature: %v", err)
		}
		w.Header().Set("Content-Type", "application/json")
		if answer == "" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = io.WriteString(w, answer)
	}))
	defer plugin.Close()
	a, url := start(t, "hooks: [{name: guard, url: '"+plugin.URL+"', hooks: [before_tool_call], secretEnv: PLUGIN_SECRET, timeoutMs: 60000}]")

	ask := func() (blocked bool, reason string) {
		t.Helper()
		body := `{"event":{"toolName":"read","params":{"path":"a"}},"ctx":{"sessionKey":"s","messageProvider":"x","senderId":"1","senderIsOwner":true}}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/hooks/before_tool_call", bytes.NewBufferString(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+a.Tokens.Agent)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		var out struct {
			Block  bool   `json:"block"`
			Reason string `json:"blockReason"`
		}
		if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
			t.Fatal(err)
		}
		return out.Block, out.Reason
	}
	if blocked, why := ask(); blocked {
		t.Errorf("no objection: got blocked, %q", why)
	}
	answer = `{"block":true,"blockReason":"not on my watch"}`
	if blocked, why := ask(); !blocked || !strings.Contains(why, "not on my watch") {
		t.Errorf("the plugin refuses: got %v, %q", blocked, why)
	}
	for range 2 { // the same failure twice: no answer is a no both times
		answer = ""
		if blocked, why := ask(); !blocked {
			t.Errorf("the plugin fails: got let through, %q", why)
		}
	}
	answer = `{}`
	if blocked, why := ask(); blocked {
		t.Errorf("it is back: got blocked, %q", why)
	}
}

func TestABrokenPolicyStartsNothing(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	file := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(file, []byte("taintPolicy: {shared: maybe}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := app.New(t.Context(), app.Options{Paths: datafolder.Paths{Data: data, Config: file}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err == nil || !strings.Contains(err.Error(), "bad.yaml:1:23") {
		t.Errorf("got %v, want the place of the fault", err)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("the data folder was made all the same")
	}
}
