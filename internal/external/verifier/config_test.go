package verifier_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/external/verifier"
	"github.com/tidemark/tidemark/internal/people/telegram"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func env(name string) (string, bool) {
	v, ok := map[string]string{"VERIFIER_TOKEN": "t0ken", "VERIFIER_HMAC_SECRET": secret, "BOT_TOKEN": "1:abc", "SHORT": "short", "EMPTY": "", "NESTED": "${VERIFIER_TOKEN}"}[name]
	return v, ok
}

// section is what a file says about the verifier.
type section struct {
	config *verifier.Config
	chat   *telegram.Settings
	agents map[string]verifier.Override
}

// chatOf reads a chat as the program does, and keeps what it read.
func chatOf(r *endpoint.Reader, to **telegram.Settings) func(*configfile.Node) verifier.Chat {
	return func(n *configfile.Node) verifier.Chat {
		s := telegram.ReadSettings(r, n)
		*to = s
		return verifier.Chat{Enabled: s.Enabled, Complete: s.Complete(), Timeout: s.Timeout}
	}
}

// read decodes a file's verifier section and those of its agents.
func read(t *testing.T, file string, src []byte, production bool) (section, configfile.Faults) {
	t.Helper()
	root, faults := configfile.Parse(file, src)
	if faults.Err() != nil {
		t.Fatalf("Parse: %v", faults)
	}
	d := &endpoint.Reader{Decoder: &configfile.Decoder{}, Env: env, Production: production}
	s := section{agents: map[string]verifier.Override{}}
	s.config = verifier.Decode(d, root.Get("verifier"), chatOf(d, &s.chat))
	for _, k := range d.Entries(root.Get("agents")) {
		s.agents[k.Name] = verifier.DecodeAgent(d, k.Value.Get("verifier"), s.config)
	}
	d.Faults.Sort()
	return s, d.Faults
}

// VER-02 VER-03 VER-10 VER-11: what is wrong in a file is reported all at once, with
// position, line and caret. A file named production.yaml is read for production.
func TestFaultsOfAFile(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil || len(a.Files) != 2 {
				t.Fatalf("want a file and its faults, got %d files: %v", len(a.Files), err)
			}
			src := a.Files[0].Data
			_, faults := read(t, a.Files[0].Name, src, a.Files[0].Name == "production.yaml")
			got := faults.Render(src)
			if *update {
				a.Files[1].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(a.Files[1].Data), got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			if strings.Contains(faults.Error(), "hunter2") {
				t.Errorf("faults repeat a secret: %v", faults)
			}
		})
	}
}

// VER-02
func TestTheSectionIsRead(t *testing.T) {
	const src = `
verifier:
  enabled: true
  scope: {include: [exec, write, edit, apply_patch]}
  failMode: allow
  cacheSeconds: 300
  webhook:
    url: https://my-verifier.example.com/verify
    timeout: 20
    headers: {Authorization: "Bearer ${VERIFIER_TOKEN}", X-Price: "5$$", X-Nested: "${NESTED}"}
    secret: ${VERIFIER_HMAC_SECRET}
  telegram:
    enabled: true
    botToken: ${BOT_TOKEN}
    chatId: -100123
    timeout: 60
    allowedUserIds: [123456789]
    baseUrl: https://bots.example/
agents:
  main:
    verifier:
      enabled: true
      scope: {exclude: [read]}
      failMode: deny
      cacheSeconds: 60
      webhook: {url: https://own.example/verify}
      telegram: {enabled: true}
  other: {}
`
	got, faults := read(t, "tidemark.yaml", []byte(src), true)
	if faults.Err() != nil || len(faults) != 2 { // two hints about former settings
		t.Fatalf("faults: %v", faults)
	}
	want := &verifier.Config{
		Enabled: true, Scope: verifier.Scope{Include: []string{"exec", "write", "edit", "apply_patch"}}, FailMode: verifier.Allow, Cache: 5 * time.Minute,
		Webhook: &verifier.WebhookConfig{
			URL: "https://my-verifier.example.com/verify", Timeout: 20 * time.Second, Secret: secret,
			Headers: map[string]endpoint.Secret{"Authorization": "Bearer t0ken", "X-Price": "5$", "X-Nested": "${VERIFIER_TOKEN}"},
		},
		Telegram: &verifier.Chat{Enabled: true, Complete: true, Timeout: time.Minute},
	}
	if diff := cmp.Diff(want, got.config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	wantChat := &telegram.Settings{
		Enabled: true, BotToken: "1:abc", ChatID: "-100123", Timeout: time.Minute, AllowedUserIDs: []int64{123456789}, BaseURL: "https://bots.example",
	}
	if diff := cmp.Diff(wantChat, got.chat); diff != "" {
		t.Errorf("chat (-want +got):\n%s", diff)
	}
	wantAgents := map[string]verifier.Override{
		"main": {
			Enabled: ptr(true), Scope: verifier.Scope{Exclude: []string{"read"}}, FailMode: verifier.Deny, Cache: ptr(time.Minute), Telegram: ptr(true),
			Webhook: &verifier.WebhookConfig{URL: "https://own.example/verify", Timeout: verifier.DefaultWebhookTimeout},
		},
		"other": {},
	}
	if diff := cmp.Diff(wantAgents, got.agents); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if _, err := verifier.New(verifier.Options{Config: *got.config, Agents: got.agents, Telegram: answers(true, nil)}); err != nil {
		t.Errorf("New: %v", err)
	}
}

// A chat with one person needs no list; one that is off needs nothing.
//
// VER-02 VER-07
func TestDefaultsOfTheSection(t *testing.T) {
	tests := map[string]struct {
		src  string
		want verifier.Config
		chat *telegram.Settings
	}{
		"no section":   {"", verifier.Config{}, nil},
		"an empty one": {"verifier:\n", verifier.Config{}, nil},
		"off":          {"verifier: {enabled: false}\n", verifier.Config{}, nil},
		"a webhook alone": {
			"verifier: {enabled: true, webhook: {url: https://v.example}}\n",
			verifier.Config{Enabled: true, Webhook: &verifier.WebhookConfig{URL: "https://v.example", Timeout: 30 * time.Second}}, nil,
		},
		"one person": {
			"verifier: {enabled: true, telegram: {botToken: '${BOT_TOKEN}', chatId: '42'}}\n",
			verifier.Config{Enabled: true, Telegram: &verifier.Chat{Enabled: true, Complete: true, Timeout: 2 * time.Minute}},
			&telegram.Settings{Enabled: true, BotToken: "1:abc", ChatID: "42", Timeout: 2 * time.Minute, AllowedUserIDs: []int64{42}},
		},
		"a chat that is off": {
			"verifier: {enabled: false, telegram: {enabled: false, botToken: '${UNSET}', chatId: '@room'}}\n",
			verifier.Config{Telegram: &verifier.Chat{Timeout: 2 * time.Minute}},
			&telegram.Settings{ChatID: "@room", Timeout: 2 * time.Minute},
		},
		"a chat that is off, with its token": {
			"verifier: {enabled: false, telegram: {enabled: false, botToken: '${BOT_TOKEN}'}}\n",
			verifier.Config{Telegram: &verifier.Chat{Timeout: 2 * time.Minute}},
			&telegram.Settings{BotToken: "1:abc", Timeout: 2 * time.Minute},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, faults := read(t, "tidemark.yaml", []byte(tt.src), true)
			if diff := cmp.Diff(&tt.want, got.config) + cmp.Diff(tt.chat, got.chat); diff != "" || faults.Err() != nil {
				t.Errorf("faults %v (-want +got):\n%s", faults, diff)
			}
		})
	}
}
