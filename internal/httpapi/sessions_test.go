package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/hook"
)

func TestSessionsByPage(t *testing.T) {
	w := open(t, "")
	for i := range 5 {
		w.say(fmt.Sprintf("room:%d", i), "Hello.")
	}
	w.say("other", "Hello.")
	held(w, "room:2")
	var got []string
	path, pages := "/v1/sessions?limit=2&prefix=room:", 0
	for next := ""; ; pages++ {
		a := w.get(path + "&after=" + url.QueryEscape(next))
		for _, s := range a.list("sessions") {
			got = append(got, s.(map[string]any)["sessionKey"].(string))
		}
		if next = a.text("next"); next == "" {
			break
		}
	}
	if fmt.Sprint(got) != "[room:4 room:3 room:2 room:1 room:0]" || pages > 3 {
		t.Errorf("got %v in %d pages, want all rooms, newest first", got, pages+1)
	}
	row, _ := w.get("/v1/sessions?limit=1&prefix=room:2").list("sessions")[0].(map[string]any)
	for key, value := range map[string]any{"taint": "untrusted", "questions": 1.0, "steps": 2.0, "denied": 1.0, "turns": 2.0, "agentId": "main"} {
		if row[key] != value {
			t.Errorf("%s: got %v, want %v", key, row[key], value)
		}
	}
}

// Keys are the host's own words: colons, slashes, blanks, any letter.
func TestSessionKeysInPaths(t *testing.T) {
	w := open(t, "")
	for _, key := range []string{"agent:main:discord:dm:1", "a/b/c", "with blank", "100%", "ünï", "..", "a?b#c", "latest"} {
		t.Run(key, func(t *testing.T) {
			w.say(key, "Hello.")
			base := "/v1/sessions/" + strings.ReplaceAll(url.PathEscape(key), ".", "%2E")
			want(t, w.get(base), "sessionKey", key)
			if got := w.get(base + "/turns").list("turns"); len(got) != 1 {
				t.Errorf("got %d turns, want 1", len(got))
			}
			want(t, w.get(base+"/turns/latest/graph"), "sessionKey", key)
			want(t, w.call(adminToken, http.MethodPost, base+"/reset-trust", ""), "session", key)
		})
	}
	wantProblem(t, w.get("/v1/sessions/nobody"), http.StatusNotFound, "nobody knows")
	wantProblem(t, w.get("/v1/sessions/nobody/turns"), http.StatusNotFound, "nobody knows")
	wantProblem(t, w.get("/v1/sessions/nobody/turns/latest/graph"), http.StatusNotFound, "nobody knows")
	wantProblem(t, w.get("/v1/sessions/latest/turns/nothing/graph"), http.StatusNotFound, "nobody knows")
}

// BEY-07
func TestResetTrust(t *testing.T) {
	w := open(t, byLevels)
	held(w, "s")
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/sessions/s/reset-trust", `{"branch":""}`), http.StatusForbidden, "admin")
	wantProblem(t, w.call(adminToken, http.MethodPost, "/v1/sessions/nobody/reset-trust", `{}`), http.StatusNotFound, "began")
	wantProblem(t, w.call(adminToken, http.MethodPost, "/v1/sessions/s/reset-trust", `{"branch":"b"}`), http.StatusNotFound, "began")
	want(t, w.call(adminToken, http.MethodPost, "/v1/sessions/s/reset-trust", `{"branch":""}`), "reset", true)
	want(t, w.before("s", "exec", command), "tidemark.verdict", "allow")
	record, _ := w.get("/v1/audit?kind=trust.reset").list("records")[0].(map[string]any)
	said, _ := record["body"].(map[string]any)["answer"].(map[string]any)
	if said["by"] != "admin" || said["via"] != "http" {
		t.Errorf("got %v, want the administrator by HTTP", said)
	}
	graph := w.get("/v1/sessions/s/turns/latest/graph?format=text")
	if !strings.Contains(string(graph.raw), "reset") {
		t.Errorf("the picture does not show the reset:\n%s", graph.raw)
	}
}

// BEY-07
func TestResetTrustByChat(t *testing.T) {
	w := open(t, "")
	held(w, "s")
	a := w.say("s", ".reset-trust")
	want(t, a, "tidemark.command", "reset-trust")
	want(t, a, "tidemark.taint", "owner")
}

// HOOK-11 HOOK-17 PRV-09
func TestGraphFormats(t *testing.T) {
	w := open(t, "")
	w.say("s", `Read <script>alert("x")</script>`)
	w.fetch("s")
	w.before("s", "exec", command)
	w.must(hook.NameBeforeResponseEmit, `{"content":"Done."}`, owner("s"))
	for format, c := range map[string]struct{ media, holds string }{
		"":     {"application/json", `"turnId":"turn-1"`},
		"json": {"application/json", `"maxTaint":"untrusted"`},
		"prov": {"application/prov+json", `"wasInformedBy"`},
		"dot":  {"text/vnd.graphviz; charset=utf-8", "digraph"},
		"svg":  {"image/svg+xml", "<svg"},
		"text": {"text/plain; charset=utf-8", "exec"},
	} {
		for _, turn := range []string{"latest", "turn-1"} {
			a := w.get("/v1/sessions/s/turns/" + turn + "/graph?format=" + format)
			if a.status != http.StatusOK || a.header.Get("Content-Type") != c.media || !strings.Contains(string(a.raw), c.holds) {
				t.Errorf("%s of %s: got %d %s: %.200s", format, turn, a.status, a.header.Get("Content-Type"), a.raw)
			}
			if rules := a.header.Get("Content-Security-Policy"); !strings.Contains(rules, "default-src 'none'") || !strings.Contains(rules, "sandbox") {
				t.Errorf("%s: got rules %q, want none loaded and none run", format, rules)
			}
			if format == "svg" && strings.Contains(string(a.raw), "<script>") {
				t.Errorf("the picture holds a script")
			}
		}
	}
}

// BEY-08
func TestQuarantinedWrites(t *testing.T) {
	w := open(t, "")
	write := func(session, text string) answer {
		return w.before(session, "write", fmt.Sprintf(`{"path":"MEMORY.md","content":%q}`, text))
	}
	w.say("s", "Remember the page.")
	w.fetch("s")
	first, second := write("s", "The page is right."), write("s", "The page is wrong.")
	id := first.text("tidemark.write")
	if id == "" || second.text("tidemark.write") == "" || first.at("block") != true {
		t.Fatalf("the writes were not kept: %s %s", first.raw, second.raw)
	}
	if got := w.get("/v1/writes").list("writes"); len(got) != 2 {
		t.Fatalf("got %d writes, want 2", len(got))
	}
	whole := w.call(approverToken, http.MethodGet, "/v1/writes/"+id, "")
	want(t, whole, "args.content", "The page is right.")
	want(t, whole, "status", "held")
	want(t, whole, "session", "s")
	wantProblem(t, w.get("/v1/writes/"+id+"?session=nobody"), http.StatusNotFound, "")
	wantProblem(t, w.get("/v1/writes/write-000"), http.StatusNotFound, "")
	wantProblem(t, w.call(agentToken, http.MethodPost, "/v1/writes/"+id, `{"action":"release"}`), http.StatusForbidden, "approver")

	done := w.call(approverToken, http.MethodPost, "/v1/writes/"+id, `{"action":"release"}`)
	want(t, done, "args.content", "The page is right.")
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/writes/"+id, `{"action":"discard"}`), http.StatusConflict, "already reviewed")
	want(t, write("s", "The page is right."), "tidemark.verdict", "allow")
	want(t, write("s", "The page is right."), "block", true)

	done = w.call(approverToken, http.MethodPost, "/v1/writes/"+second.text("tidemark.write"), `{"action":"discard","session":"s"}`)
	want(t, done, "action", "discard")
	want(t, write("s", "The page is wrong."), "block", true)
	want(t, w.get("/v1/writes/"+second.text("tidemark.write")), "status", "discarded")
	row, _ := w.get("/v1/sessions").list("sessions")[0].(map[string]any)
	if row["writes"] != 2.0 { // the two that were tried again
		t.Errorf("got %v writes held, want 2", row["writes"])
	}
}
