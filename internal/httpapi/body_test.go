package httpapi_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/httpapi"
)

func TestBodiesThatAreRefused(t *testing.T) {
	w := open(t, "")
	deep := strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)
	for name, c := range map[string]struct {
		hook, body, says string
	}{
		"empty":                      {"before_tool_call", "", "empty"},
		"no JSON":                    {"before_tool_call", "hello", "invalid JSON"},
		"cut off":                    {"before_tool_call", `{"event":{"toolName":"read"`, "invalid JSON"},
		"two values":                 {"before_tool_call", `{"event":{"toolName":"read"},"ctx":{"sessionKey":"s"}}{}`, "invalid JSON"},
		"not an object":              {"before_tool_call", `[]`, ""},
		"no event":                   {"before_tool_call", `{"ctx":{"sessionKey":"s"}}`, "event: missing"},
		"no tool":                    {"before_tool_call", `{"event":{"params":{}},"ctx":{"sessionKey":"s"}}`, "event.toolName"},
		"no session":                 {"before_tool_call", `{"event":{"toolName":"read"},"ctx":{}}`, "ctx.sessionKey"},
		"no context":                 {"before_tool_call", `{"event":{"toolName":"read"}}`, "ctx.sessionKey"},
		"a session that is a number": {"before_tool_call", `{"event":{"toolName":"read"},"ctx":{"sessionKey":7}}`, "ctx.sessionKey"},
		"a session with a NUL":       {"before_tool_call", `{"event":{"toolName":"read"},"ctx":{"sessionKey":"a\u0000b"}}`, "ctx.sessionKey"},
		"a session of 600 bytes":     {"before_tool_call", `{"event":{"toolName":"read"},"ctx":{"sessionKey":"` + strings.Repeat("s", 600) + `"}}`, "sessionKey"},
		"params that are a list":     {"before_tool_call", `{"event":{"toolName":"read","params":[]},"ctx":{"sessionKey":"s"}}`, "event.params"},
		"two sessions":               {"before_llm_call", `{"event":{"messages":[],"tools":[],"sessionKey":"a"},"ctx":{"sessionKey":"b"}}`, "sessionKey"},
		"a duplicate key":            {"before_tool_call", `{"event":{"toolName":"read","toolName":"exec"},"ctx":{"sessionKey":"s"}}`, "duplicate"},
		"a duplicate key in params":  {"before_tool_call", `{"event":{"toolName":"read","params":{"a":1,"a":2}},"ctx":{"sessionKey":"s"}}`, "duplicate"},
		"nested 10,000 deep":         {"before_tool_call", `{"event":{"toolName":"read","params":` + deep + `},"ctx":{"sessionKey":"s"}}`, "nested too deeply"},
		"no UTF-8":                   {"before_tool_call", "{\"event\":{\"toolName\":\"\xff\"},\"ctx\":{\"sessionKey\":\"s\"}}", "UTF-8"},
		"half a surrogate":           {"before_tool_call", `{"event":{"toolName":"\ud800"},"ctx":{"sessionKey":"s"}}`, ""},
		"another hook's body":        {"before_tool_call", `{"hook":"agent_end","event":{"toolName":"read"},"ctx":{"sessionKey":"s"}}`, "agent_end"},
		"an unknown trust name":      {"context_assembled", `{"event":{"messages":[],"sources":[{"kind":"history","trust":"friendly","messageIndex":0}]},"ctx":{"sessionKey":"s"}}`, "sources"},
		"a tool without a name":      {"before_llm_call", `{"event":{"messages":[],"tools":[{}]},"ctx":{"sessionKey":"s"}}`, "event.tools[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequest(http.MethodPost, w.url+"/v1/hooks/"+c.hook, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+agentToken)
			r.Header.Set("Content-Type", "application/json")
			a := w.request(r)
			wantProblem(t, a, http.StatusBadRequest, c.says)
			if strings.HasPrefix(c.hook, "before") {
				want(t, a, "block", true)
			}
		})
	}
}

func TestMediaTypes(t *testing.T) {
	w := open(t, "")
	const body = `{"event":{"iteration":0},"ctx":{"sessionKey":"s"}}`
	for name, c := range map[string]struct {
		header http.Header
		wanted int
	}{
		"JSON":                 {http.Header{"Content-Type": {"application/json"}}, http.StatusOK},
		"JSON in UTF-8":        {http.Header{"Content-Type": {"application/json; charset=UTF-8"}}, http.StatusOK},
		"JSON in Latin 1":      {http.Header{"Content-Type": {"application/json; charset=latin1"}}, http.StatusUnsupportedMediaType},
		"a form":               {http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, http.StatusUnsupportedMediaType},
		"plain text":           {http.Header{"Content-Type": {"text/plain"}}, http.StatusUnsupportedMediaType},
		"nothing":              {http.Header{}, http.StatusUnsupportedMediaType},
		"nonsense":             {http.Header{"Content-Type": {";;;"}}, http.StatusUnsupportedMediaType},
		"compressed":           {http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}, http.StatusUnsupportedMediaType},
		"explicitly untouched": {http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"identity"}}, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequest(http.MethodPost, w.url+"/v1/hooks/loop_iteration_start", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header = c.header
			r.Header.Set("Authorization", "Bearer "+agentToken)
			if a := w.request(r); a.status != c.wanted {
				t.Errorf("got status %d, want %d: %s", a.status, c.wanted, a.raw)
			}
		})
	}
	r, err := http.NewRequest(http.MethodPost, w.url+"/v1/approvals/x", strings.NewReader("decision=approve"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+approverToken)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	wantProblem(t, w.request(r), http.StatusUnsupportedMediaType, "application/json")
}

// endless is a body of blanks.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	n := min(len(p), e.left)
	for i := range n {
		p[i] = ' '
	}
	if e.left -= n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestBodyOf100MBCostsNoMemory(t *testing.T) {
	w := open(t, "")
	for name, length := range map[string]int64{"with its length": 100 << 20, "in chunks": -1} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequest(http.MethodPost, w.url+"/v1/hooks/before_tool_call", &endless{100 << 20})
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = length
			r.Header.Set("Authorization", "Bearer "+agentToken)
			r.Header.Set("Content-Type", "application/json")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a := w.request(r)
			runtime.ReadMemStats(&after)
			wantProblem(t, a, http.StatusRequestEntityTooLarge, "8388608 bytes")
			want(t, a, "block", true)
			if used := after.TotalAlloc - before.TotalAlloc; used > 96<<20 { // the client's share included
				t.Errorf("allocated %d bytes for a body that is refused", used)
			}
		})
	}
}

func TestBodyThatIsCutOff(t *testing.T) {
	w := open(t, "")
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	fmt.Fprintf(conn, "POST /v1/hooks/before_tool_call HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"event\":", agentToken)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(raw); !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, `"block":true`) {
		t.Errorf("got %q, want 400 and a block", got)
	}
}

func TestBodyLimitCanBeSet(t *testing.T) {
	w := open(t, "", func(o *httpapi.Options) { o.MaxBody = 200 })
	body := func(n int) string {
		const frame = `{"event":{"iteration":0,"x":""},"ctx":{"sessionKey":"s"}}`
		return strings.Replace(frame, `"x":""`, `"x":"`+strings.Repeat("x", n-len(frame))+`"`, 1)
	}
	if a := w.call(agentToken, http.MethodPost, "/v1/hooks/loop_iteration_start", body(200)); a.status != http.StatusOK {
		t.Errorf("body at the limit: got status %d, want 200: %s", a.status, a.raw)
	}
	wantProblem(t, w.call(agentToken, http.MethodPost, "/v1/hooks/loop_iteration_start", body(201)), http.StatusRequestEntityTooLarge, "200 bytes")
	long := `{"decision":"approve","reason":"` + strings.Repeat("x", 70_000) + `"}`
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/approvals/x", long), http.StatusRequestEntityTooLarge, "")
}

// A preset that looks at values refuses what it cannot look through, one that looks at levels
// need not.
func TestParamsOf100000KeysAreJudged(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	for file, verdict := range map[string]string{byLevels: "allow", "": "confirm"} {
		w := open(t, file)
		w.say("s", "Hello.")
		a := w.before("s", "read", "{"+b.String()[1:]+"}")
		want(t, a, "tidemark.verdict", verdict)
	}
}

func TestRoutesThatAreNotThere(t *testing.T) {
	w := open(t, "")
	wantProblem(t, w.get("/v1/nonsense"), http.StatusNotFound, "nothing at this path")
	wantProblem(t, w.get("/"), http.StatusNotFound, "nothing at this path")
	wantProblem(t, w.call(agentToken, http.MethodPost, "/v1/hooks/before_everything", "{}"), http.StatusNotFound, "before_tool_call, after_tool_call")
	for route, allow := range map[string]string{
		"GET /v1/hooks/before_tool_call": "POST",
		"DELETE /v1/sessions":            "GET, HEAD",
		"PUT /v1/approvals/x":            "GET, HEAD, POST",
		"POST /healthz":                  "GET, HEAD",
	} {
		method, path, _ := strings.Cut(route, " ")
		a := w.call(adminToken, method, path, "")
		wantProblem(t, a, http.StatusMethodNotAllowed, "takes "+allow)
		if got := a.header.Get("Allow"); got != allow {
			t.Errorf("%s: got Allow %q, want %q", route, got, allow)
		}
	}
}

func TestManagementRequestsThatDoNotFit(t *testing.T) {
	w := open(t, "")
	for route, says := range map[string]string{
		"GET /v1/sessions?limit=0":                                      "query.limit",
		"GET /v1/sessions?limit=many":                                   "query.limit",
		"GET /v1/audit?after=-1":                                        "query.after",
		"GET /v1/explain":                                               "query.tool",
		"GET /v1/explain?tool=exec&taint=friendly":                      "query.taint",
		"GET /v1/approvals?state=maybe":                                 "query.state",
		"GET /v1/sessions/a%00b":                                        "path.key",
		"GET /v1/sessions/%ff/turns":                                    "path.key",
		"GET /v1/sessions/s/turns/latest/graph?format=gif":              "query.format",
		"GET /v1/events?after=soon":                                     "query.after",
		"POST /v1/approvals/x {}":                                       "decision",
		`POST /v1/approvals/x {"decision":"perhaps"}`:                   "body.decision",
		`POST /v1/approvals/x {"decision":"approve","minutes":-1}`:      "body.minutes",
		`POST /v1/approvals/x {"decision":"approve","minutes":1441}`:    "body.minutes",
		`POST /v1/approvals/x {"decision":"deny","decision":"approve"}`: "duplicate",
		`POST /v1/approvals/x {"decision":"deny","surprise":1}`:         "surprise",
		`POST /v1/approvals/x {"decision":`:                             "JSON",
		`POST /v1/writes/x {"action":"keep"}`:                           "body.action",
	} {
		t.Run(route, func(t *testing.T) {
			method, rest, _ := strings.Cut(route, " ")
			path, body, _ := strings.Cut(rest, " ")
			a := w.call(adminToken, method, path, body)
			wantProblem(t, a, http.StatusBadRequest, says)
		})
	}
}

func TestRefusedValuesAreNotEchoed(t *testing.T) {
	w := open(t, "")
	a := w.call(adminToken, http.MethodPost, "/v1/approvals/x", `{"decision":"my-secret-token"}`)
	wantProblem(t, a, http.StatusBadRequest, "body.decision")
	if strings.Contains(string(a.raw), "my-secret-token") {
		t.Errorf("the answer repeats the value: %s", a.raw)
	}
}
