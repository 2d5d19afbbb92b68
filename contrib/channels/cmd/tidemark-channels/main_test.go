package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/contrib/channels/chats"
	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/people/webhook"
)

const secret = "a-secret-of-32-characters-or-so.."

// The settings are those that stood in the server's file, and what is wrong is said at its place.
func TestSettings(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"S": secret, "APP": "xapp-1", "BOT": "xoxb-1"}[name]
		return v, ok
	}
	const base = "server: http://127.0.0.1:8417\nsecret: \"${S}\"\n"
	const slack = "slack: {appToken: \"${APP}\", botToken: \"${BOT}\", channel: C0123, users: [U0123]}\n"
	good := base + "proof: key.pem\n" + slack + "discord: {botToken: \"${BOT}\", channel: 123456789012345678, users: [\"42\", 43]}\nntfy: {topic: a, answers: b}\n"
	s, faults := parse("f", []byte(good), env)
	if faults.Err() != nil || s.slack.Users[0] != "U0123" || s.discord.Channel != "123456789012345678" || s.discord.Users[1] != "43" ||
		s.ntfy.Answers != "b" || s.ntfy.Approve || s.listen != "127.0.0.1:8420" {
		t.Fatalf("got %+v, %v", s, faults)
	}
	if text := fmt.Sprintf("%+v %+v", s, s.slack); strings.Contains(text, "xoxb-1") || strings.Contains(text, secret) {
		t.Errorf("a secret prints: %s", text)
	}
	for bad, want := range map[string]string{
		"":                                       "server",
		base:                                     "there is no chat to ask in",
		base + slack:                             "signed by a key",
		base + "slack: {}\n":                     "slack needs appToken",
		base + "slack: {botToken: \"${APP}\"}\n": "those begin with xoxb-",
		base + "slack: {channel: \"#general\"}\n":                             "must be the id of a channel, not its name",
		base + "slack: {users: [alice@x]}\n":                                  "must be the id of a user",
		base + "discord: {channel: general}\n":                                "must be an id of Discord's",
		base + "ntfy: {topic: \"a b\"}\n":                                     "a topic has letters",
		base + "ntfy: {topic: a, answers: a}\n":                               "must be another topic",
		base + "teams: {}\n":                                                  "unknown key",
		base + "listen: 0.0.0.0:8420\nntfy: {topic: a}\n":                     "without TLS",
		"server: http://a.example\nsecret: \"${S}\"\nntfy: {topic: a}\n":      "http to this machine",
		"server: http://127.0.0.1:1\nsecret: \"${NONE}\"\nntfy: {topic: a}\n": "NONE is not set",
	} {
		if _, faults := parse("f", []byte(bad), env); faults.Err() == nil || !strings.Contains(faults.Render([]byte(bad)), want) {
			t.Errorf("%q: got %v, want %q", bad, faults, want)
		}
	}
}

// The program shows in Slack what the server tells it, and brings the press back, signed by its key.
func TestTheProgramAsksInSlack(t *testing.T) {
	inSlack := chats.NewSlack(t)
	answers := make(chan *http.Request, 1)
	bodies := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		bodies <- body.Bytes()
		answers <- r
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	var public bytes.Buffer
	key := filepath.Join(dir, "proof.pem")
	for i, want := range []bool{true, false} { // a key that is there is not written over
		if err := run(t.Context(), []string{"key", key}, os.LookupEnv, &public, os.Stderr); (err == nil) != want {
			t.Fatalf("key, run %d: %v", i+1, err)
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listen := ln.Addr().String()
	_ = ln.Close()
	file := filepath.Join(dir, "channels.yaml")
	text := fmt.Sprintf("server: %s\nlisten: %s\nsecret: %s\nproof: %s\nslack: {appToken: %s, botToken: %s, channel: %s, users: [UALICE], baseUrl: %q}\n",
		server.URL, listen, secret, key, chats.SlackApp, chats.SlackBot, chats.SlackChannel, inSlack.URL())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- run(ctx, []string{"--config", file}, os.LookupEnv, os.Stdout, t.Output()) }()
	tell := func(body string) int {
		for deadline := time.Now().Add(time.Minute); ; {
			timestamp, signature := hook.Sign([]byte(secret), time.Now(), []byte(body))
			r, _ := http.NewRequest(http.MethodPost, "http://"+listen+"/slack", strings.NewReader(body))
			r.Header.Set(hook.HeaderTimestamp, timestamp)
			r.Header.Set(hook.HeaderSignature, signature)
			res, err := http.DefaultClient.Do(r)
			if err == nil && res.StatusCode != http.StatusBadGateway { // presses do not arrive yet
				_ = res.Body.Close()
				return res.StatusCode
			}
			if time.Now().After(deadline) {
				t.Fatalf("waited in vain for the program: %v", err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	if status := tell(`{"version":1,"type":"ping"}`); status != http.StatusNoContent {
		t.Errorf("a ping: %d", status)
	}
	question := `{"version":1,"type":"question","id":"ask-1","title":"Allow exec?","fields":[{"name":"Command","value":"ls"}],
		"choices":[{"text":"Allow once","answer":"a.0","kind":"once"}],"expiresAt":"` + time.Now().Add(time.Hour).Format(time.RFC3339) + `"}`
	if status := tell(question); status != http.StatusNoContent {
		t.Errorf("a question: %d", status)
	}
	inSlack.Press("UALICE", inSlack.Message(1), "Allow once")
	raw, r := <-bodies, <-answers
	if r.URL.Path != "/people/webhook/slack" || string(raw) != `{"answer":"a.0","by":"UALICE","name":"@ualice"}` {
		t.Errorf("got %s %s", r.URL.Path, raw)
	}
	proof, _ := hex.DecodeString(r.Header.Get(webhook.HeaderProof))
	pub, err := hex.DecodeString(strings.TrimSpace(public.String()))
	if err != nil || !ed25519.Verify(pub, webhook.Proved(r.Header.Get(hook.HeaderTimestamp), raw), proof) {
		t.Errorf("it is not signed by the key: %v", err)
	}
	tell(`{"version":1,"type":"closed","id":"ask-1","note":"Allow once by @ualice."}`)
	stop()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}
