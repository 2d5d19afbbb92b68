package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/people/sight"
)

// marks are what shows that something of a hidden session got out: its name, its agent, and what was said, read and called there.
var marks = []string{"hidden-session", "theirs", "quartz"}

// ours is how the context of a session's agent is told.
func ours(session, agent string) string {
	return fmt.Sprintf(`{"sessionKey":%q,"agentId":%q,"messageProvider":"discord","senderId":"u1","senderIsOwner":true}`, session, agent)
}

// seed lets a session say, read and be asked, with a word in all of it, and has something of it allowed for the session and for good.
func (w *world) seed(session, agent, word string) (question, grant, always string) {
	w.t.Helper()
	ctx := ours(session, agent)
	w.must(hook.NameMessageReceived, fmt.Sprintf(`{"from":"u1","content":"What is new at https://%s.example? I am on duty with ben@%s.example."}`,
		word, word), ctx)
	w.must(hook.NameBeforeLLMCall, `{"messages":[],"model":"m","iteration":0,"tools":[{"name":"send_email","description":"Send a mail.",
		"parameters":{"properties":{"to":{"type":"string"},"body":{"type":"string"}}}}]}`, ctx)
	w.must(hook.NameAfterToolCall, fmt.Sprintf(`{"toolName":"web_fetch","params":{},"result":"Write of %s to kes@quick.example."}`, word), ctx)
	ask := func(to string) string {
		a := w.must(hook.NameBeforeToolCall, fmt.Sprintf(`{"toolName":"send_email","params":{"to":%q,"body":"the %s is closed"}}`, to, word), ctx)
		want(w.t, a, "tidemark.verdict", "confirm")
		return a.text("tidemark.approval.id")
	}
	always = w.post(adminToken, "/v1/approvals/"+ask("ben@"+word+".example"), `{"decision":"approve","always":true}`).text("grant")
	grant = w.post(adminToken, "/v1/approvals/"+ask("first@"+word+".example"), `{"decision":"approve","minutes":30}`).text("grant")
	return ask("second@" + word + ".other.example"), grant, always
}

// limited is a server whose common tokens see the sessions of one agent.
func limited(t *testing.T) *world {
	return open(t, "preset: balanced", func(o *httpapi.Options) {
		o.Sees = func(by string) sight.Sight {
			if by == "reader" || by == "approver" {
				return sight.Of([]string{"mine"})
			}
			return sight.Sight{}
		}
	})
}

// glimpse is what a route sends within a moment: streams do not end.
func (w *world) glimpse(token, method, path, body string) (int, string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Second)
	defer cancel()
	if strings.HasPrefix(path, "/v1/events") || strings.HasPrefix(path, "/v1/approvals/stream") {
		ctx, cancel = context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
	}
	r, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	raw, _ := io.ReadAll(res.Body) // of a stream, until the moment is over
	_ = res.Body.Close()
	return res.StatusCode, string(raw) + fmt.Sprint(res.Header)
}

// asked are the requests by which a route is tried: its path with the names of what is hidden, and bodies that name it too.
func asked(pattern, question, grant, always string) (method string, paths, bodies []string) {
	method, path, _ := strings.Cut(pattern, " ")
	for _, id := range []string{question, grant, always, "latest"} {
		p := strings.NewReplacer("{key}", "hidden-session", "{turn}", "latest", "{id}", id, "{name}", "hidden-session", "{hook}", "x").Replace(path)
		if !slices.Contains(paths, p) {
			paths = append(paths, p, p+"?session=hidden-session", p+"?after=0&limit=1", p+"?order=newest", p+"?text=quartz", p+"?tool=send_email")
		}
	}
	if method == http.MethodPost || method == http.MethodPut {
		return method, paths[:1], []string{
			"{}", `{"decision":"deny","session":"hidden-session"}`, `{"decision":"deny"}`, `{"decision":"deny","ids":["` + question + `"]}`,
			`{"action":"discard","session":"hidden-session"}`, `{"text":"preset: balanced"}`,
		}
	}
	return method, paths, []string{""}
}

// Every route there is, asked for what is hidden by whoever may read or approve elsewhere: none of them tells or changes anything. A
// route that is added later is among them.
func TestNoRouteShowsWhatIsHidden(t *testing.T) {
	w := limited(t)
	w.seed("seen-session", "mine", "harbour")
	question, grant, always := w.seed("hidden-session", "theirs", "quartz")
	tried := 0
	for _, pattern := range w.api.Patterns() {
		method, paths, bodies := asked(pattern, question, grant, always)
		for _, token := range []string{readerToken, approverToken} {
			for _, path := range paths {
				for _, body := range bodies {
					tried++
					status, out := w.glimpse(token, method, path, body)
					for _, m := range marks {
						if strings.Contains(out, m) && !strings.Contains(body+path, m) {
							t.Errorf("%s %s %s shows %s: %d %.300s", method, path, body, m, status, out)
						}
					}
				}
			}
		}
	}
	t.Logf("%d requests", tried)
	if got := w.get("/v1/approvals/" + question).text("state"); got != "pending" {
		t.Errorf("the hidden question is %s", got)
	}
	for _, id := range []string{grant, always} {
		if list := string(w.get("/v1/grants").raw); !strings.Contains(list, id) {
			t.Errorf("the hidden grant %s was taken back: %s", id, list)
		}
	}
}

// What is granted is shown, and what is hidden is there for whoever sees everything: else the test above would show nothing.
func TestWhatIsGrantedIsShown(t *testing.T) {
	w := limited(t)
	own, _, _ := w.seed("seen-session", "mine", "harbour")
	question, _, _ := w.seed("hidden-session", "theirs", "quartz")
	for _, path := range []string{
		"/v1/sessions", "/v1/approvals", "/v1/approvals/stream", "/v1/grants", "/v1/audit", "/v1/audit?order=newest", "/v1/events?after=0",
	} {
		if _, out := w.glimpse(readerToken, http.MethodGet, path, ""); !strings.Contains(out, "seen-session") {
			t.Errorf("%s does not show what is granted: %.300s", path, out)
		}
		if _, out := w.glimpse(adminToken, http.MethodGet, path, ""); !strings.Contains(out, "hidden-session") || !strings.Contains(out, "seen-session") {
			t.Errorf("%s does not show an administrator everything: %.300s", path, out)
		}
	}
	for _, at := range []string{"", "/turns", "/steps", "/turns/latest/graph"} {
		if status, out := w.glimpse(readerToken, http.MethodGet, "/v1/sessions/seen-session"+at, ""); status != http.StatusOK {
			t.Errorf("%s of a session that is granted: %d %s", at, status, out)
		}
		nothing, _ := w.glimpse(readerToken, http.MethodGet, "/v1/sessions/nobody-began-it"+at, "")
		if status, _ := w.glimpse(readerToken, http.MethodGet, "/v1/sessions/hidden-session"+at, ""); status != http.StatusNotFound || status != nothing {
			t.Errorf("%s of a hidden session is %d, of none %d", at, status, nothing)
		}
	}
	if page := w.call(readerToken, http.MethodGet, "/v1/sessions?limit=1", ""); strings.Contains(page.text("next"), "hidden") {
		t.Errorf("the page ends with %s", page.text("next"))
	}
	if status, out := w.glimpse(approverToken, http.MethodPost, "/v1/approvals/"+question, `{"decision":"deny"}`); status != http.StatusNotFound {
		t.Errorf("a hidden question was answered: %d %s", status, out)
	}
	want(t, w.post(approverToken, "/v1/approvals/"+own, `{"decision":"deny"}`), "resolved.0", nil)
	if got := w.get("/v1/approvals/" + own).text("state"); got != "denied" {
		t.Errorf("the question that is granted is %s", got)
	}
	if status, out := w.glimpse(readerToken, http.MethodGet, "/v1/report", ""); status != http.StatusForbidden || !strings.Contains(out, "every agent") {
		t.Errorf("the report: %d %s", status, out)
	}
}

// What a stream tells as it happens is sifted too.
func TestAStreamIsSifted(t *testing.T) {
	w := limited(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/v1/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+readerToken)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	lines.Scan() // it is told of what is new by then, or reads it
	w.seed("hidden-session", "theirs", "quartz")
	w.seed("seen-session", "mine", "harbour")
	for lines.Scan() {
		for _, m := range marks {
			if strings.Contains(lines.Text(), m) {
				t.Fatalf("the stream tells of %s: %s", m, lines.Text())
			}
		}
		if strings.Contains(lines.Text(), "seen-session") {
			return
		}
	}
	t.Fatalf("it ended before it told what is granted: %v", lines.Err())
}

// Somebody whom the file grants nothing sees nothing.
func TestWhoIsGrantedNothingSeesNothing(t *testing.T) {
	w := open(t, "preset: balanced", func(o *httpapi.Options) { o.Sees = func(string) sight.Sight { return sight.Sight{} } })
	w.seed("hidden-session", "theirs", "quartz")
	for _, path := range []string{"/v1/sessions", "/v1/approvals", "/v1/grants", "/v1/audit", "/v1/writes"} {
		if _, out := w.glimpse(readerToken, http.MethodGet, path, ""); strings.Contains(out, "quartz") || strings.Contains(out, "hidden-session") {
			t.Errorf("%s shows %s", path, out)
		}
	}
}
