package app_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/services"
	"github.com/tidemark/tidemark/internal/test/audittest"
	"github.com/tidemark/tidemark/internal/test/telegramtest"
)

// tidyM is a test run whose idle connections end with it.
type tidyM struct{ *testing.M }

func (m tidyM) Run() int {
	defer http.DefaultClient.CloseIdleConnections()
	return m.M.Run()
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(tidyM{m}) }

// server is a running App, driven over HTTP as a host and an approver do.
type server struct {
	t     *testing.T
	app   *app.App
	url   string
	paths datafolder.Paths
}

// handedOut are the tokens of data folders as they were when they were made.
var handedOut sync.Map

// serve starts an App on a data folder and a policy. It is stopped with the test.
func serve(t *testing.T, data, policy string) *server {
	t.Helper()
	s := &server{t: t, paths: datafolder.Paths{Data: data, Config: filepath.Join(data, "tidemark.yaml")}}
	s.write(policy)
	var err error
	s.app, err = app.New(t.Context(), app.Options{Paths: s.paths, Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	if s.app.NewTokens {
		handedOut.Store(data, s.app.Tokens)
	} else if known, ok := handedOut.Load(data); ok { // the disk has hashes of those of people
		s.app.Tokens, _ = known.(accounts.Tokens)
	}
	if s.url, err = s.app.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *server) stop() {
	http.DefaultClient.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.app.Stop(ctx); err != nil {
		s.t.Errorf("stop: %v", err)
	}
}

func (s *server) write(policy string) {
	s.t.Helper()
	if err := os.WriteFile(s.paths.Config, []byte(policy), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// request sends a request and returns the status and the body.
func (s *server) request(ctx context.Context, method, path, token string, in any) (int, []byte, error) {
	var body []byte
	if in != nil {
		var err error
		if body, err = strictjson.Marshal(in); err != nil {
			return 0, nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if token == s.app.Tokens.Agent {
		req.Header.Set("X-Tidemark-Owner", s.app.Tokens.Owner) // a host with a channel of the owner's
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	return res.StatusCode, data, err
}

// do is request for those that must work.
func (s *server) do(method, path, token string, in, out any) {
	s.t.Helper()
	status, data, err := s.request(s.t.Context(), method, path, token, in)
	if err != nil || status != http.StatusOK {
		s.t.Fatalf("%s %s: status %d, %v: %s", method, path, status, err, data)
	}
	if out == nil {
		return
	}
	if err := strictjson.Unmarshal(data, out); err != nil {
		s.t.Fatalf("%s %s: %v in %s", method, path, err, data)
	}
}

// answer is what a host reads out of a hook's answer.
type answer struct {
	Block    bool   `json:"block"`
	Reason   string `json:"blockReason"`
	Tidemark struct {
		Verdict  string         `json:"verdict"`
		Kind     string         `json:"kind"`
		Rule     string         `json:"rule"`
		Notice   string         `json:"notice"`
		Spent    string         `json:"spent"`
		Command  string         `json:"command"`
		Opinion  *event.Opinion `json:"opinion"`
		Ruling   *event.Ruling  `json:"ruling"`
		Approval struct {
			ID   string `json:"id"`
			Code string `json:"code"`
		} `json:"approval"`
	} `json:"tidemark"`
}

type hookBody struct {
	Event any          `json:"event"`
	Ctx   hook.Context `json:"ctx"`
}

func (s *server) hook(name hook.Name, event any, c hook.Context) answer {
	s.t.Helper()
	var a answer
	s.do(http.MethodPost, "/v1/hooks/"+string(name), s.app.Tokens.Agent, hookBody{event, c}, &a)
	return a
}

// says begins a turn with a message of the owner's.
func (s *server) says(session, text string) answer {
	s.t.Helper()
	return s.hook(hook.NameMessageReceived, hook.MessageReceived{Content: text},
		hook.Context{SessionKey: session, MessageProvider: "chat", SenderID: "1", SenderIsOwner: true})
}

// call is before_tool_call.
func (s *server) call(session, tool, args string) answer {
	s.t.Helper()
	return s.hook(hook.NameBeforeToolCall, hook.BeforeToolCall{ToolName: tool, Params: []byte(args)}, hook.Context{SessionKey: session})
}

// want calls and compares the verdict.
func (s *server) want(verdict, session, tool, args string) answer {
	s.t.Helper()
	a := s.call(session, tool, args)
	if a.Tidemark.Verdict != verdict || a.Block != (verdict != "allow") {
		s.t.Fatalf("%s %s: got %s (block %t) by %s: %s; want %s", tool, args, a.Tidemark.Verdict, a.Block, a.Tidemark.Rule, a.Reason, verdict)
	}
	return a
}

// runs is a call that is allowed, and what it brings.
func (s *server) runs(session, tool, args, result string) {
	s.t.Helper()
	s.want("allow", session, tool, args)
	text, err := strictjson.Marshal(result)
	if err != nil {
		s.t.Fatal(err)
	}
	s.hook(hook.NameAfterToolCall, hook.AfterToolCall{ToolName: tool, Params: []byte(args), Result: text}, hook.Context{SessionKey: session})
}

// fetches brings a page in.
func (s *server) fetches(session, page string) {
	s.t.Helper()
	s.runs(session, "web_fetch", `{"url":"https://page.example.com"}`, page)
}

// vote answers a question over HTTP.
func (s *server) vote(id, decision string) {
	s.t.Helper()
	s.do(http.MethodPost, "/v1/approvals/"+id, s.app.Tokens.Approver, map[string]string{"decision": decision}, nil)
}

func (s *server) questions() []engine.Question {
	s.t.Helper()
	var list struct {
		Approvals []engine.Question `json:"approvals"`
	}
	s.do(http.MethodGet, "/v1/approvals", s.app.Tokens.Approver, nil, &list)
	return list.Approvals
}

// decided are the verdicts in the log of a session.
func (s *server) decided(session string) []event.Decided {
	s.t.Helper()
	var page struct {
		Records []struct {
			Body struct {
				Decided *event.Decided `json:"decided"`
			} `json:"body"`
		} `json:"records"`
	}
	path := "/v1/audit?limit=1000&kind=" + string(event.CallDecided) + "&session=" + url.QueryEscape(session)
	s.do(http.MethodGet, path, s.app.Tokens.Approver, nil, &page)
	var out []event.Decided
	for _, r := range page.Records {
		if r.Body.Decided != nil {
			out = append(out, *r.Body.Decided)
		}
	}
	if len(out) == 0 {
		s.t.Fatalf("the log of %s has no verdict", session)
	}
	return out
}

// last is the latest verdict in the log.
func (s *server) last(session string) event.Decided {
	s.t.Helper()
	all := s.decided(session)
	return all[len(all)-1]
}

// status is what GET /v1/status says about one of those outside.
func (s *server) status(name string) services.Part {
	s.t.Helper()
	var view struct {
		Parts []services.Part `json:"parts"`
	}
	s.do(http.MethodGet, "/v1/status", s.app.Tokens.Approver, nil, &view)
	i := slices.IndexFunc(view.Parts, func(p services.Part) bool { return p.Name == name })
	if i < 0 {
		s.t.Fatalf("status has no %s: %+v", name, view.Parts)
	}
	return view.Parts[i]
}

// chatSection is a section for the bot of a test server.
func chatSection(name, base, token string) string {
	return fmt.Sprintf("%s: {botToken: '%s', chatId: '%d', allowedUserIds: [7], baseUrl: '%s'}\n", name, token, telegramtest.Chat, base)
}

// Whoever cannot be reached is shown from the start, with words that say what to do and
// no secret in them.
// VER-13 BEY-10
func TestStatusNamesThoseWhoCannotBeReached(t *testing.T) {
	bot := telegramtest.New(t)
	model := audittest.New(t, audittest.Say("allow"))
	refusing := audittest.New(t, audittest.Say("allow"))
	refusing.RequireKey("another key")
	const wrong = "123456:a-token-nobody-gave-out"
	auditor := func(base string) string {
		return fmt.Sprintf("auditor: {provider: openai, baseUrl: '%s', model: m, timeoutMs: 60000}\n", base)
	}
	tests := []struct {
		name, policy, part string
		ok                 bool
		fault              string
	}{
		{"a chat that works", chatSection("telegram", bot.URL(), telegramtest.Token), "approvals: telegram", true, ""},
		{"a bot nobody runs", chatSection("telegram", audittest.Dead(t), telegramtest.Token), "approvals: telegram", false, "check telegram: getMe"},
		{"a wrong token", chatSection("telegram", bot.URL(), wrong), "approvals: telegram", false, "is the bot token right?"},
		{"an auditor that works", auditor(model.OpenAI()), "auditor", true, ""},
		{"an auditor nobody runs", auditor(audittest.Dead(t) + "/v1"), "auditor", false, "check auditor"},
		{"an auditor with another key", auditor(refusing.OpenAI()), "auditor", false, "status 401"},
		{"a webhook nobody runs", "verifier: {enabled: true, webhook: {url: '" + audittest.Dead(t) + "/?token=t0p'}}\n", "verifier", false, "reach webhook"},
		{"a verifier's chat with a wrong token", "verifier:\n  enabled: true\n  " + chatSection("telegram", bot.URL(), wrong), "verifier", false, "reach telegram"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, t.TempDir(), tt.policy)
			for range 2 { // the second look is no better than the first
				p := s.status(tt.part)
				if p.OK != tt.ok || !strings.Contains(p.Fault, tt.fault) || tt.ok != (p.Fault == "") {
					t.Errorf("got %+v, want ok %t and a fault with %q", p, tt.ok, tt.fault)
				}
				if strings.Contains(p.Fault, "nobody-gave-out") || strings.Contains(p.Fault, "t0p") {
					t.Errorf("the fault shows a secret: %s", p.Fault)
				}
			}
			parts, err := services.Status(t.Context(), s.paths) // without the server
			i := slices.IndexFunc(parts, func(p services.Part) bool { return p.Name == tt.part })
			if err != nil || i < 0 || parts[i].OK != tt.ok {
				t.Errorf("without a server: got %+v, %v", parts, err)
			}
		})
	}
}

// VER-02
func TestASecretThatIsNotSetStartsNothing(t *testing.T) {
	for name, policy := range map[string]string{
		"of the webhook":  "verifier: {enabled: true, webhook: {url: 'https://v.example.com', secret: '${NO_SUCH_SECRET_1}'}}",
		"in a header":     "verifier: {enabled: true, webhook: {url: 'https://v.example.com', headers: {X-Key: 'k ${NO_SUCH_SECRET_1}'}}}",
		"of the bot":      chatSection("telegram", "https://bot.example.com", "${NO_SUCH_SECRET_1}"),
		"of the auditor":  "auditor: {provider: openai, model: m, apiKeyEnv: NO_SUCH_SECRET_1}",
		"of its provider": "auditor: {provider: anthropic, model: m, apiKeyEnv: NO_SUCH_SECRET_1}",
	} {
		file := filepath.Join(t.TempDir(), "tidemark.yaml")
		if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := app.New(t.Context(), app.Options{Paths: datafolder.Paths{Data: t.TempDir(), Config: file}, Logger: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), "NO_SUCH_SECRET_1") {
			t.Errorf("%s: got %v, want an error that names the variable", name, err)
		}
	}
}

// A question outlives the process that asked it: it is answered after a restart, and the
// call that is tried again runs once.
// BEY-10 SEQ-06
func TestAQuestionOutlivesARestart(t *testing.T) {
	const args = `{"command":"rollout"}`
	data := t.TempDir()
	first := serve(t, data, "")
	first.says("s", "Build what the page says")
	first.fetches("s", "make")
	held := first.want("confirm", "s", "exec", args).Tidemark.Approval
	first.stop()

	s := serve(t, data, "")
	list := s.questions()
	if len(list) != 1 || list[0].ID != held.ID || list[0].State != "pending" || list[0].Code != "" {
		t.Fatalf("after the restart: got %+v, want %s pending, without its code", list, held.ID)
	}
	if q := list[0]; len(q.Words) != 1 || len(q.Sources) != 1 || q.Sources[0].Tool != "web_fetch" || q.Sources[0].Step != 1 {
		t.Errorf("the evidence did not survive: %+v", q)
	}
	s.vote(held.ID, "approve")
	if a := s.want("allow", "s", "exec", args); a.Tidemark.Spent != held.ID {
		t.Errorf("it ran on %q, want the approval %s", a.Tidemark.Spent, held.ID)
	}
	s.want("confirm", "s", "exec", args)
}

// CAU-06
func TestAChangedAuditorWaitsForTheNextStart(t *testing.T) {
	before, after := audittest.New(t, audittest.Say("block: no")), audittest.New(t, audittest.Say("allow"))
	policy := func(m *audittest.Server) string {
		return fmt.Sprintf("toolOverrides: {exec: {'*': allow}}\nauditor: {provider: openai, baseUrl: '%s', model: m, cacheSeconds: 0}\n", m.OpenAI())
	}
	data := t.TempDir()
	s := serve(t, data, policy(before))
	s.says("s", "Read the page")
	s.fetches("s", "a page")
	reload := func() string {
		var out struct {
			Warnings []string `json:"warnings"`
		}
		s.do(http.MethodPost, "/v1/policy/reload", s.app.Tokens.Admin, nil, &out)
		return strings.Join(out.Warnings, "\n")
	}
	if got := reload(); !strings.HasSuffix(got, ": auditor is read as before") || strings.Contains(got, "\n") {
		t.Errorf("nothing has changed: got %q, want the hint about the section's name alone", got)
	}
	s.write(policy(after))
	for range 2 {
		if got := reload(); !strings.Contains(got, "auditor") || !strings.Contains(got, "takes effect at the next start") {
			t.Errorf("got %q, want a word about the next start", got)
		}
	}
	s.want("confirm", "s", "exec", `{"command":"a"}`)
	if b, a := len(before.Requests()), len(after.Requests()); b != 1 || a != 0 {
		t.Errorf("the old endpoint was asked %d times, the new one %d times", b, a)
	}
	s.stop()
	s = serve(t, data, policy(after))
	s.want("allow", "s", "exec", `{"command":"b"}`)
	if len(after.Requests()) != 1 {
		t.Error("the new endpoint was not asked after the restart")
	}
}
