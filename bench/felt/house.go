package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tidemark/tidemark/bench/rig"
	"github.com/tidemark/tidemark/internal/mcp/relay"
)

// house is a server with its folder, and what its doors lead to.
type house struct {
	*rig.Process
	dir      string
	tokens   tokens
	client   *http.Client
	upstream *http.Server
}

// tokens are those that the folder keeps as they are.
type tokens struct {
	Agent  string `json:"agent"`
	Reader string `json:"reader"`
}

// policy has the doors lead to an upstream of this process; the MCP server's answers count as this machine's.
const policy = `maxIterations: 1000000
llm:
  upstreams:
    openai: {api: openai, baseUrl: %[1]s}
mcp:
  servers:
    up: {url: %[2]s}
trustRules:
  - {name: own, tools: ["up__*"], trust: local}
`

func open(ctx context.Context, store string) (h *house, err error) {
	h = &house{client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 512, IdleConnTimeout: 5 * time.Second}}}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	program, err := rig.Built(ctx)
	if err != nil {
		return h, err
	}
	var upstream string
	if upstream, h.upstream, err = rig.Listen(ctx, http.HandlerFunc(answer)); err != nil {
		return h, err
	}
	if h.dir, err = os.MkdirTemp("", "tidemark-felt-"); err != nil {
		return h, err
	}
	config := filepath.Join(h.dir, "tidemark.yaml")
	text := fmt.Sprintf(policy, strconv.Quote(upstream), strconv.Quote(upstream+"/mcp"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return h, err
	}
	cmd := exec.CommandContext(ctx, program, "serve", "--json", "--log-level", "error", "--listen", "127.0.0.1:0", "--data", h.dir)
	cmd.Stderr = io.Discard // calls that are refused on purpose
	cmd.Env = append(os.Environ(), "TIDEMARK_STORE="+store)
	if h.Process, err = rig.Start(cmd); err != nil {
		return h, err
	}
	raw, err := os.ReadFile(filepath.Join(h.dir, "tokens.json"))
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(raw, &h.tokens); err != nil {
		return h, err
	}
	return h, rig.Ready(ctx, h.client, h.URL+"/healthz")
}

func (h *house) close() error {
	h.client.CloseIdleConnections()
	if h.Process != nil {
		h.Stop()
	}
	var errs []error
	if h.upstream != nil {
		errs = append(errs, h.upstream.Close())
	}
	if h.dir != "" {
		errs = append(errs, os.RemoveAll(h.dir))
	}
	return errors.Join(errs...)
}

// answer is the upstream of the LLM proxy and of the MCP gateway: it answers at once.
func answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path != "/mcp" {
		_, _ = io.WriteString(w, `{"id":"c","object":"chat.completion","created":1,"model":"m",`+
			`"choices":[{"index":0,"message":{"role":"assistant","content":"That is what it says."},"finish_reason":"stop"}]}`)
		return
	}
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(body, &asked) // a notification has none
	if len(asked.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`, asked.ID)
}

// post sends one request to a door; what is not 2xx is an error.
func (h *house) post(ctx context.Context, path, token string, body []byte, session string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+token)
	if session != "" {
		req.Header.Set(relay.SessionHeader, session)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return err
	}
	said, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s: %s: %s", path, resp.Status, said[:min(len(said), 300)])
	}
	return nil
}

type fields = map[string]any

// hook posts one hook of a session of the owner's.
func (h *house) hook(ctx context.Context, session, name string, event fields) error {
	body, err := json.Marshal(fields{"event": event, "ctx": fields{
		"sessionKey": session, "agentId": "main", "messageProvider": "cli", "senderId": "u", "senderIsOwner": true,
	}})
	if err != nil {
		return err
	}
	return h.post(ctx, "/v1/hooks/"+name, h.tokens.Agent, body, "")
}
