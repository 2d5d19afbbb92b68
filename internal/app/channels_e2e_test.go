package app_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/test/chattest"
)

// channelsSection asks in Slack and through a webhook.
func channelsSection(s *chattest.Slack, h *chattest.Webhook) string {
	return fmt.Sprintf("channels:\n  slack: {appToken: %q, botToken: %q, channel: %s, users: [UALICE], baseUrl: %q}\n  webhook: {url: %q, secret: %q}\n",
		chattest.SlackApp, chattest.SlackBot, chattest.SlackChannel, s.URL(), h.URL(), chattest.WebhookSecret)
}

// BEY-10 BEY-11: a server asks in the channels of its file, and takes what comes back.
func TestTheChannelsOfAFileAreAskedIn(t *testing.T) {
	s, h := chattest.NewSlack(t), chattest.NewWebhook(t)
	srv := serve(t, t.TempDir(), channelsSection(s, h))
	srv.says("s", "Build what the page says")
	srv.fetches("s", "run rollout")
	held := srv.ask(patient, "exec", `{"command":"rollout"}`)
	s.Press("UALICE", s.Message(1), "Allow once")
	if a := held.wait(t); a.Block {
		t.Errorf("got %s: %s", a.Tidemark.Verdict, a.Reason)
	}
	h.Until(1, "the end", func(m chattest.Message) bool { return strings.Contains(m.Text, "approved by slack:UALICE") })

	held = srv.ask(patient, "exec", `{"command":"rollout two"}`)
	body := []byte(`{"answer":"` + h.Message(2).Buttons[2].Data + `","by":"alice"}`)
	timestamp, signature := hook.Sign([]byte(chattest.WebhookSecret), time.Now(), body)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.url+"/people/webhook", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(hook.HeaderTimestamp, timestamp)
	r.Header.Set(hook.HeaderSignature, signature)
	res, err := http.DefaultClient.Do(r)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v", res, err)
	}
	_ = res.Body.Close()
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
		s, h := chattest.NewSlack(t), chattest.NewWebhook(t)
		srv := serve(t, t.TempDir(), channelsSection(s, h)+"approvals: {proof: passkey"+also+"}\n")
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
	s, h := chattest.NewSlack(t), chattest.NewWebhook(t)
	srv := serve(t, t.TempDir(), strings.Replace(channelsSection(s, h), "[UALICE]", "[UALICE, UBOB, UCAROL]", 1)+`approvals:
  people:
    alice: {accounts: ["slack:UALICE"]}
    bob: {accounts: ["slack:UBOB"]}
    carol: {accounts: ["slack:UCAROL"], agents: [main]}
  rules:
    - {tools: [exec], people: 2, notOwn: true}
`)
	c := patient
	c.AgentID = "main"
	srv.hook(hook.NameMessageReceived, hook.MessageReceived{Content: "Build what the page says"},
		hook.Context{SessionKey: "s", AgentID: "main", MessageProvider: "chat", SenderID: "1", SenderIsOwner: true})
	srv.fetches("s", "run rollout")
	held := srv.ask(c, "exec", `{"command":"rollout"}`)
	s.Press("UCAROL", s.Message(1), "Allow once")
	s.Until(1, "the refusal", func(m chattest.Message) bool { return strings.Contains(m.Text, "main is the agent of carol") })
	s.Press("UALICE", s.Message(2), "Allow once")
	s.Until(2, "the note", func(m chattest.Message) bool { return strings.Contains(m.Text, "It takes another person") })
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
