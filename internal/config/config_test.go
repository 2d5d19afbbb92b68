package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/config"
)

func env(vars map[string]string) config.Lookup {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

const secret = "0123456789abcdef"

func TestAnEmptyFileIsTheShippedDefaults(t *testing.T) {
	c, faults := config.Parse("tidemark.yaml", nil, env(nil))
	if len(faults) > 0 {
		t.Fatalf("got %v", faults)
	}
	if c.Server.Listen != config.DefaultListen || c.Server.MaxBody != 8<<20 || len(c.Hooks) != 0 || c.Policy.Settings().Preset != "balanced" {
		t.Errorf("got %+v with preset %s", c.Server, c.Policy.Settings().Preset)
	}
}

// HOOK-10
func TestPluginsAreRead(t *testing.T) {
	c, faults := config.Parse("tidemark.yaml", []byte(`
preset: permissive
server: {listen: "127.0.0.1:0", allowedHosts: [tidemark.internal], maxBodyBytes: 2048}
hooks:
  - name: dlp
    url: http://127.0.0.1:9000/hook
    hooks: [before_tool_call, before_response_emit]
    secretEnv: DLP
    timeoutMs: 250
    priority: 7
  - {name: watch, url: "https://watch.example/x", hooks: [agent_end], secretEnv: DLP, failClosed: false}
`), env(map[string]string{"DLP": secret}))
	if len(faults) > 0 {
		t.Fatalf("got %v", faults)
	}
	if c.Server.Listen != "127.0.0.1:0" || c.Server.MaxBody != 2048 || fmt.Sprint(c.Server.AllowedHosts) != "[tidemark.internal]" {
		t.Errorf("got %+v", c.Server)
	}
	first, second := c.Hooks[0], c.Hooks[1]
	if first.FailOpen || first.Limit != 250*time.Millisecond || first.Priority != 7 || len(first.Hooks) != 2 || first.Hooks[0] != hook.NameBeforeToolCall {
		t.Errorf("got %+v, want it to fail closed unless told otherwise", first)
	}
	if !second.FailOpen || second.Limit != hook.DefaultLimit {
		t.Errorf("got %+v", second)
	}
	for _, shown := range []string{fmt.Sprint(first), fmt.Sprintf("%+v", first), fmt.Sprintf("%#v", first)} {
		if strings.Contains(shown, secret) {
			t.Errorf("the secret prints: %s", shown)
		}
	}
}

func TestFaultsOfTheServersPart(t *testing.T) {
	tests := map[string]struct{ file, want string }{
		"a server key nobody knows":    {"server: {lisen: x}", `unknown key "lisen"`},
		"an address without a port":    {"server: {listen: localhost}", "server.listen is not host:port"},
		"a body bound of nothing":      {"server: {maxBodyBytes: 1}", "must be from 1024"},
		"plugins that are no list":     {"hooks: {}", "hooks must be a list"},
		"a plugin without a name":      {"hooks: [{url: https://x.example, hooks: [agent_end], secretEnv: S}]", "needs name"},
		"a plugin without a secret":    {"hooks: [{name: a, url: https://x.example, hooks: [agent_end]}]", "needs secretEnv"},
		"a secret that is not set":     {"hooks: [{name: a, url: https://x.example, hooks: [agent_end], secretEnv: NOPE}]", "environment variable NOPE is not set"},
		"a secret that is too short":   {"hooks: [{name: a, url: https://x.example, hooks: [agent_end], secretEnv: SHORT}]", "too short"},
		"a hook nobody knows":          {"hooks: [{name: a, url: https://x.example, hooks: [before_tool], secretEnv: S}]", "before_tool_call"},
		"a plugin over plain http":     {"hooks: [{name: a, url: http://x.example, hooks: [agent_end], secretEnv: S}]", "is not encrypted"},
		"a URL with a password":        {"hooks: [{name: a, url: 'https://u:p@x.example', hooks: [agent_end], secretEnv: S}]", "not a usable URL"},
		"a URL of another kind":        {"hooks: [{name: a, url: 'file:///etc/passwd', hooks: [agent_end], secretEnv: S}]", "not a usable URL"},
		"two plugins of one name":      {"hooks: [{name: a, url: https://x.example, hooks: [agent_end], secretEnv: S}, {name: a, url: https://y.example, hooks: [agent_end], secretEnv: S}]", `two plugins are named "a"`},
		"a fault of the policy beside": {"server: {lisen: x}\ntaintPolicy: {shared: maybe}", "taintPolicy.shared must be"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, faults := config.Parse("tidemark.yaml", []byte(tt.file), env(map[string]string{"S": secret, "SHORT": "x"}))
			if got := faults.Render([]byte(tt.file)); c != nil || !strings.Contains(got, tt.want) || !strings.HasPrefix(got, "tidemark.yaml:") {
				t.Errorf("got config %v and\n%s\nwant no config and %q", c != nil, got, tt.want)
			}
		})
	}
}

// WAR-07
func TestContractsComeWithTheAuditor(t *testing.T) {
	const auditor = "auditor: {provider: openai, baseUrl: 'http://127.0.0.1:1/v1', model: m}\n"
	const reader = "reader: {provider: ollama, model: m"
	for _, tt := range []struct {
		name, file string
		on         bool
		wait       time.Duration
		fault      string
	}{
		{"no auditor", "", false, 2 * time.Second, ""},
		{"an auditor", auditor, true, 2 * time.Second, "1:1: warning: auditor is read as before"},
		{"switched off", auditor + "contracts: {enabled: false}\n", false, 2 * time.Second, "2:1: warning: contracts is read as before"},
		{"a short wait", auditor + "contracts: {waitMs: 500}\n", true, 500 * time.Millisecond, "2:1: warning: contracts is read as before"},
		{"a reader", reader + "}\n", true, 3 * time.Second, ""},
		{"a reader that reads no messages", reader + ", waitMs: 0}\n", false, 1, ""},
		{"a reader with a wait", reader + ", waitMs: 500}\n", true, 500 * time.Millisecond, ""},
		{"the wait in both places", reader + ", waitMs: 500}\ncontracts: {waitMs: 1}\n", true, 0, "contracts and reader.waitMs say the same thing"},
		{"a wait for contents", "extract: {provider: ollama, model: m, waitMs: 500}\n", true, 0, "extract.waitMs: nothing waits for"},
		{"without anybody who draws them", "contracts: {enabled: true}\n", false, 2 * time.Second, "contracts has no effect: there is no auditor section"},
		{"an endless wait", auditor + "contracts: {waitMs: 600000}\n", true, 2 * time.Second, "contracts.waitMs"},
		{"a key of no meaning", auditor + "contracts: {wait: 2s}\n", true, 2 * time.Second, `unknown key "wait" in contracts`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, faults := config.Parse("tidemark.yaml", []byte(tt.file), env(nil))
			if got := faults.Error(); tt.fault == "" && len(faults) > 0 || !strings.Contains(got, tt.fault) {
				t.Errorf("got %s, want %q", got, tt.fault)
			}
			if c != nil && (c.Auditor.Contracts != tt.on || c.Auditor.ContractWait != tt.wait) {
				t.Errorf("got %t, %s", c.Auditor.Contracts, c.Auditor.ContractWait)
			}
		})
	}
}

// The section of channels says what is missing and what is wrong, each at its place.
func TestChannelsAreRead(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"SECRET": "0123456789abcdef", "SHORT": "short"}[name]
		return v, ok
	}
	good := `channels:
  webhook:
    - {url: "https://pager.example/x", secret: "${SECRET}"}
    - {name: slack, url: "http://127.0.0.1:8420/slack", secret: "${SECRET}", key: ` + strings.Repeat("ab", 32) + `}
    - {name: ntfy, url: "http://127.0.0.1:8420/ntfy", secret: "${SECRET}"}
  push: {contact: "mailto:ops@example.com", show: tool, services: ["Push.Example:8443"]}
approvals: {also: [slack, discord]}
`
	c, faults := config.Parse("f", []byte(good), env)
	if faults.Err() != nil || len(c.Channels.Webhooks) != 3 || c.Channels.Webhooks[1].Name != "slack" || len(c.Channels.Webhooks[1].Key) != 32 ||
		!c.Channels.Push.ShowTool || c.Channels.Push.Services[0] != "push.example:8443" {
		t.Fatalf("got %+v, %v", c, faults)
	}
	if text := fmt.Sprintf("%+v %#v", c.Channels, c.Channels.Webhooks); strings.Contains(text, "0123456789abcdef") {
		t.Errorf("a secret prints: %s", text)
	}
	_, faults = config.Parse("policy.yaml", []byte("channels:\n  slack: {appToken: x}\n"), env)
	if text := faults.Render([]byte("channels:\n  slack: {appToken: x}\n")); !strings.Contains(text, "policy.yaml:2:3") || !strings.Contains(text, "^") ||
		!strings.Contains(text, "webhook: {name: slack") || !strings.Contains(text, "tidemark-channels") || strings.Contains(text, "unknown key") {
		t.Errorf("a section that moved is told as\n%s", text)
	}
	for bad, want := range map[string]string{
		`channels: {slack: {}}`:                          "channels.slack is asked in by tidemark-channels",
		`channels: {discord: {}}`:                        "channels.discord is asked in by tidemark-channels",
		`channels: {ntfy: {}}`:                           "channels.ntfy is asked in by tidemark-channels",
		`channels: {webhook: {url: "http://a.example"}}`: "want https, or http to this machine",
		`channels: {webhook: {secret: "${SHORT}"}}`:      "needs 16 characters",
		`channels: {webhook: {}}`:                        "channels.webhook needs url",
		`channels: {webhook: {name: approver, url: "https://a.example", secret: "${SECRET}"}}`:                                    "is no name of a webhook",
		`channels: {webhook: {name: slack, url: "https://a.example", secret: "${SECRET}"}}`:                                       "must sign it with a key",
		`channels: {webhook: {name: slack, url: "https://a.example", secret: "${SECRET}", key: ab}}`:                              "must be a public key",
		`channels: {webhook: [{url: "https://a.example", secret: "${SECRET}"}, {url: "https://b.example", secret: "${SECRET}"}]}`: "another webhook of the name webhook",
		`channels: {push: {}}`:                                                                             "channels.push needs contact",
		`channels: {push: {contact: ops@example.com}}`:                                                     "must be an address at which",
		`channels: {push: {contact: "mailto:root@localhost"}}`:                                             "must be an address at which",
		`channels: {push: {contact: "https://tidemark.local/"}}`:                                           "must be an address at which",
		`channels: {push: {contact: "mailto:a@b.example", show: all}}`:                                     "show",
		`channels: {push: {contact: "mailto:a@b.example", services: ["https://x/"]}}`:                      "must be the host of a push service",
		`channels: {teams: {}}`:                                                                            "teams",
		"approvals: {people: {ada: {}}}":                                                                   "approvals.people.ada needs accounts",
		"approvals: {people: {ada: {accounts: [x]}, bob: {accounts: [x]}}}":                                "x is the account of ada too",
		"approvals: {people: {ada: {accounts: [x], quiet: late}}}":                                         "is no span of the day",
		"approvals: {rules: [{ask: [ada]}]}":                                                               `"ada" is none of the people`,
		"approvals: {rules: [{people: 2}]}":                                                                "takes 2 people, and there are 0",
		"approvals: {rules: [{acts: [steal]}]}":                                                            "steal",
		"approvals: {people: {ada: {accounts: [x]}}, rules: [{then: [{ask: [ada]}]}]}":                     "then without ask",
		"approvals: {people: {a: {accounts: [x]}, b: {accounts: [y]}}, rules: [{people: 2, apart: true}]}": "takes 2 people apart, and 0 of them",
		"approvals: {people: {a: {accounts: [x]}}, rules: [{apart: true}]}":                                "has apart, which says how several",
		`approvals: {also: [webhook]}`:                                                                     "no channel that tells people apart",
	} {
		if _, faults := config.Parse("f", []byte(bad), env); !strings.Contains(faults.Error(), want) {
			t.Errorf("%s: got %v, want %q", bad, faults, want)
		}
	}
}

// MAN-12
func TestTheReaderIsAModelThatSeesWordsAlone(t *testing.T) {
	for name, tt := range map[string]struct{ file, want, fault string }{
		"an endpoint":            {"reader: {provider: openai, model: m, baseUrl: 'http://127.0.0.1:1/v1'}", "openai m reads, waits 3s, calls false, definitions false, 240 1200", ""},
		"more uses":              {"reader: {provider: ollama, model: m, uses: [words, definitions, calls]}", "ollama m reads, waits 3s, calls true, definitions true, 240 1200", ""},
		"a key":                  {"reader: {provider: gemini, model: m}", "gemini m reads, waits 3s, calls false, definitions false, 240 1200", ""},
		"a program":              {"reader: {provider: program, program: codex, perHour: 5, perDay: 0}", "program  reads, waits 3s, calls false, definitions false, 5 0", ""},
		"answers of a file":      {"reader: {provider: recorded, model: m, answers: a.jsonl}", "recorded m reads, waits 3s, calls false, definitions false, 240 1200", ""},
		"none":                   {"reader: {provider: none}", "  declined", ""},
		"the name it had":        {"auditor: {model: m, baseUrl: 'http://127.0.0.1:1/v1'}", "openai m reads, waits 2s, calls true, definitions true, 0 0", "write reader, with uses: [words, definitions, calls]"},
		"a key that is not set":  {"reader: {provider: openai, model: m}", "", "environment variable OPENAI_API_KEY, the key, is not set where the server runs: no model reads until it is"},
		"both names":             {"reader: {provider: none}\nauditor: {model: m, baseUrl: 'http://127.0.0.1:1/v1'}", "", "reader and auditor are two names of one section"},
		"no provider":            {"reader: {model: m}", "", "reader needs provider"},
		"no model":               {"reader: {provider: ollama}", "", "reader needs model"},
		"an unknown provider":    {"reader: {provider: ollma, model: m}", "", "reader.provider must be"},
		"a program without one":  {"reader: {provider: program}", "", "needs program"},
		"a program nobody knows": {"reader: {provider: program, program: sh}", "", "reader.program must be"},
		"recorded without them":  {"reader: {provider: recorded, model: m}", "", "needs answers"},
		"answers of another":     {"reader: {provider: ollama, model: m, answers: a}", "", "answers is for the provider recorded"},
		"uses without words":     {"reader: {provider: ollama, model: m, uses: [calls]}", "", "reader.uses has to hold words"},
		"caution without calls":  {"reader: {provider: ollama, model: m}\ncaution: {window: last}", "", "caution has no effect: the reader's uses do not have calls"},
	} {
		t.Run(name, func(t *testing.T) {
			c, faults := config.Parse("tidemark.yaml", []byte(tt.file+"\n"), env(map[string]string{"GEMINI_API_KEY": "k"}))
			if got := faults.Render([]byte(tt.file)); tt.fault == "" && len(faults) > 0 || !strings.Contains(got, tt.fault) {
				t.Errorf("got %s, want %q", got, tt.fault)
			}
			if tt.want == "" || c == nil {
				return
			}
			a := c.Auditor
			got := fmt.Sprintf("%s %s", a.Provider, a.Model)
			if a.Contracts {
				got += fmt.Sprintf(" reads, waits %s, calls %t, definitions %t, %d %d", a.ContractWait, a.Calls, a.Definitions, a.PerHour, a.PerDay)
			}
			if a.Declined {
				got += " declined"
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A program takes seconds to start, so it has more time than an endpoint, unless the file says how much.
func TestAProgramHasTimeToStart(t *testing.T) {
	for file, want := range map[string]time.Duration{
		"reader: {provider: program, program: gemini}":                       30 * time.Second,
		"reader: {provider: program, program: gemini, planTimeoutMs: 12000}": 12 * time.Second,
		"reader: {provider: ollama, model: m}":                               12 * time.Second,
	} {
		c, faults := config.Parse("tidemark.yaml", []byte(file+"\n"), env(nil))
		if faults.Err() != nil || c.Auditor.PlanTimeout != want {
			t.Errorf("%s: %v, %v; want %s", file, faults, c, want)
		}
	}
}
