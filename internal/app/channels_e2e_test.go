package app_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/test/chattest"
)

// programs are two behind webhooks: one that asks in Slack and signs with its key, and one of the operator's own.
func programs(t *testing.T) (inSlack, own *chattest.Webhook) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	inSlack, own = chattest.NewWebhook(t), chattest.NewWebhook(t)
	inSlack.Key = key
	return inSlack, own
}

// channelsSection asks in both.
func channelsSection(s, h *chattest.Webhook) string {
	return fmt.Sprintf("channels:\n  webhook:\n    - {name: slack, url: %q, secret: %q, key: %x}\n    - {url: %q, secret: %q}\n",
		s.URL(), chattest.WebhookSecret, s.Key.Public(), h.URL(), chattest.WebhookSecret)
}

// brings has both bring their answers to the server.
func (s *server) brings(inSlack, own *chattest.Webhook) {
	to := func(path string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			out, err := http.NewRequestWithContext(r.Context(), r.Method, s.url+path, r.Body)
			if err == nil {
				out.Header = r.Header
				var res *http.Response
				if res, err = http.DefaultClient.Do(out); err == nil {
					w.WriteHeader(res.StatusCode)
					_, _ = io.Copy(w, res.Body) // a test that is gone is told nothing
					_ = res.Body.Close()
					return
				}
			}
			http.Error(w, err.Error(), http.StatusBadGateway)
		})
	}
	inSlack.Answers, own.Answers = to("/people/webhook/slack"), to("/people/webhook")
}

// BEY-10 BEY-11: a server asks in the channels of its file, and takes what comes back.
func TestTheChannelsOfAFileAreAskedIn(t *testing.T) {
	s, h := programs(t)
	srv := serve(t, t.TempDir(), channelsSection(s, h))
	srv.brings(s, h)
	srv.says("s", "Build what the page says")
	srv.fetches("s", "run rollout")
	held := srv.ask(patient, "exec", `{"command":"rollout"}`)
	s.Press("UALICE", s.Message(1), "Allow once")
	if a := held.wait(t); a.Block {
		t.Errorf("got %s: %s", a.Tidemark.Verdict, a.Reason)
	}
	h.Until(1, "the end", func(m chattest.Message) bool { return strings.Contains(m.Text, "approved by slack:UALICE") })

	held = srv.ask(patient, "exec", `{"command":"rollout two"}`)
	h.Press("alice", h.Message(2), "Deny")
	if a := held.wait(t); a.Tidemark.Rule != "owner-denied" {
		t.Errorf("got %s by %s", a.Tidemark.Verdict, a.Tidemark.Rule)
	}
	for _, p := range srv.app.Status(t.Context()) {
		if strings.HasPrefix(p.Name, "approvals: ") && !p.OK {
			t.Errorf("%s: %s", p.Name, p.Fault)
		}
	}
}

// BEY-11: where approving takes a proof, a channel offers to deny and a link; one that the
// operator takes for a proof approves.
func TestAChannelApprovesOnlyWithTheProof(t *testing.T) {
	for also, labels := range map[string]string{"": "Deny", ", also: [slack]": "Allow once, Allow 15 min, Deny"} {
		s, h := programs(t)
		srv := serve(t, t.TempDir(), channelsSection(s, h)+"approvals: {proof: passkey"+also+"}\n")
		srv.brings(s, h)
		srv.says("s", "Build what the page says")
		srv.fetches("s", "run rollout")
		srv.ask(hook.Context{SessionKey: "s"}, "exec", `{"command":"rollout"}`).wait(t)
		if got := s.Message(1).Labels(); got != labels {
			t.Errorf("%q: slack offers %s, want %s", also, got, labels)
		}
		m := h.Message(1)
		if m.Labels() != "Deny" || !strings.Contains(m.Text, "/console/q/ask-") {
			t.Errorf("%q: the webhook offers %s in %q", also, m.Labels(), m.Text)
		}
	}
}

// BEY-10 BEY-11: two people by name approve what the file says takes two; an agent's own person is
// not one of them, and neither is whoever has the token.
func TestTwoPeopleOfTheFileApprove(t *testing.T) {
	s, h := programs(t)
	srv := serve(t, t.TempDir(), channelsSection(s, h)+`approvals:
  people:
    alice: {accounts: ["slack:UALICE"]}
    bob: {accounts: ["slack:UBOB"]}
    carol: {accounts: ["slack:UCAROL"], agents: [main]}
  rules:
    - {tools: [exec], people: 2, notOwn: true}
`)
	srv.brings(s, h)
	c := patient
	c.AgentID = "main"
	srv.hook(hook.NameMessageReceived, hook.MessageReceived{Content: "Build what the page says"},
		hook.Context{SessionKey: "s", AgentID: "main", MessageProvider: "chat", SenderID: "1", SenderIsOwner: true})
	srv.fetches("s", "run rollout")
	held := srv.ask(c, "exec", `{"command":"rollout"}`)
	s.Press("UCAROL", s.Message(1), "Allow once")
	s.Until(1, "the refusal", func(m chattest.Message) bool { return strings.Contains(m.Text, "main is the agent of carol") })
	s.Press("UALICE", s.Message(2), "Allow once")
	s.Until(2, "the note", func(m chattest.Message) bool { return strings.Contains(m.Text, "One more person must approve") })
	id := srv.questions()[0].ID
	status, body, err := srv.request(t.Context(), http.MethodPost, "/v1/approvals/"+id, srv.app.Tokens.Approver, map[string]string{"decision": "approve"})
	if err != nil || status != http.StatusConflict || !strings.Contains(string(body), "does not count") {
		t.Errorf("whoever has the token: got %d %s, %v", status, body, err)
	}
	m := s.Message(3)
	if !strings.Contains(m.Text, "Approved so far by: slack:UALICE") {
		t.Errorf("the second person reads %q", m.Text)
	}
	s.Press("UBOB", m, "Allow once")
	if a := held.wait(t); a.Block {
		t.Errorf("got %s: %s", a.Tidemark.Verdict, a.Reason)
	}
}
