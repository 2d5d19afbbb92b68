package compliance_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/plugins/compliance"
	"github.com/tidemark/tidemark/policy"
)

// office is a keeper on a bus.
type office struct {
	t      *testing.T
	now    time.Time
	folder string
	keeper *compliance.Keeper
	bus    *hook.Bus
}

func open(t *testing.T, change func(*compliance.Options)) *office {
	t.Helper()
	o := &office{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), folder: filepath.Join(t.TempDir(), "record")}
	secrets := policy.Default().Redactor()
	opts := compliance.Options{
		Folder: o.folder, Prompts: true, Personal: compliance.Kinds(), Now: func() time.Time { return o.now }, Key: []byte("of this desk"),
		Redact: secrets.Text, Args: func(tool string, args []byte) []byte { return secrets.Args(tool, args) },
	}
	change(&opts)
	var err error
	if o.keeper, err = compliance.Open(opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.keeper.Close() })
	o.bus = hook.New(hook.Options{Logger: slog.New(slog.DiscardHandler)})
	if err := o.bus.Register(o.keeper.Handler()); err != nil {
		t.Fatal(err)
	}
	return o
}

// turn is one exchange, with a secret and personal data in every place.
func (o *office) turn() {
	ctx := context.Background()
	c := &hook.Context{SessionKey: "s", RunID: "t", AgentID: "desk", MessageProvider: "slack", SenderID: "U1", SenderIsOwner: true}
	const said = "Write to ada@example.com with key sk-live-4eC39HqLyjWDarjtT1zdp7dcABCDEF"
	if err := o.bus.MessageReceived(ctx, &hook.MessageReceived{Content: said}, c); err != nil {
		o.t.Error(err)
	}
	message := hook.JSON(`{"role":"user","content":"` + said + `"}`)
	if r := o.bus.BeforeLLMCall(ctx, &hook.BeforeLLMCall{
		Messages: []hook.JSON{message}, SystemPrompt: "Help.", Model: "m", Tools: []hook.Tool{hook.ToolNamed("send_email")},
	}, c); r.Block {
		o.t.Error(r.BlockReason)
	}
	o.bus.AfterLLMCall(ctx, &hook.AfterLLMCall{
		Model: "m", Response: hook.JSON(`{"text":"I write to ada@example.com"}`), ToolCalls: []hook.ToolCall{{ID: "c1", Name: "send_email"}},
		TokenUsage: &hook.TokenUsage{Input: 10, Output: 5},
	}, c)
	if r := o.bus.BeforeToolCall(ctx, &hook.BeforeToolCall{
		ToolName: "send_email", ToolCallID: "c1", Params: hook.JSON(`{"to":"ada@example.com","password":"hunter2hunter2"}`),
	}, c); r.Block {
		o.t.Error(r.BlockReason)
	}
	if err := o.bus.AfterToolCall(ctx, &hook.AfterToolCall{ToolName: "send_email", ToolCallID: "c1", Result: hook.JSON(`"sent to ada@example.com"`)}, c); err != nil {
		o.t.Error(err)
	}
}

func (o *office) entries() []compliance.Entry {
	o.t.Helper()
	var out []compliance.Entry
	for e, err := range compliance.Entries(o.folder, "") {
		if err != nil {
			o.t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func (o *office) files() string {
	o.t.Helper()
	found, err := filepath.Glob(filepath.Join(o.folder, "*"))
	if err != nil {
		o.t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range found {
		data, err := os.ReadFile(f)
		if err != nil {
			o.t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

// HOOK-15
func TestTheRecordSaysWhoAndWhatWithoutSecretsOrPersonalData(t *testing.T) {
	o := open(t, func(*compliance.Options) {})
	o.turn()
	got := o.entries()
	var hooks []string
	for _, e := range got {
		hooks = append(hooks, string(e.Hook))
		if e.Session != "s" || e.Turn != "t" || e.Agent != "desk" || !e.Time.Equal(o.now) {
			t.Errorf("an entry does not say where it belongs: %+v", e)
		}
	}
	want := []string{"message_received", "before_llm_call", "after_llm_call", "before_tool_call", "after_tool_call"}
	if diff := cmp.Diff(want, hooks); diff != "" {
		t.Fatalf("entries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&compliance.Who{Provider: "slack", Sender: "U1", Owner: true}, got[0].Who); diff != "" {
		t.Errorf("who (-want +got):\n%s", diff)
	}
	if !strings.Contains(got[0].Content, "Write to [email] with key") || len(got[0].Found) != 1 || len(got[0].Hash) != 64 {
		t.Errorf("got %+v", got[0])
	}
	if !strings.Contains(string(got[3].Args), "[email]") || got[3].Tool != "send_email" || got[3].Call != "c1" {
		t.Errorf("the call: got %+v", got[3])
	}
	for _, leaked := range []string{"ada@example.com", "sk-live", "hunter2"} {
		if strings.Contains(o.files(), leaked) {
			t.Errorf("%s is in the record", leaked)
		}
	}
}

func TestWithoutPromptsOnlyHashesAreKept(t *testing.T) {
	o := open(t, func(c *compliance.Options) { c.Prompts = false })
	o.turn()
	for _, e := range o.entries() {
		if e.Content != "" || e.Bytes > 0 && len(e.Hash) != 64 {
			t.Errorf("got %+v", e)
		}
	}
	if strings.Contains(o.files(), "Write to") {
		t.Error("words are in the record")
	}
}

func TestAnswersAndResultsAreRedactedOnTheirWay(t *testing.T) {
	ctx, c := context.Background(), &hook.Context{SessionKey: "s"}
	const text = "Call +49 30 1234567 or pay to DE89 3704 0044 0532 0130 00"
	for name, on := range map[string]bool{"where it is wished": true, "else as they are": false} {
		t.Run(name, func(t *testing.T) {
			o := open(t, func(c *compliance.Options) { c.Answers = on })
			r := o.bus.BeforeResponseEmit(ctx, &hook.BeforeResponseEmit{Content: text}, c)
			p, _ := o.bus.ToolResultPersist(ctx, &hook.ToolResultPersist{Message: hook.JSON(`{"content":"` + text + `"}`)}, c)
			m := o.bus.MessageSending(ctx, &hook.MessageSending{Content: text}, c)
			if !on {
				if r.Content != nil || p.Message != nil || m.Content != nil {
					t.Errorf("got %+v %+v %+v, want no change", r, p, m)
				}
				return
			}
			const want = "Call [phone] or pay to [iban]"
			if r.Content == nil || *r.Content != want || m.Content == nil || *m.Content != want || string(p.Message) != `{"content":"`+want+`"}` {
				t.Errorf("got %+v %s %+v", r.Content, p.Message, m.Content)
			}
		})
	}
}

func TestWhatIsPersonal(t *testing.T) {
	o := open(t, func(*compliance.Options) {})
	tests := map[string]string{
		"mail ada.l+x@mail.example.co.uk now":                         "mail [email] now",
		"card 4242 4242 4242 4242":                                    "card [REDACTED]", // a secret as well, and secrets are removed first
		"xoxb-" + "2025550123-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx": "[REDACTED]",
		"order 4242 4242 4242 4243":                                   "order 4242 4242 4242 4243",
		"GB82WEST12345698765432":                                      "[iban]",
		"GB82WEST12345698765433":                                      "GB82WEST12345698765433",
		"ssn 078-05-1120":                                             "ssn [ssn]",
		"(0)30 is not, +1 415-555-2671 is":                            "(0)30 is not, [phone] is",
		"version 1.2.3 of 2026-03-01":                                 "version 1.2.3 of 2026-03-01",
		"commit 0123456789abcdef":                                     "commit 0123456789abcdef",
	}
	for text, want := range tests {
		before := len(o.entries())
		if err := o.bus.MessageReceived(context.Background(), &hook.MessageReceived{Content: text}, &hook.Context{SessionKey: "s"}); err != nil {
			t.Fatal(err)
		}
		if got := o.entries()[before].Content; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if _, err := compliance.Open(compliance.Options{Folder: t.TempDir(), Now: time.Now, Key: []byte("k"), Personal: []string{"shoe size"}}); err == nil {
		t.Error("a kind that nobody knows was taken")
	}
}

func TestFilesAreKeptAsLongAsIsSaid(t *testing.T) {
	o := open(t, func(c *compliance.Options) { c.KeepDays = 2 })
	say := func() {
		t.Helper()
		if err := o.bus.MessageReceived(context.Background(), &hook.MessageReceived{Content: "hi"}, &hook.Context{SessionKey: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		say()
		o.now = o.now.AddDate(0, 0, 1)
	}
	found, err := filepath.Glob(filepath.Join(o.folder, "*.jsonl"))
	if err != nil || len(found) != 3 || filepath.Base(found[0]) != "2026-03-03.jsonl" {
		t.Errorf("got %v, %v, want the last three days", found, err)
	}
}

func TestWhatCannotBeWrittenDownDoesNotHappen(t *testing.T) {
	o := open(t, func(*compliance.Options) {})
	if err := os.WriteFile(o.folder, nil, 0o600); err != nil { // a file where the folder is to be
		t.Fatal(err)
	}
	r := o.bus.BeforeToolCall(context.Background(), &hook.BeforeToolCall{ToolName: "exec", Params: hook.JSON(`{}`)}, &hook.Context{SessionKey: "s"})
	if !r.Block || r.BlockedBy != "compliance" {
		t.Errorf("got %+v, want the call blocked", r)
	}
}

// A short text can be guessed: without the installation's key its hash says nothing, with it equal texts are known again.
func TestAHashGivesNothingAwayWithoutTheKey(t *testing.T) {
	said := func(key string) string {
		o := open(t, func(c *compliance.Options) { c.Prompts, c.Key = false, []byte(key) })
		if err := o.bus.MessageReceived(context.Background(), &hook.MessageReceived{Content: "1234"}, &hook.Context{SessionKey: "s"}); err != nil {
			t.Fatal(err)
		}
		return o.entries()[0].Hash
	}
	plain := sha256.Sum256([]byte("1234"))
	if here := said("one"); here == hex.EncodeToString(plain[:]) || here == said("another") || here != said("one") {
		t.Errorf("got %s", here)
	}
	if _, err := compliance.Open(compliance.Options{Folder: t.TempDir(), Now: time.Now}); err == nil {
		t.Error("a record was opened without a key")
	}
}

// In Chat Completions the system prompt stands among the messages, and is written down once.
func TestASystemPromptAmongTheMessagesIsKeptOnce(t *testing.T) {
	o := open(t, func(*compliance.Options) {})
	r := o.bus.BeforeLLMCall(context.Background(), &hook.BeforeLLMCall{
		Messages:     []hook.JSON{hook.JSON(`{"role":"system","content":"Be brief."}`), hook.JSON(`{"role":"user","content":"hi"}`)},
		SystemPrompt: "Be brief.", Model: "m",
	}, &hook.Context{SessionKey: "s"})
	if got := o.entries()[0].Content; r.Block || strings.Count(got, "Be brief.") != 1 {
		t.Errorf("got %q", got)
	}
}
