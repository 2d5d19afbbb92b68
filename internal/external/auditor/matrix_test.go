package auditor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/external/auditor"
)

// speaks is how a provider's wire says something: a text, and that the model will not answer.
type speaks struct {
	provider, wire string
	path           string
	text           func(quoted string) string
	refuses        string
}

// wires are all that models are asked in over HTTP. What they say is what the providers document.
var wires = []speaks{
	{auditor.OpenAI, "", "/v1/chat/completions", chatText, chatRefusal},
	{auditor.Gemini, "", "/v1/chat/completions", chatText, chatRefusal},
	{auditor.Upstream, auditor.OpenAI, "/v1/chat/completions", chatText, chatRefusal},
	{auditor.Anthropic, "", "/v1/messages", messageText, messageRefusal},
	{auditor.Upstream, auditor.Anthropic, "/v1/messages", messageText, messageRefusal},
	{auditor.Ollama, "", "/api/chat",
		func(q string) string {
			return `{"message":{"role":"assistant","content":` + q + `},"done":true,"done_reason":"stop"}`
		}, `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`},
	{auditor.Upstream, auditor.Responses, "/v1/responses",
		func(q string) string {
			return `{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":` + q + `}]}]}`
		}, `{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]}]}`},
	{auditor.Upstream, auditor.Gemini, "/v1beta/models/test-model:generateContent",
		func(q string) string {
			return `{"candidates":[{"content":{"role":"model","parts":[{"text":` + q + `}]},"finishReason":"STOP"}]}`
		}, `{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"SAFETY"}]}`},
}

func chatText(q string) string {
	return `{"choices":[{"index":0,"message":{"role":"assistant","content":` + q + `},"finish_reason":"stop"}]}`
}

func messageText(q string) string {
	return `{"type":"message","role":"assistant","content":[{"type":"text","text":` + q + `}],"stop_reason":"end_turn"}`
}

const (
	chatRefusal    = `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":"no"},"finish_reason":"stop"}]}`
	messageRefusal = `{"type":"message","role":"assistant","content":[],"stop_reason":"refusal"}`
)

// matter is one thing that may become of a request.
type matter struct {
	status int
	header [2]string
	say    func(answer string) string // what the model says, given what it should; nil: it refuses
	holds  bool                       // it does not answer until it is let go
	dies   bool                       // the connection breaks in the middle of the answer
}

var (
	straight = func(answer string) string { return answer }
	matters  = map[string]matter{
		"answered":          {say: straight},
		"late":              {say: straight, holds: true},
		"refused":           {},
		"garbage":           {say: func(string) string { return "They want a mail, I think." }},
		"not of the form":   {say: func(string) string { return `{"items":[],"allow":true}` }},
		"not logged in":     {status: http.StatusUnauthorized},
		"rate limited":      {status: http.StatusTooManyRequests, header: [2]string{"Retry-After", "3600"}},
		"killed in between": {say: straight, dies: true},
	}
)

// numbered finds the words of a request, which differ by a number.
var numbered = regexp.MustCompile(`mail Petra (\d+)`)

// contractFor is what a model understands of words.
func contractFor(words string) string {
	return `{"items":[{"tool":"send_email","quote":"` + words + `","need":"asked","times":1,"args":[{"arg":"to","how":"person","what":["Petra"]}]}]}`
}

// endpointOf is a scripted endpoint that speaks a wire. It answers what it was asked about.
func endpointOf(t *testing.T, s speaks, m matter, release <-chan struct{}) (url string, requests func() int) {
	t.Helper()
	var mu sync.Mutex
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		n++
		mu.Unlock()
		if r.URL.Path != s.path {
			t.Errorf("asked at %s, want %s", r.URL.Path, s.path)
		}
		if m.holds {
			<-release
		}
		text := s.refuses
		if m.say != nil {
			quoted, _ := strictjson.Marshal(m.say(contractFor(string(numbered.Find(body)))))
			text = s.text(string(quoted))
		}
		w.Header().Set("Content-Type", "application/json")
		if m.header[0] != "" {
			w.Header().Set(m.header[0], m.header[1])
		}
		if m.dies {
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			_, _ = io.WriteString(w, text[:len(text)/2])
			panic(http.ErrAbortHandler)
		}
		if m.status != 0 {
			w.WriteHeader(m.status)
			text = `{"error":{"message":"key sk-very-secret is not good"}}`
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// programOf is a program that behaves so.
type programOf struct {
	m       matter
	release <-chan struct{}
	mu      sync.Mutex
	n       int
}

func (p *programOf) Ask(ctx context.Context, q auditor.Prompt) (auditor.Reply, error) {
	p.mu.Lock()
	p.n++
	p.mu.Unlock()
	if p.m.holds {
		select {
		case <-p.release:
		case <-ctx.Done():
			return auditor.Reply{}, ctx.Err()
		}
	}
	switch {
	case p.m.dies:
		return auditor.Reply{}, errors.New("it ended with code -1")
	case p.m.status == http.StatusUnauthorized:
		return auditor.Reply{}, errors.New("nobody is logged in")
	case p.m.status != 0, p.m.say == nil:
		return auditor.Reply{}, errors.New("it says that it failed")
	}
	return auditor.Reply{Text: p.m.say(contractFor(numbered.FindString(q.User)))}, nil
}
func (p *programOf) Check(context.Context) error { return nil }
func (p *programOf) Close()                      {}

// candidate is a provider that is tried in all matters.
type candidate struct {
	name string
	make func(t *testing.T, m matter, release <-chan struct{}) (c *auditor.Client, requests func() int)
}

func candidates() []candidate {
	var out []candidate
	for _, s := range wires {
		out = append(out, candidate{strings.TrimSuffix(s.provider+"/"+s.wire, "/"), func(t *testing.T, m matter, release <-chan struct{}) (*auditor.Client, func() int) {
			url, requests := endpointOf(t, s, m, release)
			return reading(t, func(o *auditor.Options) {
				o.Provider, o.Wire, o.BaseURL, o.PlanTimeout = s.provider, s.wire, url, 20*time.Second
				if o.ContractWait = time.Minute; m.holds {
					o.ContractWait = time.Millisecond
				}
				if s.provider == auditor.Upstream {
					o.Lent = func(string) (http.Header, error) { return http.Header{"Authorization": {"Bearer sk-proj-lent"}}, nil }
				} else {
					o.Key = "sk-very-secret"
				}
			}), requests
		}})
	}
	for _, provider := range []string{auditor.Program, auditor.Host} {
		out = append(out, candidate{provider, func(t *testing.T, m matter, release <-chan struct{}) (*auditor.Client, func() int) {
			p := &programOf{m: m, release: release}
			return reading(t, func(o *auditor.Options) {
				if o.Provider, o.Program, o.ContractWait = provider, p, time.Minute; m.holds {
					o.ContractWait = time.Millisecond
				}
			}), func() int { p.mu.Lock(); defer p.mu.Unlock(); return p.n }
		}})
	}
	return out
}

// Each provider, in the wire that it speaks, in every way in which it can answer and fail: an answer is used, a late one is used by
// later calls, and everything else is no contract, told without the key and without what the endpoint wrote.
//
// MAN-12
func TestEveryProviderInEveryMatter(t *testing.T) {
	for _, p := range candidates() {
		for name, m := range matters {
			t.Run(p.name+" "+name, func(t *testing.T) {
				t.Parallel()
				release := make(chan struct{})
				c, requests := p.make(t, m, release)
				got, model, err := c.Contract(t.Context(), "s", wish("mail Petra 7"), true)
				if m.holds {
					if !errors.Is(err, engine.ErrLate) {
						t.Errorf("not there yet: %+v, %v", got, err)
					}
					close(release)
					for err != nil { // as later calls do; the test's own time limit ends this
						got, model, err = c.Contract(t.Context(), "s", wish("mail Petra 7"), true)
					}
				}
				if name == "answered" || name == "late" {
					if err != nil || model != "test-model" || len(got.Items) != 1 || got.Items[0].Quote != "mail Petra 7" || requests() != 1 {
						t.Errorf("got %+v, %q, %v after %d requests", got, model, err, requests())
					}
					return
				}
				if err == nil || model != "" || !cmp.Equal(got, intent.Contract{}) {
					t.Fatalf("got %+v, %q, %v; want an error", got, model, err)
				}
				if text := err.Error() + fmt.Sprint(c.Status()); strings.Contains(text, "secret") || strings.Contains(text, "sk-") || strings.Contains(text, "Petra") {
					t.Errorf("told: %s", text)
				}
				if s := c.Status(); s.Undrawn != 1 || s.LastError == "" {
					t.Errorf("Status = %+v", s)
				}
				if n := requests(); n == 0 || n > 4 || n > 1 && name != "killed in between" {
					t.Errorf("%d requests", n)
				}
			})
		}
		t.Run(p.name+" twenty at once", func(t *testing.T) {
			t.Parallel()
			c, requests := p.make(t, matters["answered"], nil)
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					words := fmt.Sprintf("mail Petra %d", i)
					got, _, err := c.Contract(t.Context(), fmt.Sprintf("s%d", i), wish(words), true)
					if err != nil || len(got.Items) != 1 || got.Items[0].Quote != words {
						t.Errorf("%s: %+v, %v", words, got, err)
					}
				})
			}
			if wg.Wait(); requests() != 20 {
				t.Errorf("%d requests", requests())
			}
		})
	}
	t.Run("recorded", func(t *testing.T) {
		var kept bytes.Buffer
		p := &programOf{m: matters["answered"]}
		c := reading(t, func(o *auditor.Options) { o.Provider, o.Program, o.Record = auditor.Program, p, &kept })
		if _, _, err := c.Contract(t.Context(), "s", wish("mail Petra 7"), true); err != nil {
			t.Fatal(err)
		}
		c = reading(t, func(o *auditor.Options) { o.Provider, o.Replay = "", &kept })
		if got, _, err := c.Contract(t.Context(), "s", wish("mail Petra 7"), true); err != nil || len(got.Items) != 1 {
			t.Errorf("got %+v, %v", got, err)
		}
		if _, _, err := c.Contract(t.Context(), "s", wish("mail Petra 8"), true); !errors.Is(err, auditor.ErrUnrecorded) || p.n != 1 {
			t.Errorf("what nobody recorded: %v after %d requests", err, p.n)
		}
	})
}
