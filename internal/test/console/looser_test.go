package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/people/policyfile"
)

// strictFile is a file with everything beside the policy that people rely on.
const strictFile = `preset: balanced
approvals:
  proof: typed
  people:
    ada: {accounts: ["telegram:7"], agents: [claude], quiet: "22:00-07:00 UTC"}
    bob: {accounts: ["slack:UBOB"]}
  rules:
    - {acts: [pay], people: 2, notOwn: true, apart: true, ask: [ada, bob]}
hooks:
  - {name: guard, url: "http://127.0.0.1:1/guard", hooks: [before_tool_call], secretEnv: GUARD_SECRET}
plugins:
  cost: {day: {tokens: 10}}
channels:
  webhook: {url: "http://127.0.0.1:1/x", secret: "${GUARD_SECRET}"}
verifier: {enabled: false}
`

// CON-34: what a file loosens beside the policy is listed too, has to be agreed to, and is not saved without that; what is
// stricter is not.
func TestWhatIsLooserBesideThePolicy(t *testing.T) {
	t.Setenv("GUARD_SECRET", "0123456789abcdef0123456789abcdef")
	w := serve(t, strictFile)
	for name, tt := range map[string]struct{ old, new, want string }{
		"the same":                     {"", "", ""},
		"no proof":                     {"proof: typed", "proof: none", "approvals.proof: was typed and would be none"},
		"a stronger proof":             {"proof: typed", "proof: passkey", ""},
		"a chat counts as a proof":     {"  proof: typed", "  proof: typed\n  also: [telegram]", "approvals.also: an answer in telegram"},
		"one person instead of two":    {"people: 2, notOwn: true, apart: true, ", "notOwn: true, ", "took 2 people and would take 1"},
		"one's own agents":             {"notOwn: true, ", "", "agents of their own"},
		"tokens of one administrator":  {"apart: true, ", "", "one administrator made"},
		"everybody":                    {", ask: [ada, bob]", "", "everybody could approve"},
		"no rules":                     {"    - {acts: [pay], people: 2, notOwn: true, apart: true, ask: [ada, bob]}\n", "", "rule 1 would be gone"},
		"another account":              {`["slack:UBOB"]`, `["slack:UBOB", "slack:UX"]`, "slack:UX could approve as bob"},
		"longer quiet hours":           {"22:00-07:00", "18:00-09:00", "ada would get no messages"},
		"shorter quiet hours":          {"22:00-07:00", "23:00-06:00", ""},
		"a plugin of ours less":        {"  cost: {day: {tokens: 10}}\n", "  {}\n", "plugins.cost: it would be switched off"},
		"a plugin that does less":      {"tokens: 10", "tokens: 1000", "plugins.cost: it has changed since this server started"},
		"a plugin at hooks less":       {strings.Split(strings.Split(strictFile, "hooks:\n")[1], "plugins:")[0], "  []\n", "guard would not be asked"},
		"a plugin that fails open":     {"secretEnv: GUARD_SECRET", "secretEnv: GUARD_SECRET, failClosed: false", "guard would be asked in another way"},
		"a channel more":               {`webhook: {url: "http://127.0.0.1:1/x", secret: "${GUARD_SECRET}"}`, `webhook: [{url: "http://127.0.0.1:1/x", secret: "${GUARD_SECRET}"}, {name: ntfy, url: "http://127.0.0.1:3/x", secret: "${GUARD_SECRET}"}]`, "channels.webhook: people could answer there"},
		"another address of a channel": {"127.0.0.1:1/x", "127.0.0.1:2/x", "channels.webhook: people could answer there"},
		"a channel less":               {strings.Split(strictFile, "channels:\n")[1][:strings.Index(strings.Split(strictFile, "channels:\n")[1], "verifier")], "  {}\n", ""},
		"notices in browsers":          {"channels:\n", "channels:\n  push: {contact: \"mailto:a@b.example\"}\n", ""},
		"something nobody can compare": {"verifier: {enabled: false}", "server: {allowedHosts: [a.example]}\nverifier: {enabled: false}", "server: it has changed since this server started"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(strictFile, tt.old, tt.new, 1)
			if tt.old != "" && text == strictFile {
				t.Fatal("nothing was changed")
			}
			var x policyfile.Comparison
			if status, body := w.api(http.MethodPost, "/v1/policy/compare", w.app.Tokens.Reader, map[string]string{"text": text}, &x); status != http.StatusOK {
				t.Fatalf("compare: %d %s", status, body)
			}
			got := strings.Join(x.Looser, "; ")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("looser is %q, want %q", got, tt.want)
			}
		})
	}
	var now struct {
		Seen string `json:"seen"`
	}
	w.api(http.MethodGet, "/v1/policy/text", w.app.Tokens.Admin, nil, &now)
	in := map[string]any{"text": strings.Replace(strictFile, "people: 2, notOwn: true, apart: true, ", "", 1), "seen": now.Seen, "secret": "x"}
	if status, text := w.api(http.MethodPut, "/v1/policy/text", w.app.Tokens.Admin, in, nil); status == http.StatusOK {
		t.Errorf("it was saved without a word: %d %s", status, text)
	}
}
