package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

const writesAllowed = "preset: classic\ntoolOverrides: {write: {\"*\": allow}}\ntoolOutputTaints: {write: local, read: local}\n"

// tainted writes a file from a tainted session.
func tainted(t *testing.T, paths ...string) *world {
	t.Helper()
	w := open(t, writesAllowed)
	w.say("writer", "note what the page says")
	w.fetch("writer")
	for _, p := range paths {
		if a := w.before("writer", "write", `{"path":"`+p+`","content":"as the page says: `+p+`"}`); a.at("block") != nil {
			t.Fatalf("write: %s", a.raw)
		}
	}
	return w
}

// reads lets another session read a file and returns its taint.
func (w *world) reads(session, path string) string {
	w.t.Helper()
	w.say(session, "read the notes")
	if a := w.before(session, "read", `{"path":"`+path+`"}`); a.at("block") != nil {
		w.t.Fatalf("read: %s", a.raw)
	}
	w.must("after_tool_call", `{"toolName":"read","params":{"path":"`+path+`"},"result":"what is in it"}`, owner(session))
	return w.get("/v1/sessions/" + session).text("taint.level")
}

// BEY-02
func TestLabelsAreListedAndCleared(t *testing.T) {
	w := tainted(t, "work/notes.txt")
	if got := w.reads("before", "work/notes.txt"); got != "untrusted" {
		t.Errorf("another session that reads it is %s, want untrusted", got)
	}
	list := w.call(approverToken, http.MethodGet, "/v1/labels", "")
	if n := len(list.list("labels")); list.status != http.StatusOK || n != 1 {
		t.Fatalf("got %d labels: %s", n, list.raw)
	}
	row := answer{body: list.list("labels")[0].(map[string]any), raw: list.raw}
	want(t, row, "key", "file:work/notes.txt")
	want(t, row, "level", "untrusted")
	want(t, row, "session", "writer")
	want(t, row, "tool", "write")
	if len(row.list("sources")) == 0 {
		t.Errorf("no sources: %s", list.raw)
	}

	const path = "/v1/labels?key=file%3Awork%2Fnotes.txt"
	wantProblem(t, w.call(approverToken, http.MethodDelete, path, ""), http.StatusForbidden, "admin")
	wantProblem(t, w.call(adminToken, http.MethodDelete, "/v1/labels?key=file:other", ""), http.StatusNotFound, "nothing with this key")
	wantProblem(t, w.call(adminToken, http.MethodDelete, "/v1/labels", ""), http.StatusBadRequest, "key")
	done := w.call(adminToken, http.MethodDelete, path, "")
	want(t, done, "cleared", true)
	want(t, done, "key", "file:work/notes.txt")
	wantProblem(t, w.call(adminToken, http.MethodDelete, path, ""), http.StatusNotFound, "nothing with this key")
	if got := w.reads("after", "work/notes.txt"); got != "local" {
		t.Errorf("once cleared, a session that reads it is %s, want local", got)
	}
	if n := len(w.get("/v1/labels").list("labels")); n != 0 {
		t.Errorf("%d labels are left", n)
	}
	records := w.get("/v1/audit?session=tidemark%3Alabels&kind=resource.cleared").list("records")
	if len(records) != 1 || !strings.Contains(string(w.get("/v1/audit?session=tidemark%3Alabels").raw), `"by":"`) {
		t.Errorf("the log does not say who cleared it: %v", records)
	}
}

func TestLabelsComeInPages(t *testing.T) {
	w := tainted(t, "work/c", "work/a", "other/b")
	keys := func(a answer) string {
		var out []string
		for _, row := range a.list("labels") {
			out = append(out, row.(map[string]any)["key"].(string))
		}
		return strings.Join(out, " ")
	}
	first := w.get("/v1/labels?limit=2")
	if got := keys(first); got != "file:other/b file:work/a" || first.text("next") != "file:work/a" {
		t.Errorf("first page: got %q, next %q", got, first.text("next"))
	}
	second := w.get("/v1/labels?limit=2&after=file:work/a")
	if got := keys(second); got != "file:work/c" || second.at("next") != nil {
		t.Errorf("second page: got %q, next %v", got, second.at("next"))
	}
	if got := keys(w.get("/v1/labels?prefix=file:work/")); got != "file:work/a file:work/c" {
		t.Errorf("with a prefix: got %q", got)
	}
	wantProblem(t, w.get("/v1/labels?limit=0"), http.StatusBadRequest, "limit")
}

// The log of labels is no session, and nobody can make it one.
func TestOurOwnLogsAreNoSessions(t *testing.T) {
	w := tainted(t, "work/notes.txt")
	for _, path := range []string{"/v1/sessions", "/v1/sessions?prefix=tidemark%3A"} {
		if a := w.get(path); strings.Contains(string(a.raw), "tidemark:labels") {
			t.Errorf("%s lists it: %s", path, a.raw)
		}
	}
	if strings.Contains(w.log.String(), "cannot be read") {
		t.Errorf("the server's log: %s", w.log)
	}
}

// A label that cannot be cleared for sure is not cleared.
func TestLabelsWhileTheLogFails(t *testing.T) {
	w := tainted(t, "work/notes.txt")
	const path = "/v1/labels?key=file%3Awork%2Fnotes.txt"
	for range 2 {
		w.store.failing.Store(1)
		wantProblem(t, w.call(adminToken, http.MethodDelete, path, ""), http.StatusServiceUnavailable, "log")
		if n := len(w.get("/v1/labels").list("labels")); n != 1 {
			t.Fatalf("%d labels after a failed clear, want the one", n)
		}
	}
}
