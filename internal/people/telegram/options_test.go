package telegram_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/people/telegram"
	"github.com/tidemark/tidemark/internal/test/telegramtest"
)

func TestNewRefusesWhatCannotBeSafe(t *testing.T) {
	base := func(s string) func(*telegram.Options) { return func(o *telegram.Options) { o.BaseURL = s } }
	token := func(s string) func(*telegram.Options) { return func(o *telegram.Options) { o.Token = s } }
	chat := func(s string) func(*telegram.Options) { return func(o *telegram.Options) { o.ChatID = s } }
	tests := map[string]struct {
		change func(*telegram.Options)
		want   string // empty: accepted
	}{
		"a number":                       {func(*telegram.Options) {}, ""},
		"a group":                        {chat("-1001234567"), ""},
		"no list of users":               {func(o *telegram.Options) { o.AllowedUserIDs = nil }, ""},
		"a public chat":                  {chat("@approvals"), ""},
		"a public chat without a list":   {func(o *telegram.Options) { o.ChatID, o.AllowedUserIDs = "@approvals", nil }, "chat @approvals is public: list the users who may answer"},
		"no chat":                        {chat(""), `chat "" is neither a number nor an @name`},
		"chat zero":                      {chat("0"), `chat "0" is neither a number nor an @name`},
		"a chat in words":                {chat("my chat"), `chat "my chat" is neither a number nor an @name`},
		"no token":                       {token(""), "the bot token is not of the form 123456:ABC-DEF"},
		"a token that leaves its place":  {token("1:x/../../hunter2"), "the bot token is not of the form 123456:ABC-DEF"},
		"a token with a line break":      {token("1:hunter2\n"), "the bot token is not of the form 123456:ABC-DEF"},
		"a user that cannot be":          {func(o *telegram.Options) { o.AllowedUserIDs = []int64{-5} }, "-5 is not the id of a user"},
		"a server of one's own":          {base("https://bots.example/api/"), ""},
		"plain http to this machine":     {base("http://127.0.0.1:8081"), ""},
		"plain http":                     {base("http://bots.example"), "plain http to bots.example: use https"},
		"another scheme":                 {base("file:///etc"), "the base url is not http or https"},
		"no URL":                         {base("https://bots.example/\x7f"), "the base url cannot be parsed"},
		"credentials in the URL":         {base("https://me:hunter2@bots.example"), "the base url holds credentials: put them beside it, not in it"},
		"a query in the URL":             {base("https://bots.example?hunter2"), "the base url holds more than a host and a path"},
		"a host that only starts local":  {base("http://localhost.example"), "plain http to localhost.example: use https"},
		"an address that is only nearby": {base("http://10.0.0.1"), "plain http to 10.0.0.1: use https"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := telegram.Options{Token: "1:hunter2", ChatID: "5", AllowedUserIDs: []int64{1}}
			tt.change(&o)
			b, err := telegram.New(o)
			switch {
			case err == nil:
				b.Close()
				if tt.want != "" {
					t.Errorf("New accepted it, want %q", tt.want)
				}
			case tt.want == "" || !strings.HasSuffix(err.Error(), ": "+tt.want):
				t.Errorf("New = %v, want %q", err, tt.want)
			case strings.Contains(err.Error(), "hunter2"):
				t.Errorf("New = %v, which repeats a secret", err)
			}
		})
	}
}

// VER-07
func TestCheckSaysWhetherItCanDeliver(t *testing.T) {
	tests := map[string]struct {
		change  func(*telegram.Options)
		method  string
		replies telegramtest.Reply
		want    string // empty: it can
	}{
		"all is well":             {},
		"a public chat":           {change: func(o *telegram.Options) { o.ChatID = "@tidemark_approvals" }},
		"a wrong token":           {change: func(o *telegram.Options) { o.Token = "7:wrong" }, want: "is the bot token right?"},
		"a chat it is not in":     {change: func(o *telegram.Options) { o.ChatID = "8" }, want: "the chat must have written to the bot"},
		"an error of the server":  {method: "getMe", replies: telegramtest.Reply{Status: 500}, want: "500 Internal Server Error"},
		"the connection drops":    {method: "getChat", replies: telegramtest.Reply{Drop: true}, want: "getChat: EOF"},
		"a token of a person":     {method: "getMe", replies: telegramtest.Reply{Body: `{"ok":true,"result":{"id":1}}`}, want: "the answer names no bot"},
		"an answer without chat":  {method: "getChat", replies: telegramtest.Reply{Body: `{"ok":true,"result":{}}`}, want: "the answer names no chat"},
		"an answer that is empty": {method: "getChat", replies: telegramtest.Reply{Body: `{"ok":true,"result":null}`}, want: "the answer names no chat"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := start(t, tt.change)
			for range 2 {
				if tt.method != "" {
					w.Script(tt.method, tt.replies)
				}
				err := w.bot.Check(t.Context())
				switch {
				case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
					t.Errorf("Check = %v, want %q", err, tt.want)
				case err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "wrong")):
					t.Errorf("Check = %v, which holds the token", err)
				}
			}
			if len(w.Requests("sendMessage"))+len(w.Requests("getUpdates")) > 0 {
				t.Error("checking sent a message or polled")
			}
		})
	}
}

// VER-07
func TestAVerifierGetsYesNoOrAnError(t *testing.T) {
	w := start(t, nil)
	type ruling struct {
		allow bool
		by    string
		err   error
	}
	ask := func(timeout time.Duration) <-chan ruling {
		out := make(chan ruling, 1)
		go func() {
			allow, by, err := w.bot.Verifier().Ask(t.Context(), "Tool verification request", []telegram.Field{{"Tool", "exec"}}, timeout)
			out <- ruling{allow, by, err}
		}()
		return out
	}
	for n, button := range []string{"Allow", "Deny"} {
		c := ask(time.Hour)
		w.Tap(bob, w.Message(n+1), button)
		if r := <-c; r.err != nil || r.allow != (button == "Allow") || r.by != "telegram:22" {
			t.Errorf("%s = %+v", button, r)
		}
	}
	if r := <-ask(20 * time.Millisecond); r.allow || r.err == nil {
		t.Errorf("no answer = %+v, want an error", r)
	}
	if err := w.bot.Verifier().Check(t.Context()); err != nil {
		t.Errorf("Check = %v", err)
	}
}

// BEY-10
func TestAChannelSettlesOnce(t *testing.T) {
	w := start(t, nil)
	var shown atomic.Int32
	ask := func(out chan<- []string) error {
		return w.bot.Channel().Ask(deadline(t), channels.Post{
			Title: "Approval", Fields: []telegram.Field{{"Tool", "exec"}}, Buttons: []telegram.Button{{"Allow once", "once"}},
			Shown: func() { shown.Add(1) },
			Settle: func(choice, by, name string) string {
				out <- []string{choice, by, name}
				return "Noted"
			},
		})
	}
	w.Script("sendMessage", telegramtest.Reply{Status: 403})
	if err := ask(nil); err == nil {
		t.Error("what was not shown gave no error")
	}
	settled, ended := make(chan []string, 2), make(chan error, 1)
	go func() { ended <- ask(settled) }()
	w.Tap(alice, w.Message(1), "Allow once")
	if err := <-ended; err != nil {
		t.Errorf("Ask = %v", err)
	}
	if got := shown.Load(); got != 1 {
		t.Errorf("shown %d times, want once", got)
	}
	if got := <-settled; strings.Join(got, " ") != "once telegram:11 @alice" || len(settled) != 0 {
		t.Errorf("settled with %q", got)
	}
	if end := w.Edited(1); !strings.HasSuffix(end.Text, "\n\nNoted") {
		t.Errorf("text = %q", end.Text)
	}
}
