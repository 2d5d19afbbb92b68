package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/config"
)

func TestWhatMayBeLent(t *testing.T) {
	env := func(string) (string, bool) { return "", false }
	for name, tc := range map[string]struct{ file, fault string }{
		"an agent":                      {"agents: {desk-bot: {reader: host}}\n", ""},
		"an agent with a shell":         {"agents: {claude: {reader: host}}\n", "has a shell"},
		"another mark":                  {"agents: {desk-bot: {reader: me}}\n", "host"},
		"an upstream":                   {"reader: {provider: upstream, models: {anthropic: small}}\n", ""},
		"no model":                      {"reader: {provider: upstream}\n", "needs models"},
		"an upstream that is not there": {"reader: {provider: upstream, models: {nobody: small}}\n", "no such upstream"},
		"models of another provider":    {"reader: {provider: openai, model: m, models: {anthropic: small}}\n", "provider upstream"},
		"a key of its own":              {"reader: {provider: upstream, apiKeyEnv: K, models: {anthropic: small}}\n", "no apiKeyEnv"},
		"a recording":                   {"reader: {provider: upstream, record: f, models: {anthropic: small}}\n", "no record"},
		"calls":                         {"reader: {provider: upstream, uses: [words, calls], models: {anthropic: small}}\n", "words alone"},
		"one whose keys nobody knows": {
			"llm: {upstreams: {near: {api: ollama, baseUrl: 'http://127.0.0.1:1'}}}\nreader: {provider: upstream, models: {near: small}}\n", "not used",
		},
		"messages that are not kept": {"agents: {desk-bot: {reader: host}}\nrecord: {messages: false}\n", "record.messages"},
	} {
		c, faults := config.Parse("f", []byte(tc.file), env)
		text := ""
		if err := faults.Err(); err != nil {
			text = err.Error()
		}
		if (tc.fault == "") != (text == "") || !strings.Contains(text, tc.fault) {
			t.Errorf("%s: %q, want %q", name, text, tc.fault)
		}
		if tc.fault == "" && !c.Auditor.Contracts {
			t.Errorf("%s: nothing is read", name)
		}
	}
	c, _ := config.Parse("f", []byte("agents: {desk-bot: {reader: host}}\n"), env)
	if !slices.Equal(c.Auditor.Hosts, []string{"desk-bot"}) {
		t.Errorf("marked: %v", c.Auditor.Hosts)
	}
}
