package judge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/wire"
	"github.com/tidemark/tidemark/internal/test/mcptest"
	"github.com/tidemark/tidemark/tool"
)

// clock moves when a test says so.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time       { return time.Unix(1_800_000_000, c.nanos.Load()) }
func (c *clock) pass(d time.Duration) { c.nanos.Add(int64(d)) }

const asking = "rules:\n  - {name: ask, tools: [mail__send_mail], effect: ask}\n"

// legacy is a client of the older revisions that can be asked.
func legacy(t testing.TB, w *mcptest.World, c *clock) *table {
	t.Helper()
	o := options(w.Engine, "mail")
	o.Patience, o.Now = time.Minute, c.now
	tb := newTable(t, o)
	tb.up(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}}`)
	tb.down(`{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
	return tb
}

// MCP-18, MCP-19, BEY-10
func TestAPersonIsAskedInsideTheClient(t *testing.T) {
	tests := []struct {
		name, answer string
		took         time.Duration
		runs, open   bool // the call runs; the question is still open, for whoever else is asked
	}{
		{"yes, once", `{"action":"accept","content":{"decision":"once"}}`, time.Second, true, false},
		{"yes, and similar ones", `{"action":"accept","content":{"decision":"similar"}}`, time.Second, true, false},
		{"no, in the form", `{"action":"accept","content":{"decision":"deny"}}`, time.Second, false, false},
		{"no", `{"action":"decline"}`, time.Second, false, false},
		{"the dialog is closed", `{"action":"cancel"}`, time.Second, false, true},
		{"a form that says nothing", `{"action":"accept"}`, time.Second, false, true},
		{"a word that is none of ours", `{"action":"accept","content":{"decision":"yes"}}`, time.Second, false, true},
		{"yes, faster than a person", `{"action":"accept","content":{"decision":"once"}}`, 50 * time.Millisecond, false, true},
		{"no, faster than a person", `{"action":"decline"}`, 20 * time.Millisecond, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, c := mcptest.New(t, asking), &clock{}
			tb := legacy(t, w, c)
			finish := tb.Enter(t.Context(), tb.message(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_mail","arguments":`+mailArgs+`}}`), judge.Ends{Client: tb.say})
			done := make(chan judge.Passage, 1)
			go func() { done <- finish() }()
			var asked struct {
				ID     string
				Method string
				Params struct {
					Message         string
					RequestedSchema struct {
						Properties map[string]struct{ Default string }
					}
				}
			}
			text := <-tb.said
			if err := json.Unmarshal([]byte(text), &asked); err != nil || asked.Method != "elicitation/create" {
				t.Fatalf("got %s, %v", text, err)
			}
			if lines := strings.Split(asked.Params.Message, "\n"); len(lines) > 3 || !strings.Contains(lines[0], "mail__send_mail") {
				t.Errorf("the question: %q", asked.Params.Message)
			}
			if asked.Params.RequestedSchema.Properties["decision"].Default != "deny" {
				t.Errorf("the form: %s", text)
			}
			// A server that answers in the person's place, or asks under the same id, changes nothing (MCP-24).
			if forward, _ := tb.down(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"decision":"once"}}}`, asked.ID)); forward != "" {
				t.Errorf("an answer of the server's: %q", forward)
			}
			if forward, _ := tb.down(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"elicitation/create","params":{"message":"x"}}`, asked.ID)); forward != "" {
				t.Errorf("a request of the server's with our id: %q", forward)
			}
			c.pass(tt.took)
			if forward, reply := tb.up(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":%s}`, asked.ID, tt.answer)); forward != "" || reply != "" {
				t.Errorf("the answer went on: %q, %q", forward, reply)
			}
			if tt.open {
				list, err := w.Monitor.Questions(t.Context())
				if err != nil || len(list) != 1 {
					t.Fatalf("got %d open questions, %v", len(list), err)
				}
				w.Approve(true) // elsewhere
				tt.runs = true
			}
			if p := <-done; (p.Forward != nil) != tt.runs {
				t.Errorf("got %q, %q; want it to run: %v", p.Forward, p.Reply, tt.runs)
			}
		})
	}
}

const modernMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`

func modernCall(id int, args, more string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"send_mail","arguments":%s%s,"_meta":%s}}`, id, args, more, modernMeta)
}

// MCP-18, MCP-23
func TestAQuestionOfTheNewerRevisionsComesBackSigned(t *testing.T) {
	const yes = `,"inputResponses":{"tidemark":{"action":"accept","content":{"decision":"once"}}},"requestState":`
	other := `{"to":"somebody@else.example","body":""}`
	tests := []struct {
		name  string
		retry func(state string) string
		after time.Duration
		runs  bool
		want  string
	}{
		{"yes", func(s string) string { return modernCall(2, mailArgs, yes+s) }, time.Second, true, ""},
		{"no", func(s string) string { return modernCall(2, mailArgs, strings.Replace(yes, "once", "deny", 1)+s) }, time.Second, false, "blocked"},
		{"tampered with", func(s string) string { return modernCall(2, mailArgs, yes+s[:20]+"A"+s[21:]) }, time.Second, false, "could not take the answer"},
		{"other arguments", func(s string) string { return modernCall(2, other, yes+s) }, time.Second, false, "could not take the answer"},
		{"too late", func(s string) string { return modernCall(2, mailArgs, yes+s) }, time.Hour, false, "could not take the answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, c := mcptest.New(t, asking), &clock{}
			o := options(w.Engine, "mail")
			o.Now = c.now
			tb := newTable(t, o)
			forward, reply := tb.up(modernCall(1, mailArgs, ""))
			if forward != "" || !strings.Contains(reply, `"resultType":"input_required"`) {
				t.Fatalf("got %q, %q", forward, reply)
			}
			state := string(wire.Get([]byte(reply), "result", "requestState"))
			c.pass(tt.after)
			forward, reply = tb.up(tt.retry(state))
			if (forward != "") != tt.runs || !strings.Contains(reply, tt.want) {
				t.Fatalf("got %q, %q; want it to run: %v", forward, reply, tt.runs)
			}
			if strings.Contains(forward, "requestState") || strings.Contains(forward, "inputResponses") {
				t.Errorf("our state went on to the server: %s", forward)
			}
			if forward, reply := tb.up(strings.Replace(tt.retry(state), `"id":2`, `"id":3`, 1)); forward != "" {
				t.Errorf("a state was used twice: %q, %q", forward, reply)
			}
		})
	}
	t.Run("in another session", func(t *testing.T) {
		w, c := mcptest.New(t, asking), &clock{}
		memory, err := judge.NewMemory()
		if err != nil {
			t.Fatal(err)
		}
		o := options(w.Engine, "mail")
		o.Now, o.Memory = c.now, memory
		_, reply := newTable(t, o).up(modernCall(1, mailArgs, ""))
		state := string(wire.Get([]byte(reply), "result", "requestState"))
		o.Origin.Session = "another"
		c.pass(time.Second)
		if forward, reply := newTable(t, o).up(modernCall(2, mailArgs, yes+state)); forward != "" {
			t.Errorf("got %q, %q", forward, reply)
		}
	})
}

// What a server asks in between needs no second approval of the call; what is answered is judged.
// MCP-23, MCP-8
func TestASecondRoundIsTheSameCall(t *testing.T) {
	w := mcptest.New(t, asking+"  - {name: no-names, tools: [mail__input_answers], when: 'args.a.content.name == \"secret\"', effect: deny}\n")
	o := options(w.Engine, "mail")
	o.Elicit = false
	tb := newTable(t, o)
	tb.up(modernCall(1, mailArgs, ""))
	w.Approve(true)
	if forward, reply := tb.up(modernCall(2, mailArgs, "")); forward == "" {
		t.Fatal(reply)
	}
	question := `{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"your name?"}}},"requestState":"theirs"}}`
	if forward, _ := tb.down(question); forward != question {
		t.Fatalf("got %q", forward)
	}
	answer := `,"inputResponses":{"a":{"action":"accept","content":{"name":"%s"}}},"requestState":"theirs"`
	if forward, reply := tb.up(modernCall(3, mailArgs, fmt.Sprintf(answer, "secret"))); forward != "" || !strings.Contains(reply, "no-names") {
		t.Errorf("an answer that must not leave: got %q, %q", forward, reply)
	}
	other := modernCall(4, `{"to":"x@y.example","body":""}`, fmt.Sprintf(answer, "Bob"))
	if forward, _ := tb.up(other); forward != "" {
		t.Errorf("other arguments under the same state: %q", forward)
	}
}

// Whoever has the agents' token can speak as a relay does: about what the relay of an agent cannot be, no answer
// of theirs counts. WAR-10, MCP-32
func TestWhoAsksCannotAnswerForOthers(t *testing.T) {
	w := mcptest.New(t, "rules:\n  - {name: ask, tools: ['*'], effect: ask}\n")
	w.Engine.Relayed = func(server string) bool { return server == "mail" }
	port := w.Remote()
	for name, mine := range map[string]bool{"crm__send": false, "CRM__send": false, "exec": false, "claude__read": false, "mail__send": true} {
		r, err := port.Decide(t.Context(), judge.Ask{
			Place: judge.Place{Session: session, Owner: true}, Call: tool.Call{ID: name, Name: name, Args: []byte(`{}`)}, Elicits: true, Local: true,
		})
		if err != nil || r.Held == nil || r.Held.Dialog != mine {
			t.Fatalf("%s: got %+v, %v", name, r, err)
		}
		if err := port.Answer(t.Context(), judge.Said{Question: r.Held.ID, Session: session, Approve: true}); (err == nil) != mine {
			t.Errorf("%s: answered %v", name, err)
		}
	}
}
