package auditor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/test/audittest"
)

const empty = `{"items":[],"reads":[],"follow":[],"never":[],"assents":false}`

// asked is a request for a contract.
var asked = intent.Request{Words: []intent.Word{{Turn: 1, Text: "Mail Ann the notes"}}, Tools: []intent.Signature{{Name: "send_mail"}}}

// reading is a client that draws contracts.
func reading(t *testing.T, change func(*auditor.Options)) *auditor.Client {
	t.Helper()
	o := auditor.Options{Provider: auditor.OpenAI, Model: "test-model", Contracts: true, ContractWait: time.Minute}
	change(&o)
	c, err := auditor.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// scripted is an endpoint of any wire.
func scripted(t *testing.T, answer func(path string, body map[string]any) (int, string)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body map[string]any
		_ = strictjson.Unmarshal(raw, &body)
		status, text := answer(r.URL.Path, body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// MAN-12: Ollama's own wire: the form is asked for, and a prompt that was cut short is no answer.
func TestOllamaIsAskedInItsOwnWire(t *testing.T) {
	quoted, _ := strictjson.Marshal(empty)
	for name, tt := range map[string]struct{ answer, want string }{
		"an answer":          {`{"message":{"role":"assistant","content":` + string(quoted) + `},"done":true,"done_reason":"stop","prompt_eval_count":1500,"eval_count":20}`, ""},
		"a prompt cut short": {`{"message":{"role":"assistant","content":` + string(quoted) + `},"done":true,"done_reason":"stop","prompt_eval_count":40,"eval_count":20}`, "the model read 40 tokens"},
		"an answer cut off":  {`{"message":{"role":"assistant","content":"{"},"done":true,"done_reason":"length"}`, "did not end by itself"},
		"a tool call":        {`{"message":{"role":"assistant","content":"","tool_calls":[{}]},"done":true,"done_reason":"stop"}`, "did not end by itself"},
		"nothing":            {`null`, "not what the API promises"},
	} {
		t.Run(name, func(t *testing.T) {
			var sent map[string]any
			url := scripted(t, func(path string, body map[string]any) (int, string) {
				if path == "/api/tags" {
					return 200, `{"models":[]}`
				}
				if sent = body; path != "/api/chat" {
					return 404, `{}`
				}
				return 200, tt.answer
			})
			c := reading(t, func(o *auditor.Options) { o.Provider, o.BaseURL = auditor.Ollama, url })
			if err := c.Check(t.Context()); err != nil {
				t.Errorf("Check: %v", err)
			}
			_, model, err := c.Contract(t.Context(), "s", asked, true)
			switch {
			case tt.want == "" && (err != nil || model != "test-model"):
				t.Errorf("Contract: %q, %v", model, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("Contract: %v, want %q", err, tt.want)
			}
			options, _ := sent["options"].(map[string]any)
			if form, ok := sent["format"].(map[string]any); !ok || form["type"] != "object" || sent["stream"] != false || options["num_ctx"] == nil {
				t.Errorf("sent %v", sent)
			}
			if s := c.Status(); tt.want == "" && (s.TokensIn != 1500 || s.TokensOut != 20) {
				t.Errorf("cost %d, %d", s.TokensIn, s.TokensOut)
			}
		})
	}
}

// MAN-12: Anthropic's wire holds a model to a form; an endpoint that does not know it is asked without.
func TestAnthropicIsHeldToAForm(t *testing.T) {
	s := audittest.New(t, audittest.Fail(400, "output_config: Extra inputs are not permitted"), audittest.Say(empty))
	c := reading(t, func(o *auditor.Options) { o.Provider, o.BaseURL = auditor.Anthropic, s.Anthropic() })
	if _, _, err := c.Contract(t.Context(), "s", asked, true); err != nil {
		t.Fatal(err)
	}
	r := s.Requests()
	if len(r) != 2 || !strings.Contains(string(r[0].Body), `"output_config":{"format":{"type":"json_schema"`) || strings.Contains(string(r[1].Body), "output_config") {
		t.Errorf("%d requests: %s", len(r), r[0].Body)
	}
}

// MAN-12: Google's endpoint speaks chat completions, with a form.
func TestGeminiSpeaksChatCompletions(t *testing.T) {
	s := audittest.New(t, audittest.Say(empty))
	c := reading(t, func(o *auditor.Options) { o.Provider, o.BaseURL = auditor.Gemini, s.OpenAI() })
	if _, _, err := c.Contract(t.Context(), "s", asked, true); err != nil {
		t.Fatal(err)
	}
	if r := s.Requests()[0]; r.Path != "/v1/chat/completions" || r.Fields["response_format"] == nil || r.Fields["max_tokens"] == nil {
		t.Errorf("sent %s %v", r.Path, r.Fields)
	}
}

// answerer is a program of a test.
type answerer struct {
	asked atomic.Int32
	say   func() (auditor.Reply, error)
}

func (a *answerer) Ask(context.Context, auditor.Prompt) (auditor.Reply, error) {
	a.asked.Add(1)
	return a.say()
}
func (a *answerer) Check(context.Context) error { return nil }
func (a *answerer) Close()                      {}

// MAN-12: a program is asked once: it has its own ideas of trying again.
func TestAProgramIsAskedOnce(t *testing.T) {
	a := &answerer{say: func() (auditor.Reply, error) { return auditor.Reply{}, errors.New("it ended with code 1") }}
	c := reading(t, func(o *auditor.Options) { o.Provider, o.Program = auditor.Program, a })
	if _, _, err := c.Contract(t.Context(), "s", asked, true); err == nil || a.asked.Load() != 1 {
		t.Errorf("Contract: %v after %d", err, a.asked.Load())
	}
	if c.Status().Since.IsZero() {
		t.Error("nobody knows since when it fails")
	}
	a.say = func() (auditor.Reply, error) { return auditor.Reply{Text: empty, In: 9, Out: 2}, nil }
	if _, _, err := c.Contract(t.Context(), "s", asked, true); err != nil {
		t.Error(err)
	}
	if s := c.Status(); !s.Since.IsZero() || s.TokensIn != 9 || s.Name != "program/test-model" {
		t.Errorf("Status = %+v", s)
	}
}

// MAN-12: budgets of the hour and the day hold over restarts, and so does what was answered.
func TestAnswersAndBudgetsOutliveARestart(t *testing.T) {
	s := audittest.New(t, audittest.Say(empty))
	now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	var kept bytes.Buffer
	start := func() *auditor.Client {
		known, err := auditor.LoadAnswers(bytes.NewReader(kept.Bytes()), now)
		if err != nil {
			t.Fatal(err)
		}
		kept.Reset()
		if err := known.Write(&kept); err != nil {
			t.Fatal(err)
		}
		return reading(t, func(o *auditor.Options) {
			o.BaseURL, o.PerHour, o.PerDay, o.Answers, o.KeepAnswers = s.OpenAI(), 2, 3, known, &kept
			o.Now = func() time.Time { return now }
		})
	}
	ask := func(c *auditor.Client, words string) error {
		_, _, err := c.Contract(t.Context(), "s", intent.Request{Words: []intent.Word{{Turn: 1, Text: words}}, Tools: asked.Tools}, true)
		return err
	}
	c := start()
	for _, words := range []string{"one", "two"} {
		if err := ask(c, words); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(c, "three"); !errors.Is(err, auditor.ErrSpent) {
		t.Errorf("a third in the hour: %v", err)
	}
	c = start()
	if err := ask(c, "one"); err != nil || len(s.Requests()) != 2 {
		t.Errorf("what was answered: %v after %d requests", err, len(s.Requests()))
	}
	if err := ask(c, "three"); !errors.Is(err, auditor.ErrSpent) {
		t.Errorf("a third in the hour, after a restart: %v", err)
	}
	now = now.Add(2 * time.Hour)
	if err := ask(c, "three"); err != nil {
		t.Errorf("in another hour: %v", err)
	}
	now = now.Add(2 * time.Hour)
	if err := ask(c, "four"); !errors.Is(err, auditor.ErrSpent) {
		t.Errorf("a fourth in the day: %v", err)
	}
	now = now.Add(30 * time.Hour)
	c = start()
	if st := c.Status(); st.LastDay != 0 || kept.Len() != 0 {
		t.Errorf("after a day: %+v, %d bytes", st, kept.Len())
	}
}

// What is kept is checked like an answer when it is wanted: a file that somebody wrote to gives nothing that an answer could not.
func TestWhatIsKeptIsNoMoreThanAnAnswer(t *testing.T) {
	for _, text := range []string{"", "{\n", `{"key":"a","kind":"contract","answer":"{}","model":"m","time":"2036-11-01T09:00:00Z"}`, "\x00\n{}\n"} {
		if known, err := auditor.LoadAnswers(strings.NewReader(text), time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)); err != nil || known == nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// MAN-12: whoever listens is looked at before each request.
func TestWhoeverIsAskedIsLookedAtFirst(t *testing.T) {
	s := audittest.New(t, audittest.Say(empty))
	c := reading(t, func(o *auditor.Options) {
		o.BaseURL, o.Before = s.OpenAI(), func() error { return errors.New("another program listens there") }
	})
	_, _, err := c.Contract(t.Context(), "s", asked, true)
	if err == nil || !strings.Contains(err.Error(), "another program") || len(s.Requests()) != 0 || c.Check(t.Context()) == nil {
		t.Errorf("Contract: %v after %d requests", err, len(s.Requests()))
	}
}

// What is asked of models that are not ours is counted over restarts too, for each of them, and no answer of theirs is kept. What cannot be
// read, and what cannot be written, counts as spent.
//
// MAN-12
func TestTheBudgetsOfThoseWhoAreLentOutliveARestart(t *testing.T) {
	s := audittest.New(t, audittest.Say(empty))
	now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	start := func(who string, text []byte, to io.Writer) *auditor.Client {
		known, _ := auditor.LoadAnswers(bytes.NewReader(text), now) // what is wrong with it is counted
		return reading(t, func(o *auditor.Options) {
			o.BaseURL, o.PerHour, o.Answers, o.KeepAnswers, o.SpentAs = s.OpenAI(), 2, known, to, who
			o.Now = func() time.Time { return now }
		})
	}
	ask := func(c *auditor.Client, words string) error {
		_, _, err := c.Contract(t.Context(), "s", intent.Request{Words: []intent.Word{{Turn: 1, Text: words}}, Tools: asked.Tools}, true)
		return err
	}
	var kept bytes.Buffer
	a, b := start("host a", nil, &kept), start("host b", nil, &kept)
	for _, c := range []*auditor.Client{a, a, b} {
		if err := ask(c, fmt.Sprint("words-7 ", kept.Len())); err != nil {
			t.Fatal(err)
		}
	}
	if text := kept.String(); strings.Count(text, "\n") != 3 || strings.Contains(text, "items") || strings.Contains(text, "words-7") {
		t.Errorf("kept is %s", text)
	}
	for name, c := range map[string]struct {
		who   string
		text  string
		to    io.Writer
		spent bool
	}{
		"as it was":             {"host a", kept.String(), io.Discard, true},
		"another's":             {"host b", kept.String(), io.Discard, false},
		"the server's own":      {"", kept.String(), io.Discard, false},
		"damaged":               {"host b", kept.String() + "{half\n", io.Discard, true},
		"of tomorrow":           {"host c", strings.ReplaceAll(strings.ReplaceAll(kept.String(), "2026-11-01", "2026-11-02"), "host a", "host c"), io.Discard, true},
		"longer than it can be": {"host c", strings.Repeat("x", 64<<20), io.Discard, true},
		"a full disk":           {"host c", "", full{}, true},
	} {
		if err := ask(start(c.who, []byte(c.text), c.to), "other words "+name); errors.Is(err, auditor.ErrSpent) != c.spent || err != nil && !c.spent {
			t.Errorf("%s: %v, want spent %v", name, err, c.spent)
		}
	}
}
