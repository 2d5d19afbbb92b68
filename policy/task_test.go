package policy_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

const lunchTask = `{"tools":[
  {"name":"Send-Email","why":"user asked\nto mail Bob","args":{
    "to":{"oneOf":["bob@example.com"]},"path":{"prefix":"/tmp/"},"subject":{"contains":"lunch"},"count":{"max":3,"min":1},"url":{"host":"example.com"}}},
  {"name":"calendar_read"}]}`

func mustTask(t testing.TB, src string) *policy.Task {
	t.Helper()
	task, err := policy.ParseTask([]byte(src))
	if err != nil {
		t.Fatalf("ParseTask(%s): %v", src, err)
	}
	return task
}

// limited is a task of one tool with one limited argument.
func limited(t testing.TB, arg, constraint string) *policy.Task {
	t.Helper()
	return mustTask(t, fmt.Sprintf(`{"tools":[{"name":"do","args":{%q:%s}}]}`, arg, constraint))
}

// SEQ-11: a call outside the task is held or refused, and the reason says by what.
func TestATaskNarrowsToWhatTheUserAskedFor(t *testing.T) {
	task := mustTask(t, lunchTask)
	const good = `"path":"/tmp/a","subject":"our lunch","count":2,"url":"https://www.example.com/x"`
	tests := []struct{ name, tool, args, rule, text string }{
		{"a call as the user asked for it", "send_email", `{"to":"bob@example.com",` + good + `}`, "", ""},
		{"a spelling of the tool that hosts use", " SEND-email", `{"to":"bob@example.com",` + good + `}`, "", ""},
		{"a list of one", "send_email", `{"to":["bob@example.com"],` + good + `}`, "", ""},
		{"an argument nobody limited", "send_email", `{"to":"bob@example.com","body":"hi",` + good + `}`, "", ""},
		{"a tool without limits", "calendar_read", `{"day":"today"}`, "", ""},
		{"a tool without limits and without arguments", "calendar_read", ``, "", ""},
		{"a tool that is not listed", "exec", `{}`, "task.unlisted", "the task does not need exec: it needs only calendar_read, send_email"},
		{"another recipient", "send_email", `{"to":"eve@example.org",` + good + `}`, "task.send_email.to",
			`for this task send_email needs args.to in ["bob@example.com"]; got "eve@example.org"`},
		{"another recipient beside Bob", "send_email", `{"to":["bob@example.com","eve@example.org"],` + good + `}`, "task.send_email.to",
			`for this task send_email needs args.to in ["bob@example.com"]; got "eve@example.org"`},
		{"no recipient", "send_email", `{` + good + `}`, "task.send_email.to",
			`for this task send_email needs args.to in ["bob@example.com"]; got nothing`},
		{"too many", "send_email", `{"to":"bob@example.com",` + strings.Replace(good, "2", "4", 1) + `}`, "task.send_email.count",
			`for this task send_email needs args.count <= 3; got 4`},
		{"too few", "send_email", `{"to":"bob@example.com",` + strings.Replace(good, "2", "0", 1) + `}`, "task.send_email.count",
			`for this task send_email needs args.count >= 1; got 0`},
		{"arguments that cannot be read", "send_email", `{"to":`, "task.send_email.*", "the arguments cannot be held against the task: "},
		{"arguments that cannot be read where none is limited", "calendar_read", `[]`, "task.calendar_read.*", "the arguments cannot be held against the task: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, effect := range []policy.Effect{policy.Confirm, policy.Deny} {
				got, outside := task.Judge(call(tt.tool, tt.args), effect)
				if outside != (tt.rule != "") || got.Rule != tt.rule || !strings.HasPrefix(got.Text, tt.text) {
					t.Errorf("got %t by %q: %s; want %q: %s", outside, got.Rule, got.Text, tt.rule, tt.text)
				}
				if outside && got.Effect != effect {
					t.Errorf("got %s, want %s", got.Effect, effect)
				}
				if unread := strings.HasSuffix(tt.rule, ".*"); got.Error != unread {
					t.Errorf("got error %t, want %t", got.Error, unread)
				}
			}
		})
	}
}

// SEQ-11: layer 1 knows the tool alone.
func TestWithoutArgumentsOnlyTheListOfToolsCounts(t *testing.T) {
	task := mustTask(t, lunchTask)
	for name, want := range map[string]bool{"send_email": false, "Calendar-Read": false, "exec": true, "": true} {
		if got, outside := task.Judge(&policy.Input{Tool: name}, policy.Confirm); outside != want {
			t.Errorf("%q: got outside %t (%s), want %t", name, outside, got.Text, want)
		}
	}
	for _, none := range []*policy.Task{{}, mustTask(t, `{"tools":[]}`)} {
		got, outside := none.Judge(&policy.Input{Tool: "read"}, policy.Confirm)
		if want := "the task does not need read: it needs no tool"; !outside || got.Text != want {
			t.Errorf("a task that needs nothing: got %t, %q; want %q", outside, got.Text, want)
		}
	}
}

// SEQ-11: what people are shown.
func TestTheRulesOfATaskCanBeRead(t *testing.T) {
	task := mustTask(t, strings.Replace(lunchTask, `{"name":"calendar_read"}`,
		`{"name":"fetch","args":{"to whom":{"oneOf":[1,true,null,"\u202e"]},"url":{"prefix":"https://example.com/docs"},"command":{"prefix":"git log"},"q":{"prefix":"Re:"},"n2":{"max":0.5}}}`, 1))
	want := []policy.TaskRule{
		{Tool: "fetch", Constraints: []string{
			`args.command runs only "git log"`, `args.n2 <= 0.5`, `args.q.startsWith("Re:")`,
			`args["to whom"] in [1, true, null, "\u202e"]`, `args.url within "https://example.com/docs"`,
		}},
		{Tool: "send_email", Why: "user asked to mail Bob", Constraints: []string{
			`args.count <= 3`, `args.count >= 1`, `args.path within "/tmp/"`, `args.subject.contains("lunch")`,
			`args.to in ["bob@example.com"]`, `args.url.host() within "example.com"`,
		}},
	}
	if d := cmp.Diff(want, task.Rules()); d != "" {
		t.Errorf("rules (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"fetch", "send_email"}, task.Tools()); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
	task.Tools()[0] = "exec"
	task.Rules()[0].Constraints[0] = ""
	if d := cmp.Diff(want, task.Rules()); d != "" {
		t.Errorf("a caller changed the task (-want +got):\n%s", d)
	}
}

// SEQ-11: what is found is shown in part, and never as it would disturb a terminal.
func TestWhatATaskShowsIsShort(t *testing.T) {
	task := limited(t, "to", `{"oneOf":["`+strings.Repeat("x", 512)+`"]}`)
	for _, args := range []string{`{"to":"` + strings.Repeat("é", 5000) + `"}`, `{"to":{"a":"` + strings.Repeat("b", 5000) + `\u202e"}}`, `{"to":"\u202e\u001b[31m"}`, `{"to":{"\u202e":1}}`} {
		got, outside := task.Judge(call("do", args), policy.Confirm)
		if !outside || len(got.Text) > 600 || strings.ContainsAny(got.Text, "\u202e\x1b") {
			t.Errorf("got %t, %d bytes: %q", outside, len(got.Text), got.Text)
		}
	}
	if got, _ := task.Judge(call(strings.Repeat("y", 5000), `{}`), policy.Confirm); len(got.Text) > 600 {
		t.Errorf("the reason for an unlisted tool has %d bytes", len(got.Text))
	}
}

// SEQ-11: strict and bounded; an error says what and where.
func TestATaskThatIsNotExactlyOfTheFormIsNone(t *testing.T) {
	long := strings.Repeat("x", 513)
	many := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	numbered := func(n int, one string) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf(one, i))
		}
		return strings.Join(out, ",")
	}
	arg := func(constraint string) string { return `{"tools":[{"name":"a","args":{"to":` + constraint + `}}]}` }
	tests := []struct{ name, in, want string }{
		{"nothing", "", "EOF"},
		{"no JSON", "send email to Bob", "invalid JSON"},
		{"another kind of value", "[]", "does not fit"},
		{"no tools", "{}", "read task: tools is missing"},
		{"tools that are null", `{"tools":null}`, "tools is missing"},
		{"an unknown key", `{"tools":[],"allow":["exec"]}`, "/allow"},
		{"an unknown key of a tool", `{"tools":[{"name":"a","allow":true}]}`, "/tools/0/allow"},
		{"an unknown kind of constraint", arg(`{"regex":".*"}`), "/tools/0/args/to/regex"},
		{"a key in another case", `{"Tools":[]}`, "/Tools"},
		{"a duplicate key", `{"tools":[],"tools":[]}`, "duplicate"},
		{"an argument twice", `{"tools":[{"name":"a","args":{"to":{"max":1},"to":{"max":9}}}]}`, "duplicate"},
		{"an argument in two spellings", `{"tools":[{"name":"a","args":{"to_id":{"max":1},"toId":{"max":9}}}]}`, `read task: tools[0].args["to_id"]: the same argument as "toId"`},
		{"a tool twice", `{"tools":[{"name":"send_email"},{"name":"Send-Email"}]}`, "read task: tools[1].name: send_email is listed twice"},
		{"a tool without a name", `{"tools":[{"why":"x"}]}`, "tools[0].name: the name is empty"},
		{"a tool that is null", `{"tools":[null]}`, "tools[0].name: the name is empty"},
		{"a name nobody can see", `{"tools":[{"name":"a\u200b"}]}`, `tools[0].name: the name "a\u200b" holds a character that cannot be seen`},
		{"text after the object", `{"tools":[]} done`, "invalid JSON"},
		{"text before the fence", "Here it is:\n```json\n{\"tools\":[]}\n```", "invalid JSON"},
		{"text after the fence", "```json\n{\"tools\":[]}\n```\nDone", "invalid JSON"},
		{"two fences", "```json\n```json\n{\"tools\":[]}\n```\n```", "invalid JSON"},
		{"a fence that is not closed", "```json\n{\"tools\":[]}", "invalid JSON"},
		{"a fence of another language", "```yaml\n{\"tools\":[]}\n```", "invalid JSON"},
		{"a fence and nothing else", "```json```", "invalid JSON"},
		{"more than 64 KB", strings.Repeat(" ", 64<<10) + `{"tools":[]}`, "65548 bytes, at most 65536 are read"},
		{"too many tools", `{"tools":[` + numbered(129, `{"name":"t%d"}`) + `]}`, "tools lists 129, at most 128 may be"},
		{"too many arguments", `{"tools":[{"name":"a","args":{` + numbered(33, `"a%d":{"max":1}`) + `}}]}`, "tools[0].args: 33 are limited, at most 32 may be"},
		{"too many values", arg(`{"oneOf":[` + many(65, `1`) + `]}`), `tools[0].args["to"].oneOf: lists 65 values, want 1 to 64`},
		{"no values", arg(`{"oneOf":[]}`), `.oneOf: lists 0 values`},
		{"a long value", arg(`{"oneOf":["a","` + long + `"]}`), `.oneOf: value 1: 513 characters, at most 512 may be`},
		{"a long name", `{"tools":[{"name":"` + long + `"}]}`, ".name: 513 characters"},
		{"a long reason", `{"tools":[{"name":"a","why":"` + long + `"}]}`, "tools[0].why: 513 characters"},
		{"a long argument name", `{"tools":[{"name":"a","args":{"` + long + `":{"max":1}}}]}`, ": 513 characters"},
		{"a long prefix", arg(`{"prefix":"` + long + `"}`), ".prefix: 513 characters"},
		{"an argument without a name", `{"tools":[{"name":"a","args":{"":{"max":1}}}]}`, `.args[""]: the name is empty`},
		{"an argument whose name says nothing", `{"tools":[{"name":"a","args":{"_":{"max":1}}}]}`, `.args["_"]: names no argument`},
		{"a constraint that says nothing", arg(`{}`), `tools[0].args["to"]: says nothing about the argument`},
		{"a constraint that is null", arg(`null`), "says nothing"},
		{"a constraint of nulls", arg(`{"oneOf":null,"prefix":null,"contains":null,"host":null,"max":null,"min":null}`), "says nothing"},
		{"a list as value", arg(`{"oneOf":[["a"]]}`), `.oneOf: value 0: is a list or an object`},
		{"an object as value", arg(`{"oneOf":["a",{"b":1}]}`), `.oneOf: value 1: is a list or an object`},
		{"a text for a list", arg(`{"oneOf":"a"}`), "/tools/0/args/to/oneOf"},
		{"a number as text", arg(`{"max":"3"}`), "/tools/0/args/to/max"},
		{"a number nobody can hold", arg(`{"max":1e400}`), "/tools/0/args/to/max"},
		{"a large number", arg(`{"oneOf":[9007199254740993]}`), "too large to be compared exactly"},
		{"a large bound", arg(`{"max":1e300}`), `.max: the number is too large`},
		{"a large negative bound", arg(`{"min":-1e300}`), `.min: the number is too large`},
		{"an empty prefix", arg(`{"prefix":""}`), `.prefix: is empty`},
		{"an empty part", arg(`{"contains":""}`), `.contains: is empty`},
		{"a path that climbs", arg(`{"prefix":"/tmp/../etc/"}`), `.prefix: "/tmp/../etc/" is not a plain path`},
		{"a path that expands", arg(`{"prefix":"$HOME/x"}`), "is not a plain path"},
		{"a URL with user information", arg(`{"prefix":"https://bob@example.com/"}`), "is not a plain scheme, host and path"},
		{"a URL with a query", arg(`{"prefix":"https://example.com/?q="}`), "is not a plain scheme, host and path"},
		{"a URL pattern", arg(`{"prefix":"https://*.example.com/"}`), "is not a plain scheme, host and path"},
		{"a host with a scheme", arg(`{"host":"https://example.com"}`), `.host: "https://example.com" is not a host name`},
		{"a host with a port", arg(`{"host":"example.com:80"}`), "is not a host name"},
		{"a host pattern", arg(`{"host":"*.example.com"}`), "is not a host name"},
		{"a host in another script", arg(`{"host":"exаmple.com"}`), "is not a host name"},
		{"two commands", `{"tools":[{"name":"a","args":{"cmd":{"prefix":"ls; rm"}}}]}`, `"ls; rm" is not the beginning of one plain command`},
		{"a command of blanks", `{"tools":[{"name":"a","args":{"cmd":{"prefix":"  "}}}]}`, "is not the beginning of one plain command"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				task, err := policy.ParseTask([]byte(tt.in))
				if task != nil || err == nil || !strings.HasPrefix(err.Error(), "read task: ") || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, %v; want an error about %q", task, err, tt.want)
				}
			}
		})
	}
}

// SEQ-11
func TestATaskMayStandInOneFenceAndAtTheBounds(t *testing.T) {
	var tools, args, list []string
	for i := range 128 {
		tools = append(tools, fmt.Sprintf(`{"name":"t%d"}`, i))
	}
	for i := range 32 {
		args = append(args, fmt.Sprintf(`"a%d":{"max":1}`, i))
	}
	for i := range 64 {
		list = append(list, fmt.Sprint(i))
	}
	for name, in := range map[string]string{
		"a fence":                 "```json\n{\"tools\":[]}\n```",
		"a fence of another end":  "\r\n```json\r\n{\"tools\":[]}\r\n```\r\n",
		"a fence closed in line":  "```json\n{\"tools\":[]}```",
		"blanks":                  " \n{\"tools\":[]}\n ",
		"as many tools as may be": `{"tools":[` + strings.Join(tools, ",") + `]}`,
		"as many arguments":       `{"tools":[{"name":"a","args":{` + strings.Join(args, ",") + `}}]}`,
		"as many values":          `{"tools":[{"name":"a","args":{"b":{"oneOf":[` + strings.Join(list, ",") + `]}}}]}`,
		"as long a text":          `{"tools":[{"name":"a","why":"` + strings.Repeat("é", 512) + `"}]}`,
		"args that are null":      `{"tools":[{"name":"a","args":null}]}`,
		"a kind that is null":     `{"tools":[{"name":"a","args":{"b":{"oneOf":null,"max":3}}}]}`,
	} {
		if _, err := policy.ParseTask([]byte(in)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// SEQ-11
func TestATaskIsSafeForConcurrentUse(t *testing.T) {
	task := mustTask(t, lunchTask)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if _, outside := task.Judge(call("send_email", `{"to":"eve@example.org"}`), policy.Confirm); !outside || len(task.Rules()) != 2 {
					t.Error("another answer in another goroutine")
				}
			}
		})
	}
	wg.Wait()
}

var someConstraints = []string{
	`{"oneOf":["a","/tmp/a",1,null]}`, `{"prefix":"/tmp/"}`, `{"prefix":"https://example.com/a"}`, `{"prefix":"a"}`, `{"contains":"a"}`,
	`{"host":"example.com"}`, `{"max":3}`, `{"min":1}`, `{"min":1,"max":2}`, `{"prefix":"/tmp/","contains":"a"}`,
}

var someValues = []any{
	"a", "/tmp/a", "/tmp/../a", "https://example.com/a/b", "https://x.example.com", "ab", 0.0, 1.0, 2.0, 9.0, nil, true,
	[]any{}, []any{"a", "/tmp/a"}, []any{1.0, 9.0}, map[string]any{"to": "a"},
}

// marshal is the arguments as JSON, or nothing where JSON has no such text.
func marshal(args map[string]any) string {
	b, err := strictjson.Marshal(args)
	if err != nil {
		return ""
	}
	return string(b)
}

func drawTaskArgs(t *rapid.T) string {
	return marshal(rapid.MapOfN(rapid.SampledFrom([]string{"to", "t_o", "path", "n"}), rapid.SampledFrom(someValues), 0, 4).Draw(t, "args"))
}

// SEQ-11: constraints only narrow, whichever is added to whichever.
func TestAddingAConstraintNeverLetsMoreThrough(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"to", "path", "n", "command"}), rapid.ID[string]).Draw(rt, "limited")
		var limits []string
		before := `{"tools":[{"name":"do"}]}`
		raw := drawTaskArgs(rt)
		_, outside := mustTask(t, before).Judge(call("do", raw), policy.Confirm)
		for _, name := range names {
			limits = append(limits, fmt.Sprintf("%q:%s", name, oneOf(someConstraints)(rt)))
			after := `{"tools":[{"name":"do","args":{` + strings.Join(limits, ",") + `}}]}`
			_, still := mustTask(t, after).Judge(call("do", raw), policy.Confirm)
			if outside && !still {
				rt.Fatalf("%s is outside %s and inside %s", raw, before, after)
			}
			before, outside = after, still
		}
	})
}

// SEQ-11: no answer of a task lets a call run, whatever it is asked to answer.
func TestATaskNeverAllows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		task := limited(t, "to", oneOf(someConstraints)(rt))
		effect := policy.Effect(rapid.Uint8().Draw(rt, "effect"))
		in := call(oneOf([]string{"do", "DO", "exec"})(rt), drawTaskArgs(rt))
		want := policy.Deny
		if effect == policy.Confirm {
			want = policy.Confirm
		}
		got, outside := task.Judge(in, effect)
		if got.Effect == policy.Allow || outside && (got.Effect != want || got.Rule == "" || got.Text == "") {
			rt.Fatalf("asked for effect %d: got %+v, want %s", effect, got, want)
		}
		fresh := tool.NewArgs(in.Args.Raw())
		in.Args = &fresh
		if again, o := task.Judge(in, effect); again != got || o != outside {
			rt.Fatalf("asked twice: %+v, then %+v", got, again)
		}
	})
}
