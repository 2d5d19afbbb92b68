//go:build judges

package sdkcompat_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// trial is one conversation of one client.
type trial struct {
	judge  judge
	stream bool
	prompt string
}

func (c trial) name() string {
	mode := modes[0].name
	if c.stream {
		mode = modes[1].name
	}
	return c.judge.name + "/" + mode + "/" + c.prompt
}

func (c trial) run(base, key string) result {
	return c.judge.run(job{
		ID: key + "/" + c.name(), Kind: c.judge.kind, Base: base, Key: keys + strings.ReplaceAll(key+"-"+c.name(), "/", "-"),
		Stream: c.stream, Prompts: []string{c.prompt, "go-on"}, Tools: tools, DeadlineMs: inNoHurry(deadline),
	})
}

// trials are all clients with all prompts, streamed and not. Clients take turns: those of one language
// share a process, and it would be given all the work at once.
func trials(prompts ...string) []trial {
	var out []trial
	for _, p := range prompts {
		for _, m := range modes {
			for _, j := range panel.judges {
				out = append(out, trial{j, m.stream, p})
			}
		}
	}
	return out
}

// bothWays are the results of one trial, without the proxy and through it.
type bothWays struct {
	trial
	direct, proxied result
}

// compare runs all trials both ways and checks what must hold for all.
func compare(t *testing.T, list []trial) []bothWays {
	t.Helper()
	w := newWorld(t, panel.other.mock)
	out := each(list, func(c trial) bothWays {
		return bothWays{c, c.run(panel.other.mock, "direct"), c.run(w.base(c.judge.kind), "proxied")}
	})
	var proxied []result
	for _, b := range out {
		wellBehaved(t, b.direct)
		wellBehaved(t, b.proxied)
		proxied = append(proxied, b.proxied)
	}
	w.decidedFirst(t, proxied)
	return out
}

// address is where a request went to, which some clients put into their errors.
var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+(/openai|/anthropic|/gemini)?`)

// plain is a result without what differs between any two runs.
func plain(r result) result {
	out := result{}
	if r.Error != nil {
		f := *r.Error
		f.Message = address.ReplaceAllString(f.Message, "")
		out.Error = &f
	}
	for _, round := range r.Rounds {
		round.Calls = slices.Clone(round.Calls)
		for i := range round.Calls {
			round.Calls[i].ID = ""
		}
		if len(round.Calls) == 0 {
			round.Calls = nil
		}
		out.Rounds = append(out.Rounds, round)
	}
	return out
}

// The same text, the same calls, the same stop reasons, whether the proxy stands between
// or not: chunks of one character, latency, text that looks like events or like calls.
func TestClientsGetTheSameThroughTheProxy(t *testing.T) {
	list := trials("tell-plain", "tell-ones", "tell-slow", "tell-profile", "think-tell", "chaos-late",
		"call-single", "call-ones", "call-slow", "call-three", "say-and-call", "mixed-blocks")
	for _, b := range compare(t, list) {
		if b.direct.Error != nil {
			t.Errorf("%s: without the proxy: %+v", b.name(), *b.direct.Error)
			continue
		}
		if diff := cmp.Diff(plain(b.direct), plain(b.proxied)); diff != "" {
			t.Errorf("%s: without the proxy (-), through it (+):\n%s", b.name(), diff)
		}
	}
}

// A mock that counts in UTF-16 sends halves of characters. They pass as they are, although
// a client that says them again is told that nobody can read them.
func TestClientsGetHalvesOfCharactersAsSent(t *testing.T) {
	w := newWorld(t, panel.other.mock)
	each(trials("tell-halves"), func(c trial) bool {
		direct, proxied := c.run(panel.other.mock, "direct"), c.run(w.base(c.judge.kind), "proxied")
		if diff := cmp.Diff(plain(direct).Rounds[0], plain(proxied).Rounds[0]); diff != "" {
			t.Errorf("%s: without the proxy (-), through it (+):\n%s", c.name(), diff)
		}
		if alike := direct.Error != nil && proxied.Error != nil && direct.Error.Kind == proxied.Error.Kind; alike {
			return true // some clients cannot say them again themselves
		}
		if proxied.Error != nil && proxied.Error.Status != http.StatusBadRequest {
			t.Errorf("%s: got %+v, want an answer or status 400", c.name(), *proxied.Error)
		}
		return true
	})
}

// A provider's refusals arrive as the client's own errors, with the same status, the same
// words and the same time to wait.
func TestClientsSeeTheProvidersErrors(t *testing.T) {
	list := trials("error-400", "error-401", "error-429", "error-500", "error-503", "error-529", "chaos-drop", "chaos-limit")
	for _, b := range compare(t, list) {
		if b.direct.Error == nil || b.direct.Error.Status < 400 {
			t.Errorf("%s: without the proxy: got %+v, want an error with a status", b.name(), b.direct)
			continue
		}
		if diff := cmp.Diff(plain(b.direct), plain(b.proxied)); diff != "" {
			t.Errorf("%s: without the proxy (-), through it (+):\n%s", b.name(), diff)
		}
	}
}

// What breaks off breaks off through the proxy too: an error the client knows, the text
// that came before it, and never half a call.
func TestClientsSeeBrokenAnswersAsBroken(t *testing.T) {
	var list []trial
	for _, c := range trials("cut-text", "cut-call", "cut-denied", "cut-late", "late-call-cut", "chaos-malformed", "chaos-disconnect") {
		streams := c.stream || strings.HasPrefix(c.prompt, "chaos")                                         // the mock cuts streams only
		cuts := c.judge.kind != "gemini" || !strings.Contains(c.prompt, "call") && c.prompt != "cut-denied" // one event holds a call of Gemini
		if streams && cuts {
			list = append(list, c)
		}
	}
	for _, b := range compare(t, list) {
		if b.proxied.Error == nil {
			t.Errorf("%s: got %+v, want an error", b.name(), b.proxied)
			continue
		}
		last := b.proxied.Rounds[len(b.proxied.Rounds)-1]
		if len(b.proxied.Rounds) != 1 || last.Whole || len(last.Calls) > 0 {
			t.Errorf("%s: got %+v, want one answer, broken off, without a call", b.name(), b.proxied.Rounds)
		}
		if strings.Contains(b.prompt, "cut") && !strings.HasPrefix(sent(t, b.prompt), last.Text) {
			t.Errorf("%s: got text %q, want a beginning of what was sent", b.name(), last.Text)
		}
	}
}

// A refused call is a sentence in its place, with the reason and the right stop reason;
// the calls beside it stay; and the conversation goes on.
func TestClientsGoOnAfterARefusal(t *testing.T) {
	kept := map[string][]string{"refuse-some": {`look{"v":"kept1"}`, `note{"v":"kept2"}`}}
	for _, b := range compare(t, trials("refuse-one", "refuse-some", "refuse-after-text", "refuse-all")) {
		if b.proxied.Error != nil {
			t.Errorf("%s: got %+v", b.name(), *b.proxied.Error)
			continue
		}
		first, last := b.proxied.Rounds[0], b.proxied.Rounds[len(b.proxied.Rounds)-1]
		var calls []string
		for _, c := range first.Calls {
			calls = append(calls, c.Name+c.Args)
		}
		if diff := cmp.Diff(kept[b.prompt], calls); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", b.name(), diff)
		}
		if !strings.Contains(first.Text, "wire") || !strings.Contains(first.Text, "money stays where it is") {
			t.Errorf("%s: got text %q, want the tool and the reason", b.name(), first.Text)
		}
		if want := stopOf(b.trial, b.direct.Rounds[0].Stop, len(calls) > 0); first.Stop != want {
			t.Errorf("%s: got stop reason %q, want %q", b.name(), first.Stop, want)
		}
		if last.Text != "And on it goes." || len(b.proxied.Rounds) != 2+min(1, len(calls)) {
			t.Errorf("%s: the conversation did not go on: %+v", b.name(), b.proxied.Rounds)
		}
	}
}

// stopOf is the stop reason of an answer of which some calls are left, or none.
func stopOf(c trial, sent string, left bool) string {
	if left {
		return sent
	}
	return map[string]string{"chat": "stop", "responses": "completed", "messages": "end_turn", "gemini": "STOP"}[c.judge.kind]
}

// sent is the text that the mock has for a prompt.
func sent(t *testing.T, prompt string) string {
	t.Helper()
	var file struct {
		Fixtures []struct {
			Match    struct{ UserMessage string }
			Response struct{ Content string }
		}
	}
	data, err := os.ReadFile(cache("js", "fixtures.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, f := range file.Fixtures {
		if f.Match.UserMessage == prompt {
			return f.Response.Content
		}
	}
	t.Fatalf("no fixture for %s", prompt)
	return ""
}
