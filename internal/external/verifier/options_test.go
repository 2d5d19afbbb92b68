package verifier_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/external/verifier"
)

// VER-02 VER-03 VER-10
func TestNewRefusesWhatCannotBeSafe(t *testing.T) {
	type options = verifier.Options
	url := func(s string) func(*options) { return func(o *options) { o.Config.Webhook.URL = s } }
	header := func(name string, value endpoint.Secret) func(*options) {
		return func(o *options) { o.Config.Webhook.Headers = map[string]endpoint.Secret{name: value} }
	}
	agent := func(a verifier.Override) func(*options) {
		return func(o *options) { o.Agents = map[string]verifier.Override{"main": a} }
	}
	tests := map[string]struct {
		change func(*options)
		want   string // empty: accepted
	}{
		"https":                        {func(*options) {}, ""},
		"off without anybody to ask":   {func(o *options) { o.Config = verifier.Config{} }, ""},
		"plain http where allowed":     {func(o *options) { o.Config.Webhook.URL, o.PlainHTTP = "http://verifier.example", true }, ""},
		"a header":                     {header("Authorization", "Bearer x"), ""},
		"a chat nobody is asked in":    {func(o *options) { o.Config.Telegram = &verifier.Chat{} }, ""},
		"nobody to ask":                {func(o *options) { o.Config.Webhook = nil }, "enabled, but neither a webhook nor telegram is configured"},
		"a chat that is off":           {func(o *options) { o.Config.Webhook, o.Config.Telegram = nil, &verifier.Chat{} }, "enabled, but neither a webhook nor telegram is configured"},
		"no bot":                       {func(o *options) { o.Config.Telegram = &chat }, "telegram is to be asked, but there is no bot"},
		"a scope with both":            {func(o *options) { o.Config.Scope = verifier.Scope{Include: []string{"a"}, Exclude: []string{"b"}} }, "scope has both include and exclude"},
		"a pattern":                    {func(o *options) { o.Config.Scope.Include = []string{"db_*"} }, `scope: "db_*" is not the name of a tool`},
		"an unknown fail mode":         {func(o *options) { o.Config.FailMode = "open" }, `fail mode "open" is neither deny nor allow`},
		"a cache without end":          {func(o *options) { o.Config.Cache = time.Hour }, "cache must be from 0 to 10m0s"},
		"a negative cache":             {func(o *options) { o.Config.Cache = -1 }, "cache must be from 0 to 10m0s"},
		"a negative timeout":           {func(o *options) { o.Config.Webhook.Timeout = -1 }, "webhook: negative timeout"},
		"a person's negative timeout":  {func(o *options) { o.Config.Telegram = &verifier.Chat{Timeout: -1} }, "telegram: negative timeout"},
		"plain http":                   {url("http://verifier.example"), "webhook: url is not encrypted"},
		"plain http to this machine":   {url("http://127.0.0.1:1"), "webhook: url is not encrypted"},
		"another scheme":               {url("file:///etc/passwd"), "webhook: url is not http or https"},
		"no URL":                       {url(""), "webhook: url is not http or https"},
		"no host":                      {url("https:///x"), "webhook: url has no host"},
		"credentials in the URL":       {url("https://user:hunter2@verifier.example"), "webhook: url holds credentials: put them beside it, not in it"},
		"what is no URL":               {url("https://verifier.example/\x7f?hunter2"), "webhook: url cannot be parsed"},
		"our signature's header":       {header("x-tidemark-signature", "v1="), "webhook: header X-Tidemark-Signature cannot be set"},
		"the other signature's header": {header("x-openclaw-signature", "00"), "webhook: header X-Openclaw-Signature cannot be set"},
		"the content type":             {header("content-type", "text/plain"), "webhook: header Content-Type cannot be set"},
		"the host":                     {header("Host", "x"), "webhook: header Host cannot be set"},
		"a header without a name":      {header("", "x"), `webhook: header name "" is not allowed`},
		"a line break in a header":     {header("X-A", "x\r\nhunter2: z"), "webhook: header X-A has a control character"},
		"an agent's plain http":        {agent(verifier.Override{Webhook: hookAt("http://verifier.example")}), `agent "main": webhook: url is not encrypted`},
		"an agent's fail mode":         {agent(verifier.Override{FailMode: "x"}), `agent "main": fail mode "x" is neither deny nor allow`},
		"an agent's cache":             {agent(verifier.Override{Cache: ptr(time.Hour)}), `agent "main": cache must be from 0 to 10m0s`},
		"an agent's chat without one":  {agent(verifier.Override{Telegram: ptr(true)}), `agent "main": telegram is not configured`},
		"an agent with nobody to ask": {func(o *options) {
			o.Config = verifier.Config{}
			o.Agents = map[string]verifier.Override{"main": {Enabled: ptr(true)}}
		}, `agent "main": enabled, but neither a webhook nor telegram is configured`},
		"an agent's chat without a bot": {func(o *options) {
			o.Config.Telegram = &verifier.Chat{}
			o.Agents = map[string]verifier.Override{"main": {Telegram: ptr(true)}}
		}, "telegram is to be asked, but there is no bot"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := options{Config: verifier.Config{Enabled: true, Webhook: hookAt("https://verifier.example/verify")}}
			tt.change(&o)
			_, err := verifier.New(o)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("New: %v, want it accepted", err)
			case tt.want != "" && (err == nil || err.Error() != "configure verifier: "+tt.want):
				t.Errorf("New = %v, want %q", err, tt.want)
			case err != nil && strings.Contains(err.Error(), "hunter2"):
				t.Errorf("New = %v, which repeats a secret", err)
			}
		})
	}
}

// VER-02
func TestSecretsDoNotPrint(t *testing.T) {
	c := verifier.WebhookConfig{Secret: "hunter2", Headers: map[string]endpoint.Secret{"A": "hunter2"}}
	text, err := strictjson.Marshal(c.Headers)
	if err != nil {
		t.Fatalf("Marshal: %v", err)
	}
	all := fmt.Sprintf("%v %+v %#v %s %q %x %d", c, c, c, c.Secret, c.Secret, c.Secret, c.Secret) +
		fmt.Sprint(c.Secret, &c) + c.Secret.String() + c.Secret.GoString() + string(text)
	if strings.Contains(all, "hunter2") || strings.Contains(all, "68756e74657232") {
		t.Errorf("printed a secret: %s", all)
	}
}
