package auditor_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/test/audittest"
)

// CAU-06
func TestNewRefusesWhatCannotBeSafe(t *testing.T) {
	url := func(s string) func(*auditor.Options) { return func(o *auditor.Options) { o.BaseURL = s } }
	tests := map[string]struct {
		change func(*auditor.Options)
		want   string // empty: accepted
	}{
		"the provider's own endpoint":    {url(""), ""},
		"anthropic":                      {func(o *auditor.Options) { o.Provider, o.BaseURL = auditor.Anthropic, "" }, ""},
		"a local server":                 {url("http://localhost:11434/v1"), ""},
		"a local server without a path":  {url("http://127.0.0.1:8080"), ""},
		"no key":                         {func(o *auditor.Options) { o.Key = "" }, ""},
		"plain http where it is allowed": {func(o *auditor.Options) { o.BaseURL, o.PlainHTTP = "http://models.lan/v1", true }, ""},
		"no model":                       {func(o *auditor.Options) { o.Model = "" }, "no model"},
		"no provider":                    {func(o *auditor.Options) { o.Provider = "" }, `provider "" is none of openai, anthropic, gemini, ollama, program`},
		"an unknown provider":            {func(o *auditor.Options) { o.Provider = "x" }, `provider "x" is none of openai, anthropic, gemini, ollama, program`},
		"plain http":                     {url("http://models.example/v1"), "plain http to models.example: use https"},
		"another scheme":                 {url("file:///etc/passwd"), "url is not http or https"},
		"no scheme":                      {url("models.example"), "url is not http or https"},
		"no host":                        {url("https:///v1"), "url has no host"},
		"credentials in the URL":         {url("https://user:hunter2@models.example"), "url holds credentials: put them beside it, not in it"},
		"a token in the URL":             {url("https://models.example/v1?key=hunter2"), "url holds more than scheme, host and path"},
		"what is no URL":                 {url("https://models.example/\x7fhunter2"), "url cannot be parsed"},
		"a key with a line break":        {func(o *auditor.Options) { o.Key = "hunter2\r\nX: y" }, "the key has a blank, a control character or a letter beyond ASCII"},
		"a key with a blank at its end":  {func(o *auditor.Options) { o.Key = "hunter2 " }, "the key has a blank, a control character or a letter beyond ASCII"},
		"a negative time":                {func(o *auditor.Options) { o.Timeout = -time.Second }, "a time is negative"},
		"a negative limit":               {func(o *auditor.Options) { o.PerSession = -1 }, "a limit is negative"},
		"a limit beyond reason":          {func(o *auditor.Options) { o.MaxTokens = 1 << 20 }, "more than 16384 tokens for an answer"},
		"recording and replaying":        {func(o *auditor.Options) { o.Record, o.Replay = &strings.Builder{}, strings.NewReader("") }, "answers are either recorded or replayed"},
		"a recording that is none":       {func(o *auditor.Options) { o.Replay = strings.NewReader("allow\n") }, "read recorded answers: line 1: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := auditor.Options{Provider: auditor.OpenAI, Model: "m", Key: "k"}
			tt.change(&o)
			c, err := auditor.New(o)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("New: %v, want it accepted", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), "configure auditor: "+tt.want)):
				t.Errorf("New = %v, want %q", err, tt.want)
			case err != nil && strings.Contains(err.Error(), "hunter2"):
				t.Errorf("New = %v, which repeats a secret", err)
			case err == nil:
				c.Close()
			}
		})
	}
}

// CAU-06
func TestABaseURLIsTakenAsPeopleWriteIt(t *testing.T) {
	for _, tt := range []struct{ provider, suffix string }{
		{auditor.OpenAI, ""}, {auditor.OpenAI, "/"}, {auditor.OpenAI, "/v1"}, {auditor.OpenAI, "/v1/"},
		{auditor.Anthropic, ""}, {auditor.Anthropic, "/"}, {auditor.Anthropic, "/v1"}, {auditor.Anthropic, "/v1/"},
	} {
		s := audittest.New(t, audittest.Say("allow"))
		c := client(t, tt.provider, s, func(o *auditor.Options) { o.BaseURL = s.URL + tt.suffix })
		if _, err := c.Audit(t.Context(), "s", question("{}")); err != nil {
			t.Errorf("%s at %q: %v", tt.provider, tt.suffix, err)
		}
		if err := c.Check(t.Context()); err != nil {
			t.Errorf("%s at %q: Check: %v", tt.provider, tt.suffix, err)
		}
	}
}

func TestCheckSaysWhetherTheEndpointCanBeUsed(t *testing.T) {
	missing := audittest.Fail(404, "no list here")
	tests := []struct {
		name   string
		models audittest.Step
		answer audittest.Step
		asked  int
		want   string // empty: it can
	}{
		{"models can be listed", audittest.Models("a", "b"), audittest.Fail(500, "x"), 0, ""},
		{"a very long list of models", audittest.Flood(1<<20, true), audittest.Fail(500, "x"), 0, ""},
		{"no list, but an answer", missing, audittest.Say("Yes"), 1, ""},
		{"no list, and an answer cut off", missing, audittest.Cut("Ye"), 1, ""},
		{"no list and no model", missing, audittest.Fail(404, "no such model"), 1, "status 404"},
		{"a page instead of a list", audittest.Raw(200, "text/html", "<h1>hello</h1>"), audittest.Say("x"), 0, "not what the API promises"},
		{"a server error", audittest.Fail(500, "oops"), audittest.Say("x"), 0, "status 500"},
		{"a key that is refused", audittest.Fail(401, "bad key "+key), audittest.Say("x"), 0, "status 401"},
	}
	for _, provider := range providers {
		for _, tt := range tests {
			t.Run(provider+" "+tt.name, func(t *testing.T) {
				s := audittest.New(t, tt.answer)
				s.ScriptModels(tt.models)
				c := client(t, provider, s, nil)
				for n := 1; n <= 2; n++ {
					err := c.Check(t.Context())
					switch {
					case tt.want == "" && err != nil:
						t.Errorf("Check: %v, want none", err)
					case tt.want != "" && (err == nil || err.Error() != "check auditor: "+tt.want && !strings.HasSuffix(err.Error(), tt.want)):
						t.Errorf("Check: %v, want %q", err, tt.want)
					}
					if made := len(s.Requests()); made != n*tt.asked {
						t.Errorf("%d questions asked, want %d", made, n*tt.asked)
					}
				}
			})
		}
	}
	dead := client(t, auditor.OpenAI, audittest.New(t), func(o *auditor.Options) { o.BaseURL = audittest.Dead(t) })
	if err := dead.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("nobody there: %v", err)
	}
}

func TestAnAuditorHasAName(t *testing.T) {
	s := audittest.New(t)
	if got := client(t, auditor.Anthropic, s, nil).Name(); got != "anthropic/test-model" {
		t.Errorf("Name = %q", got)
	}
	if got := client(t, auditor.OpenAI, s, nil).Status(); got.Name != "openai/test-model" || got.Breaker != "closed" {
		t.Errorf("Status = %+v", got)
	}
}

// A client of the caller's own is used, but neither its redirects nor its cookies.
func TestAClientOfTheCallersIsGuardedToo(t *testing.T) {
	followed := false
	s := audittest.New(t, audittest.Redirect("/v1/elsewhere", "allow"))
	own := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { followed = true; return nil }}
	c := client(t, auditor.OpenAI, s, func(o *auditor.Options) { o.HTTP = own })
	if got, err := c.Audit(t.Context(), "s", question("{}")); err == nil || followed {
		t.Errorf("Audit = %+v, %v, followed = %v; want the redirect refused", got, err, followed)
	}
	if own.Transport != nil {
		t.Error("the caller's client was changed")
	}
}
