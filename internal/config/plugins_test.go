package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/plugins/compliance"
	"github.com/tidemark/tidemark/internal/plugins/cost"
	"github.com/tidemark/tidemark/internal/plugins/experiment"
)

// HOOK-15
func TestShippedPluginsAreSwitchedOnByALine(t *testing.T) {
	c, faults := config.Parse("tidemark.yaml", []byte(`
plugins:
  cost:
    turn: {tokens: 200000}
    session: {money: 5}
    day: {tokens: 5000000, money: 20.5}
    prices:
      "small*": {input: 0.25, output: 2}
      "*": {input: 3, output: 15}
    alertAt: 90
  compliance: {keepDays: 30, content: redacted, personal: [email, card], redactAnswers: true}
  experiment: {name: brief, share: 20, model: small, appendPrompt: Be brief.}
  telemetry: {endpoint: "http://127.0.0.1:4318/", headersEnv: HEADERS, service: desk, every: 10s}
`), env(map[string]string{"HEADERS": "x-key=abc, x-team=t=1"}))
	if len(faults) != 1 || faults[0].Message != "plugins.telemetry.every is read as before" {
		t.Fatalf("got %v", faults)
	}
	want := config.Plugins{
		Cost: &cost.Options{
			Turn: cost.Budget{Tokens: 200_000}, Session: cost.Budget{Money: 5}, Day: cost.Budget{Tokens: 5_000_000, Money: 20.5},
			Prices: []cost.Price{{Model: "small*", Input: 0.25, Output: 2}, {Model: "*", Input: 3, Output: 15}}, AlertAt: 90,
		},
		Compliance: &config.Compliance{KeepDays: 30, Prompts: true, Personal: []string{"email", "card"}, Answers: true},
		Experiment: &experiment.Options{Name: "brief", Share: 20, Model: "small", Append: "Be brief."},
		Telemetry: &config.Telemetry{Endpoint: "http://127.0.0.1:4318", Service: "desk", Every: 10 * time.Second,
			Headers: map[string]endpoint.Secret{"x-key": "abc", "x-team": "t=1"}},
	}
	if diff := cmp.Diff(want, c.Own); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c, faults = config.Parse("tidemark.yaml", []byte("plugins: {cost: , compliance: , telemetry: {endpoint: \"https://otel.example\"}}"), env(nil))
	if len(faults) > 0 {
		t.Fatalf("got %v", faults)
	}
	short := config.Plugins{
		Cost: &cost.Options{AlertAt: 80}, Compliance: &config.Compliance{KeepDays: 90, Personal: compliance.Kinds()},
		Telemetry: &config.Telemetry{Endpoint: "https://otel.example", Service: "tidemark", Every: 5 * time.Second},
	}
	if diff := cmp.Diff(short, c.Own); diff != "" {
		t.Errorf("without a word more (-want +got):\n%s", diff)
	}
}

func TestFaultsOfShippedPlugins(t *testing.T) {
	for file, want := range map[string]string{
		"plugins: {costs: {}}":                                                      `unknown key "costs"`,
		"plugins: {cost: {day: {tokens: 0}}}":                                       "plugins.cost.day.tokens must be from 1",
		"plugins: {cost: {day: {money: -1}}}":                                       "plugins.cost.day.money must be from 0",
		"plugins: {cost: {day: {money: 1}}}":                                        "knows no price",
		"plugins: {cost: {prices: {x: {in: 1}}}}":                                   `unknown key "in"`,
		"plugins: {compliance: {content: all}}":                                     "must be hashes or redacted",
		"plugins: {compliance: {personal: [name]}}":                                 "must be iban, card",
		"plugins: {experiment: {share: 10}}":                                        "plugins.experiment needs name",
		"plugins: {experiment: {name: a, systemPrompt: x, appendPrompt: y}}":        "say one of them",
		"plugins: {telemetry: {}}":                                                  "needs endpoint",
		"plugins: {telemetry: {endpoint: \"http://otel.example\"}}":                 "is not encrypted",
		"plugins: {telemetry: {endpoint: \"https://x.example\", headersEnv: NOPE}}": "NOPE holds no headers",
		"plugins: {telemetry: {endpoint: \"https://x.example\", every: soon}}":      "is not a length of time",
	} {
		c, faults := config.Parse("tidemark.yaml", []byte(file), env(nil))
		if c != nil || !strings.Contains(faults.Error(), want) {
			t.Errorf("%s: got %v, want %q", file, faults, want)
		}
	}
}
