package remotehook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/external/remotehook"
)

func TestNewRefusesWhatCannotBeSafe(t *testing.T) {
	header := func(name, value string) func(*remotehook.Options) {
		return func(o *remotehook.Options) { o.Header = map[string]string{name: value} }
	}
	url := func(s string) func(*remotehook.Options) { return func(o *remotehook.Options) { o.URL = s } }
	tests := map[string]struct {
		change func(*remotehook.Options)
		want   string // empty: accepted
	}{
		"https":                            {func(*remotehook.Options) {}, ""},
		"plain http to this machine":       {url("http://127.0.0.1:8080/x"), ""},
		"plain http to this machine, IPv6": {url("http://[::1]:8080/x"), ""},
		"plain http to localhost":          {url("http://localhost:8080"), ""},
		"plain http where it is allowed":   {func(o *remotehook.Options) { o.URL, o.PlainHTTP = "http://plugin.example", true }, ""},
		"a header of its own":              {header("Authorization", "Bearer x"), ""},
		"no name":                          {func(o *remotehook.Options) { o.Name = "" }, "no name"},
		"no secret":                        {func(o *remotehook.Options) { o.Secret = nil }, "no secret"},
		"no hooks":                         {func(o *remotehook.Options) { o.Hooks = nil }, "no hooks"},
		"an unknown hook":                  {func(o *remotehook.Options) { o.Hooks = []hook.Name{"x"} }, `unknown hook "x"`},
		"a hook twice":                     {func(o *remotehook.Options) { o.Hooks = []hook.Name{"agent_end", "agent_end"} }, "hook agent_end is listed twice"},
		"plain http":                       {url("http://plugin.example/x"), "plain http to plugin.example: use https"},
		"plain http in capitals":           {url("HTTP://plugin.example/x"), "plain http to plugin.example: use https"},
		"a host that only starts like one": {url("http://localhost.example"), "plain http to localhost.example: use https"},
		"an address that is not local":     {url("http://10.0.0.1"), "plain http to 10.0.0.1: use https"},
		"another scheme":                   {url("file:///etc/passwd"), "url is not http or https"},
		"no scheme":                        {url("plugin.example"), "url is not http or https"},
		"no host":                          {url("https:///x"), "url has no host"},
		"credentials in the URL":           {url("https://user:hunter2@plugin.example"), "url holds credentials: put them beside it, not in it"},
		"what is no URL":                   {url("https://plugin.example/\x7f?hunter2"), "url cannot be parsed"},
		"the signature's header":           {header("x-tidemark-signature", "v1="), "header X-Tidemark-Signature cannot be set"},
		"the content type":                 {header("content-type", "text/plain"), "header Content-Type cannot be set"},
		"the host":                         {header("Host", "x"), "header Host cannot be set"},
		"a header name with a line break":  {header("X\r\nY", "x"), `header name "X\r\nY" is not allowed`},
		"an empty header name":             {header("", "x"), `header name "" is not allowed`},
		"a header value with a line break": {header("X-A", "x\r\nY: z"), "header X-A has a control character"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := remotehook.Options{Name: "p", URL: "https://plugin.example/x", Hooks: []hook.Name{"agent_end"}, Secret: []byte("s")}
			tt.change(&o)
			p, err := remotehook.New(o)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("New: %v, want it accepted", err)
			case tt.want != "" && (err == nil || !strings.HasSuffix(err.Error(), ": "+tt.want)):
				t.Errorf("New = %v, want %q", err, tt.want)
			case err != nil && strings.Contains(err.Error(), "hunter2"):
				t.Errorf("New = %v, which repeats a secret", err)
			case err == nil:
				p.Close()
			}
		})
	}
}

func TestTheRegistrationIsAsConfigured(t *testing.T) {
	p, err := remotehook.New(remotehook.Options{
		Name: "dlp", URL: "https://plugin.example", Hooks: []hook.Name{hook.NameBeforeToolCall, hook.NameAgentEnd}, Secret: []byte("s"),
		Priority: 7, FailOpen: true, Limit: time.Second,
	})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	h := p.Handler()
	if h.Name != "dlp" || h.Priority != 7 || !h.FailOpen || h.Limit != time.Second {
		t.Errorf("Handler = %+v, want what was configured", h)
	}
	b := hook.New(hook.Options{})
	if err := b.Register(h); err != nil {
		t.Fatalf("Register: %v", err)
	}
	for _, n := range hook.Names() {
		if got, want := b.Handles(n), n == hook.NameBeforeToolCall || n == hook.NameAgentEnd; got != want {
			t.Errorf("Handles(%s) = %v, want %v", n, got, want)
		}
	}
}
