package httpapi_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/httpapi"
)

// oracle is an auditor that finds everything consistent and remembers what it was asked.
type oracle struct {
	plan string

	mu      sync.Mutex
	sources map[string][]string // guarded by mu; the tools after which it was asked, by session
	tasks   []intent.Task       // guarded by mu
}

func (o *oracle) Audit(_ context.Context, session string, q intent.Question) (intent.Opinion, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sources == nil {
		o.sources = map[string][]string{}
	}
	o.sources[session] = append(o.sources[session], q.Sources...)
	return intent.Opinion{Answer: intent.Consistent}, nil
}

func (o *oracle) Plan(_ context.Context, _ string, t intent.Task) (rules, model string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tasks = append(o.tasks, t)
	return o.plan, "planner", nil
}

// audited reports whether the oracle was asked because of the tool.
func (o *oracle) audited(session, toolName string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Contains(o.sources[session], toolName)
}

// listen gives the server a monitor that asks the oracle.
func (o *oracle) listen(opts *httpapi.Options) {
	m, err := engine.New(engine.Options{Policy: opts.Monitor.Policy(), Store: opts.Feed, Now: time.Now, Rand: rand.Reader, Auditor: o})
	if err != nil {
		panic(err) // the options of a test
	}
	opts.Monitor = m
}

// notesAreLocal makes notes a tool that nobody cautions, and exec one that nothing else holds.
const notesAreLocal = "toolOutputTaints: {notes: local}\ntoolOverrides: {exec: {\"*\": allow}}\n"

// offers is a model call with the definition of one tool.
func (w *world) offers(session, definition string) {
	w.t.Helper()
	w.must(hook.NameBeforeLLMCall, `{"messages":[],"model":"m","iteration":0,"tools":[`+definition+`]}`, owner(session))
}

// declarations are what a tool says of itself, and whether it counts.
var declarations = []struct {
	name, definition string
	want             bool
}{
	{"MCP metadata", `{"name":"notes","_meta":{"caution":true}}`, true},
	{"MCP metadata of ours", `{"name":"notes","_meta":{"tidemark":{"caution":true}}}`, true},
	{"MCP metadata with a prefix", `{"name":"notes","_meta":{"tidemark/caution":true}}`, true},
	{"MCP metadata of OpenClaw", `{"name":"notes","_meta":{"openclaw":{"caution":true}}}`, true},
	{"an MCP annotation", `{"name":"notes","annotations":{"cautionHint":true}}`, true},
	{"another MCP annotation", `{"name":"notes","annotations":{"readOnlyHint":true,"caution":true}}`, true},
	{"the front matter of a skill", `{"name":"notes","metadata":{"openclaw":{"caution":true}}}`, true},
	{"the front matter beside other members", `{"name":"notes","description":"x","metadata":{"openclaw":{"emoji":"x","caution":true},"a":1}}`, true},
	{"a function with metadata", `{"type":"function","function":{"name":"notes","metadata":{"openclaw":{"caution":true}}}}`, true},
	{"a function with MCP metadata", `{"type":"function","function":{"name":"notes","_meta":{"tidemark":{"caution":true}}}}`, true},
	{"a function with an annotation", `{"type":"function","function":{"name":"notes","annotations":{"cautionHint":true}}}`, true},
	{"one of several", `{"name":"notes","_meta":{"caution":false},"annotations":{"cautionHint":true}}`, true},

	{"nothing", `{"name":"notes"}`, false},
	{"a bare name", `"notes"`, false},
	{"false", `{"name":"notes","_meta":{"caution":false}}`, false},
	{"the text true", `{"name":"notes","_meta":{"caution":"true"}}`, false},
	{"one", `{"name":"notes","_meta":{"caution":1}}`, false},
	{"null", `{"name":"notes","_meta":{"caution":null}}`, false},
	{"a list", `{"name":"notes","_meta":{"caution":[true]}}`, false},
	{"an object", `{"name":"notes","_meta":{"caution":{"on":true}}}`, false},
	{"metadata that is no object", `{"name":"notes","_meta":true,"annotations":[{"caution":true}],"metadata":"caution"}`, false},
	{"another spelling", `{"name":"notes","_meta":{"CAUTION":true}}`, false},
	{"somewhere in the schema", `{"name":"notes","inputSchema":{"properties":{"caution":true}}}`, false},
	{"too deep", `{"name":"notes","metadata":{"metadata":{"metadata":{"metadata":{"caution":true}}}}}`, false},
}

// CAU-08
func TestAToolDeclaresCautionInItsDefinition(t *testing.T) {
	o := &oracle{}
	w := open(t, notesAreLocal, o.listen)
	for _, tt := range declarations {
		t.Run(tt.name, func(t *testing.T) {
			w.say(tt.name, "Read my notes.")
			w.offers(tt.name, tt.definition)
			w.before(tt.name, "notes", `{}`)
			w.after(tt.name, "notes", `"a note"`)
			want(t, w.before(tt.name, "exec", command), "tidemark.verdict", "allow")
			if got := o.audited(tt.name, "notes"); got != tt.want {
				t.Errorf("audited %t, want %t", got, tt.want)
			}
		})
	}
}

// CAU-08
func TestAResultAsksForCaution(t *testing.T) {
	o := &oracle{}
	w := open(t, notesAreLocal, o.listen)
	for _, tt := range []struct {
		name, result string
		want         bool
	}{
		{"MCP metadata", `{"content":[{"type":"text","text":"x"}],"_meta":{"caution":true}}`, true},
		{"MCP metadata of ours", `{"content":[],"_meta":{"tidemark/caution":true}}`, true},
		{"an annotation", `{"content":[],"annotations":{"cautionHint":true}}`, true},
		{"metadata of OpenClaw", `{"content":[],"metadata":{"openclaw":{"caution":true}}}`, true},
		{"false", `{"content":[],"_meta":{"caution":false}}`, false},
		{"the text true", `{"content":[],"_meta":{"caution":"true"}}`, false},
		{"one", `{"content":[],"_meta":{"caution":1}}`, false},
		{"text that looks like it", `"{\"_meta\":{\"caution\":true}}"`, false},
		{"a list", `[{"_meta":{"caution":true}}]`, false},
		{"nothing", `null`, false},
	} {
		for hookName, report := range map[string]func(session string){
			"after_tool_call": func(session string) { w.after(session, "notes", tt.result) },
			"tool_result_persist": func(session string) {
				w.must(hook.NameToolResultPersist, `{"toolName":"notes","message":`+tt.result+`}`, owner(session))
			},
		} {
			t.Run(tt.name+" in "+hookName, func(t *testing.T) {
				session := tt.name + hookName
				w.say(session, "Read my notes.")
				w.before(session, "notes", `{}`)
				report(session)
				w.before(session, "exec", command)
				if got := o.audited(session, "notes"); got != tt.want {
					t.Errorf("audited %t, want %t", got, tt.want)
				}
			})
		}
	}
}

// A tool's own word only ever switches caution on; the file has the last one.
//
// CAU-01 CAU-08
func TestOnlyTheFileSwitchesCautionOff(t *testing.T) {
	for _, tt := range []struct {
		name, file, tool, definition, result string
		want                                 bool
	}{
		{"a tool cannot switch it off", "", "web_fetch", `{"name":"web_fetch","_meta":{"caution":false}}`, `{"_meta":{"caution":false}}`, true},
		{"the file can", "caution: {tools: {web_fetch: false}}", "web_fetch", `{"name":"web_fetch"}`, `"a page"`, false},
		{"the file is heard before the definition", "caution: {tools: {notes: false}}", "notes", `{"name":"notes","_meta":{"caution":true}}`, `"a note"`, false},
		{"the file is heard before the result", "caution: {tools: {notes: false}}", "notes", `{"name":"notes"}`, `{"_meta":{"caution":true}}`, false},
		{"the file can switch it on", "caution: {tools: {notes: true}}", "notes", `{"name":"notes"}`, `"a note"`, true},
		{"without defaults a tool can still ask for it", "caution: {defaults: false}", "notes", `{"name":"notes","_meta":{"caution":true}}`, `"a note"`, true},
		{"without defaults nothing else is cautioned", "caution: {defaults: false}", "web_fetch", `{"name":"web_fetch"}`, `"a page"`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := &oracle{}
			w := open(t, notesAreLocal+tt.file, o.listen)
			w.say("s", "Read it.")
			w.offers("s", tt.definition)
			w.before("s", tt.tool, `{}`)
			w.after("s", tt.tool, tt.result)
			w.before("s", "exec", command)
			if got := o.audited("s", tt.tool); got != tt.want {
				t.Errorf("audited %t, want %t", got, tt.want)
			}
		})
	}
}

// The planner sees the tools as the host describes them, within bounds.
//
// SEQ-11
func TestThePlannerSeesDefinitionsWithinBounds(t *testing.T) {
	params := make([]string, 40)
	for i := range params {
		params[i] = fmt.Sprintf(`"p%02d%s":{}`, i, strings.Repeat("x", 100))
	}
	tools := []string{
		`{"name":"plain","description":"Sends.","inputSchema":{"properties":{"to":{},"body":{}}}}`,
		`{"type":"function","function":{"name":"nested","description":"Nested.","parameters":{"properties":{"path":{}}}}}`,
		`{"name":"anthropic","description":"Other.","input_schema":{"properties":{"q":{}}}}`,
		`{"name":"long","description":"` + strings.Repeat("ä", 600) + `","parameters":{"properties":{` + strings.Join(params, ",") + `}}}`,
		`{"name":"odd","description":7,"parameters":[]}`,
		`"bare"`,
	}
	for i := range 300 {
		tools = append(tools, fmt.Sprintf(`{"name":"t%d"}`, i))
	}
	o := &oracle{plan: `{"tools":[]}`}
	w := open(t, "taskPolicy: {enabled: true}", o.listen)
	w.say("s", "Mail Bob.")
	w.offers("s", strings.Join(tools, ","))
	w.before("s", "plain", `{}`)
	if len(o.tasks) != 1 || len(o.tasks[0].Tools) != 256 {
		t.Fatalf("got %d plans of %d tools, want one of 256", len(o.tasks), len(o.tasks[0].Tools))
	}
	got := o.tasks[0].Tools
	for i, want := range []string{"{plain Sends. [body to]}", "{nested Nested. [path]}", "{anthropic Other. [q]}"} {
		if s := fmt.Sprint(got[i]); s != want {
			t.Errorf("got %s, want %s", s, want)
		}
	}
	long := got[3]
	if len(long.Description) > 500 || !strings.HasPrefix(long.Description, "ää") || len(long.Params) != 32 || len(long.Params[0]) != 64 {
		t.Errorf("got %d bytes, %d parameters, the first of %d bytes", len(long.Description), len(long.Params), len(long.Params[0]))
	}
	if fmt.Sprint(got[4], got[5]) != "{odd  []} {bare  []}" {
		t.Errorf("got %v and %v, want their names", got[4], got[5])
	}
}
