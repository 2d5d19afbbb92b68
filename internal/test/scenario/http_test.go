package scenario_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/test/scenario"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// httpDoor speaks the hook protocol over a socket, as a host in another process does,
// and the management API, as a person's tools do.
type httpDoor struct {
	server *httptest.Server
	tokens httpapi.Tokens
}

var (
	_ scenario.Door     = (*httpDoor)(nil)
	_ scenario.Hearer   = (*httpDoor)(nil)
	_ scenario.Desk     = (*httpDoor)(nil)
	_ scenario.Window   = (*httpDoor)(nil)
	_ scenario.Reloader = (*httpDoor)(nil)
)

// watched is a log that its readers can wait for.
type watched struct {
	*notify.Store
	log *memory.Store
}

func openWatched() (engine.Store, error) {
	log := &memory.Store{}
	return &watched{Store: notify.New(log), log: log}, nil
}

func openHTTP(w *scenario.World) (scenario.Door, error) {
	store, ok := w.Store.(*watched)
	if !ok {
		return nil, fmt.Errorf("store is a %T", w.Store)
	}
	quiet := slog.New(slog.DiscardHandler)
	tokens := httpapi.Tokens{
		Agent: "agent-token-0123456789", Owner: "owner-token-0123456789", Approver: "approver-token-0123456789", Admin: "admin-token-0123456789",
	}
	api, err := httpapi.New(httpapi.Options{
		Unheld:  true,
		Monitor: w.Monitor, Log: store.log, Feed: store.Store, Bus: hook.New(hook.Options{Logger: quiet}),
		Tokens: tokens, Logger: quiet, Now: w.Now,
		Reload: func(context.Context) ([]string, error) { w.Apply(); return nil, nil },
	})
	if err != nil {
		return nil, err
	}
	return &httpDoor{server: httptest.NewServer(api.Handler()), tokens: tokens}, nil
}

// Close stops the server.
func (d *httpDoor) Close() error {
	d.server.Close()
	return nil
}

// note is what the hooks' answers say about the monitor's view.
type note struct {
	Taint    string         `json:"taint"`
	Label    trust.Label    `json:"label"`
	Level    string         `json:"level"`
	Command  string         `json:"command"`
	Notice   string         `json:"notice"`
	Verdict  string         `json:"verdict"`
	Kind     string         `json:"kind"`
	Rule     string         `json:"rule"`
	Reasons  []reason       `json:"reasons"`
	Spent    string         `json:"spent"`
	Write    string         `json:"write"`
	Hidden   []string       `json:"hidden"`
	Opinion  *event.Opinion `json:"opinion"`
	Ruling   *event.Ruling  `json:"ruling"`
	Approval struct {
		ID     string `json:"id"`
		Code   string `json:"code"`
		Prompt string `json:"prompt"`
	} `json:"approval"`
}

type reason struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
}

// answer is any hook's answer.
type answer struct {
	Block        bool   `json:"block"`
	BlockReason  string `json:"blockReason"`
	SystemPrompt string `json:"systemPrompt"`
	AppendFooter string `json:"appendFooter"`
	Tools        []any  `json:"tools"`
	ToolCalls    []any  `json:"toolCalls"`
	Tidemark     note   `json:"tidemark"`
}

func (d *httpDoor) hook(ctx context.Context, name hook.Name, event hook.Event, c hook.Context) (answer, error) {
	body := struct {
		Event hook.Event   `json:"event"`
		Ctx   hook.Context `json:"ctx"`
	}{event, c}
	var out answer
	err := d.do(ctx, http.MethodPost, "/v1/hooks/"+string(name), d.tokens.Agent, body, &out)
	return out, err
}

// do sends one request. What the API calls sealed, answered or unknown comes back as
// the error it stands for.
func (d *httpDoor) do(ctx context.Context, method, path, token string, in, out any) error {
	data, err := d.raw(ctx, method, path, token, in)
	if err != nil || out == nil {
		return err
	}
	return strictjson.Unmarshal(data, out)
}

func (d *httpDoor) raw(ctx context.Context, method, path, token string, in any) ([]byte, error) {
	var body []byte
	if in != nil {
		var err error
		if body, err = strictjson.Marshal(in); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, d.server.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if token == d.tokens.Agent {
		req.Header.Set("X-Tidemark-Owner", d.tokens.Owner) // a host with a channel of the owner's
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := d.server.Client().Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode == http.StatusOK {
		return data, err
	}
	return nil, problemOf(res.StatusCode, data)
}

func problemOf(status int, data []byte) error {
	var p struct {
		Type   string `json:"type"`
		Detail string `json:"detail"`
	}
	if err := strictjson.Unmarshal(data, &p); err != nil {
		return fmt.Errorf("status %d: %w", status, err)
	}
	switch {
	case strings.HasSuffix(p.Type, ":sealed"):
		return fmt.Errorf("%s: %w", p.Detail, engine.ErrSealed)
	case strings.HasSuffix(p.Type, ":answered"), strings.HasPrefix(p.Detail, "not approved: "):
		return &engine.AnswerError{Err: errors.New(p.Detail), TriesLeft: -1}
	case status == http.StatusNotFound:
		return fmt.Errorf("%s: %w", p.Detail, engine.ErrNotFound)
	}
	return fmt.Errorf("status %d: %s: %s", status, p.Type, p.Detail)
}

func hookContext(ref engine.Ref) hook.Context {
	return hook.Context{SessionKey: ref.Session, Branch: ref.Branch, RunID: ref.Turn}
}

// Begin says who speaks: message_received where there is a message, before_agent_start
// where there is none, and context_assembled where the host has a census.
func (d *httpDoor) Begin(ctx context.Context, t engine.Turn) (scenario.Outcome, error) {
	c := hookContext(t.Ref)
	c.AgentID, c.MessageProvider, c.SenderID = t.Agent, t.Sender.Provider, t.Sender.ID
	c.HostTools = t.HostTools
	c.SenderIsOwner, c.GroupID, c.SpawnedBy = t.Sender.IsOwner, t.Sender.Group, t.Sender.SpawnedBy
	if t.Sender.Unknown {
		no := false
		c.SenderMetadata = &no
	}
	if t.Forked {
		c.ParentBranch = &t.Parent
	}
	if t.From != "" {
		c.InputProvenance = &hook.InputProvenance{Kind: "inter_session", SourceSessionKey: t.From}
	}
	var a answer
	var err error
	if t.Message != nil {
		a, err = d.hook(ctx, hook.NameMessageReceived, &hook.MessageReceived{Content: *t.Message}, c)
	} else {
		a, err = d.hook(ctx, hook.NameBeforeAgentStart, &hook.BeforeAgentStart{}, c)
	}
	if err != nil {
		return scenario.Outcome{}, err
	}
	n := a.Tidemark
	if len(t.Items) > 0 {
		census := &hook.ContextAssembled{}
		for _, it := range t.Items {
			census.Sources = append(census.Sources, hook.Source{Kind: it.Kind, Tool: it.Tool, Trust: it.Trust, MessageIndex: it.Index})
		}
		if a, err = d.hook(ctx, hook.NameContextAssembled, census, c); err != nil {
			return scenario.Outcome{}, err
		}
	}
	return scenario.Outcome{Level: n.Level, Rule: n.Rule, Taint: a.Tidemark.Taint, Command: n.Command, Notice: n.Notice}, nil
}

// Model sends before_llm_call and believes what a plain host would: the tools that are
// left, and block.
func (d *httpDoor) Model(ctx context.Context, call engine.ModelCall) (scenario.Outcome, error) {
	event := &hook.BeforeLLMCall{Model: call.Model, Iteration: max(call.Iteration, 0)}
	for _, def := range call.Definitions {
		t, err := toolOf(def)
		if err != nil {
			return scenario.Outcome{}, err
		}
		event.Tools = append(event.Tools, t)
	}
	a, err := d.hook(ctx, hook.NameBeforeLLMCall, event, hookContext(call.Ref))
	if err != nil {
		return scenario.Outcome{}, err
	}
	o := layerOf(a)
	o.Notice = a.SystemPrompt
	if a.Tools != nil && !a.Block {
		hidden := func(n string) bool { return slices.Contains(o.Hidden, n) }
		if kept := slices.DeleteFunc(slices.Clone(call.Tools), hidden); len(kept) != len(a.Tools) {
			return o, fmt.Errorf("%d tools are left, but %v are hidden of %v", len(a.Tools), o.Hidden, call.Tools)
		}
	}
	return o, nil
}

// toolOf is a definition as hosts write it; one that is only a name stays one.
func toolOf(def tool.Definition) (hook.Tool, error) {
	if def.Description == "" && len(def.Schema) == 0 {
		return hook.ToolNamed(def.Name), nil
	}
	body := map[string]any{"name": def.Name, "description": def.Description}
	if len(def.Schema) > 0 {
		body["parameters"] = strictjson.Value(def.Schema)
	}
	raw, err := strictjson.Marshal(body)
	if err != nil {
		return hook.Tool{}, err
	}
	return hook.NewTool(raw)
}

func layerOf(a answer) scenario.Outcome {
	n := a.Tidemark
	o := scenario.Outcome{Hidden: n.Hidden, Blocked: a.Block, Rule: n.Rule, Taint: n.Taint}
	if a.Block {
		o.Reason = strings.TrimSuffix(a.BlockReason, " (rule "+n.Rule+")")
	}
	return o
}

// Wants sends after_llm_call.
func (d *httpDoor) Wants(ctx context.Context, asked engine.ModelReply) (scenario.Outcome, error) {
	event := &hook.AfterLLMCall{Iteration: max(asked.Iteration, 0)}
	for i, name := range asked.Calls {
		event.ToolCalls = append(event.ToolCalls, hook.ToolCall{ID: fmt.Sprintf("wanted-%d", i), Name: name})
	}
	a, err := d.hook(ctx, hook.NameAfterLLMCall, event, hookContext(asked.Ref))
	if err != nil {
		return scenario.Outcome{}, err
	}
	return layerOf(a), nil
}

// Call sends before_tool_call. A plain host runs the tool unless it is told to block.
func (d *httpDoor) Call(ctx context.Context, ref engine.Ref, call tool.Call) (scenario.Outcome, error) {
	event := &hook.BeforeToolCall{ToolName: call.Name, Params: call.Args, ToolCallID: call.ID}
	a, err := d.hook(ctx, hook.NameBeforeToolCall, event, hookContext(ref))
	if err != nil {
		return scenario.Outcome{}, err
	}
	n := a.Tidemark
	if (n.Verdict == policy.Allow.String()) == a.Block {
		return scenario.Outcome{}, fmt.Errorf("block is %t, the verdict %s", a.Block, n.Verdict)
	}
	o := scenario.Outcome{
		Verdict: n.Verdict, Kind: n.Kind, Rule: n.Rule, Taint: n.Taint, Evidence: plain(engine.Evidence(n.Label)),
		Text: plain(a.BlockReason), Approved: n.Spent != "", Code: n.Approval.Code, Question: n.Approval.ID, Write: n.Write,
		Notice: n.Notice, Prompt: n.Approval.Prompt,
	}
	o.Counsel(n.Opinion, n.Ruling)
	for i, r := range n.Reasons {
		if i == 0 {
			o.Reason = r.Text
		}
		o.Reasons = append(o.Reasons, r.Rule)
	}
	return o, nil
}

// plain takes JSON's quotes and line breaks off an excerpt: over this door a result is
// a JSON value.
func plain(text string) string {
	return strings.NewReplacer(`“"`, "“", `"”`, "”", `\n`, " ").Replace(text)
}

// Result sends after_tool_call.
func (d *httpDoor) Result(ctx context.Context, o engine.Observation) (scenario.Outcome, error) {
	event := &hook.AfterToolCall{ToolName: o.Result.Name, Params: o.Result.Args, ToolCallID: o.Result.CallID}
	if o.Result.Error {
		event.Error = string(o.Result.Content)
	} else {
		text, err := strictjson.Marshal(string(o.Result.Content))
		if err != nil {
			return scenario.Outcome{}, err
		}
		event.Result = text
	}
	c := hookContext(o.Ref)
	if o.From != "" {
		c.InputProvenance = &hook.InputProvenance{Kind: "inter_session", SourceSessionKey: o.From}
	}
	a, err := d.hook(ctx, hook.NameAfterToolCall, event, c)
	return scenario.Outcome{Level: a.Tidemark.Level, Taint: a.Tidemark.Taint}, err
}

// End sends before_response_emit.
func (d *httpDoor) End(ctx context.Context, end engine.Ending) (scenario.Outcome, error) {
	a, err := d.hook(ctx, hook.NameBeforeResponseEmit, &hook.BeforeResponseEmit{Content: string(end.Content)}, hookContext(end.Ref))
	return scenario.Outcome{Taint: a.Tidemark.Taint, Footer: a.AppendFooter}, err
}

// Answer posts a vote on a question.
func (d *httpDoor) Answer(ctx context.Context, v engine.Vote) (scenario.Outcome, error) {
	in := struct {
		Decision string            `json:"decision"`
		Minutes  int               `json:"minutes,omitzero"`
		Session  string            `json:"session"`
		Reason   string            `json:"reason,omitzero"`
		Where    map[string]string `json:"where,omitempty"`
	}{"deny", int(v.For / time.Minute), v.Session, v.Reason, v.Where}
	if v.Approve {
		in.Decision = "approve"
	}
	var out struct {
		Notice string `json:"notice"`
	}
	err := d.do(ctx, http.MethodPost, "/v1/approvals/"+url.PathEscape(v.IDs[0]), d.tokens.Approver, in, &out)
	return scenario.Outcome{Notice: out.Notice}, err
}

// Review posts what becomes of a held write.
func (d *httpDoor) Review(ctx context.Context, session, write string, release bool) error {
	in := map[string]string{"action": "discard", "session": session}
	if release {
		in["action"] = "release"
	}
	return d.do(ctx, http.MethodPost, "/v1/writes/"+url.PathEscape(write), d.tokens.Approver, in, nil)
}

// Reset posts an administrator's reset.
func (d *httpDoor) Reset(ctx context.Context, ref engine.Ref) error {
	path := "/v1/sessions/" + url.PathEscape(ref.Session) + "/reset-trust"
	return d.do(ctx, http.MethodPost, path, d.tokens.Admin, map[string]string{"branch": ref.Branch}, nil)
}

// Revoke deletes a grant.
func (d *httpDoor) Revoke(ctx context.Context, session, grant string) error {
	path := "/v1/grants/" + url.PathEscape(grant) + "?session=" + url.QueryEscape(session)
	return d.do(ctx, http.MethodDelete, path, d.tokens.Approver, nil, nil)
}

// State gets a session.
func (d *httpDoor) State(ctx context.Context, ref engine.Ref) (scenario.Outcome, error) {
	var v engine.View
	if err := d.do(ctx, http.MethodGet, "/v1/sessions/"+url.PathEscape(ref.Session), d.tokens.Approver, nil, &v); err != nil {
		return scenario.Outcome{}, err
	}
	return scenario.StateOf(v, ref.Branch)
}

// Picture gets the text picture of a turn.
func (d *httpDoor) Picture(ctx context.Context, session, turn string) (string, error) {
	if turn == "" {
		turn = "latest"
	}
	path := "/v1/sessions/" + url.PathEscape(session) + "/turns/" + url.PathEscape(turn) + "/graph?format=text"
	data, err := d.raw(ctx, http.MethodGet, path, d.tokens.Approver, nil)
	return string(data), err
}

// Reload posts a reload of the policy.
func (d *httpDoor) Reload(ctx context.Context) error {
	return d.do(ctx, http.MethodPost, "/v1/policy/reload", d.tokens.Admin, nil, nil)
}
