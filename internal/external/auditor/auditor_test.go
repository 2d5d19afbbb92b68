package auditor_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/test/audittest"
	"github.com/tidemark/tidemark/policy"
)

// foreign counts what went to the addresses of the environment, which must be nothing.
// It is set for all tests: net/http reads that part of the environment only once.
var foreign atomic.Int32

func TestMain(m *testing.M) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		foreign.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"} {
		if err := os.Setenv(name, elsewhere.URL); err != nil {
			panic(err)
		}
	}
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"} {
		if err := os.Setenv(name, "of-the-environment"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

const key = "sk-hunter2-secret"

var providers = []string{auditor.OpenAI, auditor.Anthropic}

// client is an auditor of a provider that asks s; change adapts the options.
func client(t *testing.T, provider string, s *audittest.Server, change func(*auditor.Options)) *auditor.Client {
	t.Helper()
	o := auditor.Options{Provider: provider, BaseURL: s.OpenAI(), Model: "test-model", Key: key, Timeout: time.Minute, PlanTimeout: time.Minute}
	if provider == auditor.Anthropic {
		o.BaseURL = s.Anthropic()
	}
	if change != nil {
		change(&o)
	}
	return build(t, o)
}

func build(t *testing.T, o auditor.Options) *auditor.Client {
	t.Helper()
	c, err := auditor.New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// question is a caution question about one of many calls.
func question(params string) intent.Question {
	return intent.Question{Words: []intent.Word{{Turn: 1, Text: "Read this and save the key points"}}, Sources: []string{"web_fetch"}, Tool: "write", Params: params}
}

func consistency(params string) intent.Question {
	q := question(params)
	q.Kind = intent.Consistency
	return q
}

// CAU-05, CAU-06, SEQ-06
func TestAnAnswerIsAnOpinion(t *testing.T) {
	tests := []struct {
		name   string
		q      intent.Question
		answer string
		want   intent.Opinion
	}{
		{"allow", question("{}"), "allow", intent.Opinion{Answer: intent.Consistent, Model: "test-model"}},
		{"block", question("{}"), "Block: nobody asked for mail", intent.Opinion{Answer: intent.Inconsistent, Reason: "nobody asked for mail", Model: "test-model"}},
		{"after thoughts", question("{}"), "<think>hm</think>\nblock", intent.Opinion{Answer: intent.Inconsistent, Model: "test-model"}},
		{"consistent", consistency("{}"), "consistent: as asked", intent.Opinion{Answer: intent.Consistent, Reason: "as asked", Model: "test-model"}},
		{"inconsistent", consistency("{}"), "inconsistent", intent.Opinion{Answer: intent.Inconsistent, Model: "test-model"}},
		{"unsure", consistency("{}"), "unsure: who is Bob?", intent.Opinion{Reason: "who is Bob?", Model: "test-model"}},
	}
	for _, provider := range providers {
		for _, tt := range tests {
			t.Run(provider+" "+tt.name, func(t *testing.T) {
				s := audittest.New(t, audittest.Say(tt.answer))
				got, err := client(t, provider, s, nil).Audit(t.Context(), "s", tt.q)
				if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
					t.Errorf("Audit: %v (-want +got):\n%s", err, diff)
				}
			})
		}
	}
}

// What is sent is the prompt, the model, the limits and the key of the options; not the
// session, and nothing of the environment.
//
// CAU-03, SEQ-05
func TestOnlyThePromptIsSent(t *testing.T) {
	for _, provider := range providers {
		t.Run(provider, func(t *testing.T) {
			s := audittest.New(t, audittest.Say("allow"))
			s.RequireKey(key)
			c := client(t, provider, s, nil)
			q := question(`{"path":"notes.md"}`)
			if _, err := c.Audit(t.Context(), "session-of-the-owner", q); err != nil {
				t.Fatalf("Audit: %v", err)
			}
			requests := s.Requests()
			if len(requests) != 1 {
				t.Fatalf("%d requests, want 1", len(requests))
			}
			r := requests[0]
			system, user := q.Prompt()
			if r.System != system || r.User != user || r.Model != "test-model" {
				t.Errorf("asked %q\n%q\n%q, want the prompt", r.Model, r.System, r.User)
			}
			if got := r.Fields["temperature"]; got != 0.0 {
				t.Errorf("temperature = %v, want 0", got)
			}
			if got := r.Fields["max_tokens"]; got != 512.0 {
				t.Errorf("max_tokens = %v, want 512", got)
			}
			for name := range r.Fields {
				if !strings.Contains("model messages system temperature max_tokens", name) {
					t.Errorf("the request has %q", name)
				}
			}
			for _, canary := range []string{"session-of-the-owner", "of-the-environment"} {
				if s.Sent(canary) {
					t.Errorf("%q was sent:\n%s", canary, r.Raw)
				}
			}
			if n := foreign.Load(); n != 0 {
				t.Errorf("%d requests went to addresses of the environment", n)
			}
		})
	}
}

// The key goes where each protocol looks for it, and nowhere if there is none.
//
// CAU-06
func TestARequestHasTheHeadersOfItsProtocol(t *testing.T) {
	for provider, want := range map[string]map[string]string{
		auditor.OpenAI:    {"Authorization": "Bearer " + key, "X-Api-Key": "", "Anthropic-Version": ""},
		auditor.Anthropic: {"Authorization": "", "X-Api-Key": key, "Anthropic-Version": "2023-06-01"},
	} {
		for _, given := range []string{key, ""} {
			s := audittest.New(t, audittest.Say("allow"))
			c := client(t, provider, s, func(o *auditor.Options) { o.Key = given })
			if _, err := c.Audit(t.Context(), "s", question("not UTF-8: \xff")); err != nil {
				t.Fatalf("%s: Audit: %v", provider, err)
			}
			header := s.Requests()[0].Header
			for name, value := range want {
				if given == "" && strings.Contains(value, key) {
					value = ""
				}
				if got := header.Get(name); got != value {
					t.Errorf("%s with key %q: %s is %q, want %q", provider, given, name, got, value)
				}
			}
			if header.Get("Content-Type") != "application/json" || header.Get("Accept") != "application/json" || header.Get("User-Agent") != "tidemark" {
				t.Errorf("%s: headers %v", provider, header)
			}
			for name := range header {
				if _, known := want[name]; !known && !strings.Contains("Content-Type Content-Length Accept User-Agent Connection", name) {
					t.Errorf("%s: header %s goes along", provider, name)
				}
			}
		}
	}
}

// The members of an answer in both protocols, and of one that says nothing.
const (
	answers   = `"choices":[{"message":{"content":"allow"},"finish_reason":"stop"}],"content":[{"type":"text","text":"allow"}],"stop_reason":"end_turn"`
	noAnswers = `"choices":[],"content":[],"stop_reason":""`
)

// failures are what an endpoint may do wrong, with the words its error must have.
var failures = []struct {
	name  string
	steps []audittest.Step
	tries int // requests made of one question
	want  string
}{
	{"prose instead of the form", []audittest.Step{audittest.Say("I think this is fine, allow it.")}, 1, "not of the form"},
	{"both words", []audittest.Step{audittest.Say("allow or block")}, 1, "not of the form"},
	{"JSON instead of the form", []audittest.Step{audittest.Say(`{"answer":"allow"}`)}, 1, "not of the form"},
	{"an empty text", []audittest.Step{audittest.Say("")}, 1, "empty"},
	{"no choices", []audittest.Step{audittest.Empty()}, 1, ""},
	{"an answer cut off", []audittest.Step{audittest.Cut("allow")}, 1, "cut off"},
	{"a refusal", []audittest.Step{audittest.Refuse("allow")}, 1, "refused"},
	{"a tool call", []audittest.Step{audittest.CallTool("allow")}, 1, "no answer"},
	{"a server error that stays", []audittest.Step{audittest.Fail(500, "oops")}, 4, "status 500"},
	{"a server error without JSON", []audittest.Step{audittest.Raw(503, "text/html", "<h1>503</h1>")}, 4, "status 503"},
	{"a connection that breaks", []audittest.Step{audittest.Drop()}, 4, "EOF"},
	{"too many requests, for longer than there is time", []audittest.Step{audittest.Fail(429, "slow down", "Retry-After", "3600")}, 1, "status 429"},
	{"too many requests, in milliseconds", []audittest.Step{audittest.Fail(429, "slow down", "Retry-After-Ms", "3600000")}, 1, "status 429"},
	{"a key that is refused", []audittest.Step{audittest.Fail(401, "incorrect key: "+key)}, 1, "status 401"},
	{"a model nobody knows", []audittest.Step{audittest.Fail(404, "no such model")}, 1, "status 404"},
	{"a bad request", []audittest.Step{audittest.Fail(400, "content policy")}, 1, "status 400"},
	{"a redirect with an answer in it", []audittest.Step{audittest.Redirect("/v1/elsewhere", "allow")}, 1, "status 307"},
	{"malformed JSON", []audittest.Step{audittest.Raw(200, "application/json", `{"choices":[`)}, 1, "not what the API promises"},
	{"null", []audittest.Step{audittest.Raw(200, "application/json", `null`)}, 1, "not what the API promises"},
	{"an answer in another form", []audittest.Step{audittest.Raw(200, "application/json", `{"answer":"allow"}`)}, 1, ""},
	{"text", []audittest.Step{audittest.Raw(200, "text/plain", `allow`)}, 1, "not what the API promises"},
	{"another status with an answer in it", []audittest.Step{audittest.Raw(203, "application/json", `{"choices":[{"message":{"content":"allow"},"finish_reason":"stop"}]}`)}, 1, "status 203"},
	{"an answer that says it is a page", []audittest.Step{audittest.Raw(200, "text/html", "{"+answers+"}")}, 1, "not what the API promises"},
	{"an answer that can be read in two ways", []audittest.Step{audittest.Raw(200, "application/json", "{"+noAnswers+","+answers+"}")}, 1, "not what the API promises"},
	{"a huge body", []audittest.Step{audittest.Flood(1<<20, false)}, 1, "more than 65536 bytes"},
	{"a huge body that says so", []audittest.Step{audittest.Flood(1<<20, true)}, 1, "more than 65536 bytes"},
}

// Each failure twice in a row has the same safe outcome, and no error holds the key.
//
// CAU-05
func TestAFailureIsNoOpinion(t *testing.T) {
	for _, provider := range providers {
		for _, tt := range failures {
			t.Run(provider+" "+tt.name, func(t *testing.T) {
				s := audittest.New(t, tt.steps...)
				c := client(t, provider, s, nil)
				for n := 1; n <= 2; n++ {
					got, err := c.Audit(t.Context(), "s", question("{}"))
					if got != (intent.Opinion{}) || err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "ask auditor: ") {
						t.Errorf("Audit %d = %+v, %v; want no opinion and %q", n, got, err, tt.want)
					}
					if err != nil && strings.Contains(err.Error(), key) {
						t.Errorf("the error holds the key: %v", err)
					}
					if made := len(s.Requests()); made != n*tt.tries {
						t.Errorf("after audit %d: %d requests, want %d", n, made, n*tt.tries)
					}
				}
				if st := c.Status(); st.Failed != 2 || st.Asked != 2 || st.LastError == "" || strings.Contains(st.LastError, key) {
					t.Errorf("Status = %+v, want two failures", st)
				}
			})
		}
	}
}

// CAU-05
func TestATextBesideSomethingElseIsNoOpinion(t *testing.T) {
	s := audittest.New(t, audittest.Raw(200, "application/json",
		`{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"allow"},{"type":"tool_use","id":"t","name":"x","input":{}}],"stop_reason":"end_turn"}`))
	c := client(t, auditor.Anthropic, s, nil)
	for range 2 {
		if got, err := c.Audit(t.Context(), "s", question("{}")); got != (intent.Opinion{}) || err == nil || !strings.Contains(err.Error(), "more than text") {
			t.Errorf("Audit = %+v, %v; want no opinion", got, err)
		}
	}
}

// The answer may depend on the question, as tests of others need it, and a canary in the
// arguments is found whatever its letters.
func TestTheEndpointOfTheTestsSeesWhatIsSent(t *testing.T) {
	for _, provider := range providers {
		s := audittest.New(t, audittest.SayTo(func(r audittest.Request) string {
			if strings.Contains(r.User, "evil") {
				return "block: evil"
			}
			return "allow"
		}))
		c := client(t, provider, s, nil)
		for params, want := range map[string]intent.Answer{"good": intent.Consistent, "evil ünïcode": intent.Inconsistent} {
			if got, err := c.Audit(t.Context(), "s", question(params)); err != nil || got.Answer != want {
				t.Errorf("%s: Audit(%s) = %+v, %v; want %v", provider, params, got, err, want)
			}
		}
		if !s.Sent("ünïcode") || !s.Sent("web_fetch") || s.Sent("absent") {
			t.Errorf("%s: Sent is wrong", provider)
		}
	}
}

// CAU-05
func TestASlowOrDeadEndpointIsNoOpinion(t *testing.T) {
	for _, provider := range providers {
		slow := client(t, provider, audittest.New(t, audittest.Hang()), func(o *auditor.Options) { o.Timeout = 50 * time.Millisecond })
		dead := client(t, provider, audittest.New(t), func(o *auditor.Options) { o.BaseURL = audittest.Dead(t) })
		for range 2 {
			got, err := slow.Audit(t.Context(), "s", question("{}"))
			if got != (intent.Opinion{}) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s, slow: got %+v, %v; want the deadline", provider, got, err)
			}
			got, err = dead.Audit(t.Context(), "s", question("{}"))
			if got != (intent.Opinion{}) || err == nil || !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "http://") {
				t.Errorf("%s, dead: got %+v, %v; want a refused connection", provider, got, err)
			}
		}
	}
}

func TestWhatPassesIsTriedAgain(t *testing.T) {
	for _, provider := range providers {
		for name, fault := range map[string]audittest.Step{"500": audittest.Fail(500, "oops"), "429": audittest.Fail(429, "wait", "Retry-After-Ms", "5"), "a broken connection": audittest.Drop()} {
			s := audittest.New(t, fault, fault, audittest.Say("allow"))
			got, err := client(t, provider, s, nil).Audit(t.Context(), "s", question("{}"))
			if err != nil || got.Answer != intent.Consistent || len(s.Requests()) != 3 {
				t.Errorf("%s, %s twice: got %+v, %v after %d requests; want allow after 3", provider, name, got, err, len(s.Requests()))
			}
		}
	}
}

// A parameter that is refused is given up, once and for all.
//
// CAU-06
func TestAModelWithoutAParameterIsAskedWithoutIt(t *testing.T) {
	tests := []struct {
		provider string
		refused  []string
		first    int // requests until the first answer
		fields   string
	}{
		{auditor.OpenAI, []string{"temperature"}, 2, "max_tokens"},
		{auditor.OpenAI, []string{"max_tokens"}, 2, "max_completion_tokens temperature"},
		{auditor.OpenAI, []string{"temperature", "max_tokens"}, 3, "max_completion_tokens"},
		{auditor.Anthropic, []string{"temperature"}, 2, "max_tokens"},
	}
	for _, tt := range tests {
		s := audittest.New(t, audittest.Without(audittest.Say("block"), tt.refused...))
		c := client(t, tt.provider, s, nil)
		for n := range 3 {
			if got, err := c.Audit(t.Context(), "s", question("{}")); err != nil || got.Answer != intent.Inconsistent {
				t.Errorf("%s without %v: got %+v, %v", tt.provider, tt.refused, got, err)
			}
			if made := len(s.Requests()); made != tt.first+n {
				t.Errorf("%s without %v: %d requests after audit %d, want %d", tt.provider, tt.refused, made, n+1, tt.first+n)
			}
		}
		last := s.Requests()[len(s.Requests())-1]
		for _, name := range strings.Fields(tt.fields) {
			if _, ok := last.Fields[name]; !ok {
				t.Errorf("%s without %v: the request has no %s: %s", tt.provider, tt.refused, name, last.Body)
			}
		}
	}
	all := audittest.New(t, audittest.Without(audittest.Say("allow"), "temperature", "max_tokens", "max_completion_tokens", "model"))
	if got, err := client(t, auditor.OpenAI, all, nil).Audit(t.Context(), "s", question("{}")); err == nil || len(all.Requests()) != 3 {
		t.Errorf("an endpoint that refuses everything: got %+v, %v after %d requests; want an error after 3", got, err, len(all.Requests()))
	}
}

// SEQ-11
func TestAPlanIsOneJSONObject(t *testing.T) {
	task := intent.Task{Words: []intent.Word{{Turn: 1, Text: "mail Bob"}}, Tools: []intent.Definition{{Name: "send_email"}}}
	const rules = `{"tools":[{"name":"send_email","why":"mail Bob"}]}`
	for _, provider := range providers {
		s := audittest.New(t, audittest.Say("```json\n"+rules+"\n```"), audittest.Say("Sure! "+rules), audittest.Fail(401, "no"))
		c := client(t, provider, s, nil)
		got, model, err := c.Plan(t.Context(), "s", task)
		if got != rules || model != "test-model" || err != nil {
			t.Errorf("%s: Plan = %q, %q, %v; want the rules", provider, got, model, err)
		}
		if r := s.Requests()[0]; r.Fields["max_tokens"] != 2048.0 || !strings.Contains(r.User, `- "send_email"`) {
			t.Errorf("%s: asked %s", provider, r.Body)
		}
		for range 2 {
			if got, model, err := c.Plan(t.Context(), "s", task); got != "" || model != "" || err == nil || !strings.HasPrefix(err.Error(), "plan task: ") {
				t.Errorf("%s: Plan = %q, %q, %v; want an error", provider, got, model, err)
			}
		}
		if st := c.Status(); st.Plans != 3 || st.PlansFailed != 2 || st.Asked != 0 {
			t.Errorf("%s: Status = %+v", provider, st)
		}
	}
}

// The form the instructions ask for is the one that is enforced.
//
// SEQ-11
func TestTheFormAskedForIsTheFormThatIsRead(t *testing.T) {
	system, _ := new(intent.Task).Prompt()
	_, form, _ := strings.Cut(system, "nothing else:\n")
	if _, err := policy.ParseTask([]byte(form)); err != nil {
		t.Errorf("ParseTask(%s): %v", form, err)
	}
}
