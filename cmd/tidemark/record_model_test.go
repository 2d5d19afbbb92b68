//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/test/audittest"
)

// MAN-12: scripts/record-model makes a file of answers with a provider, and the provider recorded answers from it without anybody: what
// is understood is the same, and a message that is not in it is not read.
func TestAnswersAreRecordedAndPlayedBack(t *testing.T) {
	m := audittest.New(t, audittest.SayTo(func(r audittest.Request) string {
		for _, words := range []string{"water the plants", "mach das Tor runter"} {
			if strings.Contains(r.User, words) {
				return `{"items":[{"tool":"set_gate","quote":"` + words + `","need":"asked","times":1,"args":[{"arg":"state","how":"calc","what":["` + words + `"],"is":["close"]}]}]}`
			}
		}
		return "I do not know"
	}))
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	writeFile(t, at("policy.yaml"), "reader: {provider: openai, model: test-model, baseUrl: '"+m.OpenAI()+"'}\n")
	writeFile(t, at("recorded.yaml"), "reader: {provider: recorded, model: test-model, answers: '"+at("answers.jsonl")+"'}\n")
	writeFile(t, at("tools.json"), `[{"name":"set_gate","inputSchema":{"type":"object","properties":{"state":{"type":"string","enum":["open","close"]}}}}]`)
	writeFile(t, at("messages.txt"), "water the plants\n\nmach das Tor runter\nwhat nobody understands")
	env := []string{"TIDEMARK=" + os.Args[0], "HOME=" + dir}
	out, err := sh(t, env, "../../scripts/record-model", at("policy.yaml"), at("messages.txt"), at("answers.jsonl"), at("tools.json"))
	if err == nil || !strings.Contains(out, "1: read\n2: read\n") || !strings.Contains(out, "3: not read") || !strings.Contains(out, "2 of 3 messages in ") {
		t.Fatalf("%v\n%s", err, out)
	}
	if info, err := os.Stat(at("answers.jsonl")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of answers: %v, %v", info, err)
	}
	if text, err := os.ReadFile(at("answers.jsonl")); err != nil || strings.Contains(string(text), "test-key") {
		t.Errorf("recorded: %v\n%s", err, text)
	}
	asked := len(m.Requests())
	for _, words := range []string{"water the plants", "mach das Tor runter"} {
		out, code := typed(t, words+"\n", "model", "try", "-", "--tools", at("tools.json"), "--config", at("recorded.yaml"), "--data", at("data"))
		if code != exitOK || !strings.Contains(out, `state: worked out from "`+words+`": close`) {
			t.Errorf("%s: exit %d, %s", words, code, out)
		}
	}
	out, code := typed(t, "mow the lawn\n", "model", "try", "-", "--tools", at("tools.json"), "--config", at("recorded.yaml"), "--data", at("data"))
	if code == exitOK || !strings.Contains(out, "no recorded answer") {
		t.Errorf("what nobody recorded: exit %d, %s", code, out)
	}
	if len(m.Requests()) != asked {
		t.Error("the model was asked again")
	}
}
