package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/test/chattest"
)

// relays lists a tool of an MCP server as a relay does, and says whether agents see it.
func (s *server) relays(t *testing.T, description string) bool {
	t.Helper()
	status, body, err := s.request(t.Context(), http.MethodPost, "/v1/pins", s.app.Tokens.Agent, map[string]any{
		"ask": "tools", "server": map[string]any{"name": "mail", "command": []string{"mail"}},
		"result": `{"tools":[{"name":"send_mail","description":"` + description + `"}]}`,
	})
	if err != nil || status != http.StatusOK {
		t.Fatalf("%d %s, %v", status, body, err)
	}
	return strings.Contains(string(body), `"same":true`)
}

// MCP-25: a channel asks about a definition that became another, and its answer counts as for calls: with the proof
// where one is wanted, by whom the rules ask, and only for what was shown whole.
func TestAChannelAsksAboutHiddenDefinitions(t *testing.T) {
	long := "Sends it on. " + strings.Repeat("Very carefully. ", 80)
	for name, tt := range map[string]struct {
		file, text, labels, press string
		seen                      bool
	}{
		"a person accepts":               {"", "Sends it on.", "Allow once, Deny", "Allow once", true},
		"a person denies":                {"", "Sends it on.", "Allow once, Deny", "Deny", false},
		"where a proof is wanted":        {"approvals: {proof: passkey}\n", "Sends it on.", "Deny", "Deny", false},
		"what is too long for a message": {"", long, "Deny", "Deny", false},
		"somebody the rules do not ask": {
			"approvals:\n  people:\n    alice: {accounts: [\"slack:UALICE\"]}\n    bob: {accounts: [\"slack:UBOB\"]}\n" +
				"  rules:\n    - {tools: [\"mail__*\"], people: 2}\n", "Sends it on.", "Allow once, Deny", "Allow once", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, h := programs(t)
			srv := serve(t, t.TempDir(), channelsSection(s, h)+tt.file)
			srv.brings(s, h)
			srv.relays(t, "Sends.")
			if srv.relays(t, tt.text) {
				t.Fatal("what changed is shown")
			}
			m := s.Message(1)
			if m.Labels() != tt.labels || !strings.Contains(m.Text, "send_mail") || tt.text != long && !strings.Contains(m.Text, "+description: Sends it on.") {
				t.Errorf("slack offers %s in %q", m.Labels(), m.Text)
			}
			s.Press("UALICE", m, tt.press)
			s.Until(1, "the answer", func(m chattest.Message) bool {
				return strings.Contains(m.Text, "is accepted") || strings.Contains(m.Text, "stays hidden") || strings.Contains(m.Text, "Not approved")
			})
			if got := srv.relays(t, tt.text); got != tt.seen {
				t.Errorf("agents see it: %v, want %v", got, tt.seen)
			}
		})
	}
}

// A host that stopped asking, and a hook that was replaced, are told at once on every channel, on the console's pages and by
// status; whoever has seen it says so, and that opens nothing.
func TestAnAlarmReachesPeopleOnEveryChannel(t *testing.T) {
	s, h := programs(t)
	srv := serve(t, t.TempDir(), channelsSection(s, h)+"approvals: {proof: passkey}\n")
	srv.brings(s, h)
	srv.app.Alarm("s1", "its host ran a call (c1) that no hook was asked about")
	m := s.Message(1)
	if m.Labels() != "Seen" || !strings.Contains(m.Text, "Look at this now") || !strings.Contains(m.Text, "no hook was asked about") {
		t.Errorf("slack offers %s in %q", m.Labels(), m.Text)
	}
	alarms := func() string {
		_, body, err := srv.request(t.Context(), http.MethodGet, "/v1/status", srv.app.Tokens.Reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if got := alarms(); !strings.Contains(got, "no hook was asked about") {
		t.Errorf("status: %s", got)
	}
	s.Press("UALICE", m, "Seen")
	s.Until(1, "the answer", func(m chattest.Message) bool { return strings.Contains(m.Text, "Nothing was opened") })
	if got := alarms(); strings.Contains(got, "no hook was asked about") {
		t.Errorf("status still tells it: %s", got)
	}
}
