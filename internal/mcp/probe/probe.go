// Package probe asks an MCP server over HTTP what it is: its name, the revision it speaks, its
// tools. It calls a tool only where it is told which, and with no arguments.
//
// It does network I/O through the client it is handed, and starts nothing. Answers are bounded.
package probe

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// The revisions that are offered: the newest that needs no handshake, and the newest that has one.
const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

const (
	maxAnswer = 4 << 20
	maxPages  = 50
)

// Found is what a server says of itself.
type Found struct {
	Version string   `json:"version"` // the revision that it speaks
	Server  string   `json:"server"`
	Tools   []string `json:"tools"`
}

// Server asks a server, and calls one of its tools where one is named.
func Server(ctx context.Context, client *http.Client, url, call string) (Found, error) {
	c := &conn{client: client, url: url, version: modern}
	var hello struct {
		Supported []string `json:"supportedVersions"`
		Version   string   `json:"protocolVersion"`
		Info      info     `json:"serverInfo"`
		Meta      struct {
			Info info `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	err := c.ask(ctx, "server/discover", map[string]any{}, &hello)
	var said *Refused
	if errors.As(err, &said) { // an older server, which knows no such question
		c.version = ""
		err = c.ask(ctx, "initialize", map[string]any{
			"protocolVersion": legacy, "capabilities": map[string]any{}, "clientInfo": self,
		}, &hello)
		if err == nil {
			c.version, c.old = hello.Version, true
			err = c.tell(ctx, "notifications/initialized")
		}
	}
	if err != nil {
		return Found{}, err
	}
	f := Found{Version: c.version, Server: hello.Info.Name + hello.Meta.Info.Name, Tools: []string{}}
	if err := c.tools(ctx, &f); err != nil || call == "" {
		return f, err
	}
	c.name = call
	var out struct {
		Failed bool `json:"isError"`
	}
	if err := c.ask(ctx, "tools/call", map[string]any{"name": call, "arguments": map[string]any{}}, &out); err != nil {
		return f, err
	}
	if out.Failed {
		return f, errors.New("the tool says that it failed")
	}
	return f, nil
}

// info is how one side introduces itself.
type info struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

var self = info{Name: "tidemark-probe", Version: "1"}

// conn is a conversation with a server.
type conn struct {
	client  *http.Client
	url     string
	version string // "": not settled yet
	session string
	old     bool   // it began with a handshake
	name    string // of the tool that is called
	id      int
}

// tools lists them, page by page.
func (c *conn) tools(ctx context.Context, f *Found) error {
	cursor := ""
	for range maxPages {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		var page struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
			Next string `json:"nextCursor"`
		}
		if err := c.ask(ctx, "tools/list", params, &page); err != nil {
			return err
		}
		for _, t := range page.Tools {
			f.Tools = append(f.Tools, t.Name)
		}
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
	return errors.New("ask server: its list of tools does not end")
}

// Refused is an answer that says no.
type Refused struct {
	Status int
	Code   int
	Text   string
}

func (r *Refused) Error() string {
	if r.Text != "" {
		return fmt.Sprintf("the server says: %s (%d)", r.Text, r.Code)
	}
	return fmt.Sprintf("the server answers with status %d", r.Status)
}

// ask sends one request and reads its result.
func (c *conn) ask(ctx context.Context, method string, params map[string]any, out any) error {
	c.id++
	if !c.old && c.version != "" {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion": c.version, "io.modelcontextprotocol/clientInfo": self,
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	res, err := c.post(ctx, method, map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // it was read
	raw, err := answer(res, strconv.Itoa(c.id))
	if err != nil {
		return fmt.Errorf("ask server: %w", err)
	}
	var m struct {
		Result strictjson.Value `json:"result"`
		Error  *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := strictjson.Unmarshal(raw, &m); err != nil {
		return &Refused{Status: res.StatusCode}
	}
	switch {
	case m.Error != nil:
		return &Refused{res.StatusCode, m.Error.Code, m.Error.Message}
	case res.StatusCode != http.StatusOK || m.Result == nil:
		return &Refused{Status: res.StatusCode}
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" && method == "initialize" {
		c.session = id
	}
	return strictjson.Unmarshal(m.Result, out)
}

// tell sends a notification.
func (c *conn) tell(ctx context.Context, method string) error {
	res, err := c.post(ctx, method, map[string]any{"jsonrpc": "2.0", "method": method})
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer)); err != nil {
		return errors.Join(fmt.Errorf("ask server: %w", err), res.Body.Close())
	}
	if res.StatusCode >= http.StatusBadRequest {
		return errors.Join(&Refused{Status: res.StatusCode}, res.Body.Close())
	}
	return res.Body.Close()
}

func (c *conn) post(ctx context.Context, method string, message any) (*http.Response, error) {
	raw, err := strictjson.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("ask server: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(raw))
	if err != nil {
		return nil, errors.New("ask server: its address cannot be read")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.version != "" {
		req.Header.Set("MCP-Protocol-Version", c.version)
	}
	if !c.old && c.version != "" {
		req.Header.Set("Mcp-Method", method)
		if c.name != "" {
			req.Header.Set("Mcp-Name", c.name)
		}
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	res, err := c.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask server: %w", err)
	}
	return res, nil
}

// answer is the message that answers the request: the body, or one event of a stream.
func answer(res *http.Response, id string) ([]byte, error) {
	body := io.LimitReader(res.Body, maxAnswer)
	if kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type")); err != nil || kind != "text/event-stream" {
		return io.ReadAll(body)
	}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxAnswer)
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		if more, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, bytes.TrimPrefix(more, []byte(" "))...)
			continue
		}
		if len(line) > 0 {
			continue
		}
		var m struct {
			ID     strictjson.Value `json:"id"`
			Method string           `json:"method"`
		}
		if strictjson.Unmarshal(data, &m) == nil && string(m.ID) == id && m.Method == "" {
			return data, nil
		}
		data = nil
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return nil, errors.New("the stream ended without an answer")
}
