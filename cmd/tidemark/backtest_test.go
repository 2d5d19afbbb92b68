package main

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/policyfile"
)

// shows reads a page of the console, or posts to one, and returns what it says.
func shows(t *testing.T, browser *http.Client, address string, form url.Values) string {
	t.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	status, body := browse(t, browser, method, address, form)
	if status != http.StatusOK {
		t.Fatalf("%s: %d: %s", address, status, body)
	}
	return body
}

// signedIn is a browser of an administrator.
func (s *server) signedIn(t *testing.T) (browser *http.Client, base string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser, base = &http.Client{Jar: jar}, strings.Replace(s.base, "127.0.0.1", "localhost", 1)
	var link struct {
		ID    string `json:"id"`
		Short string `json:"short"`
	}
	if err := s.call(t.Context(), http.MethodPost, "/v1/console/links", nil, &link); err != nil {
		t.Fatal(err)
	}
	shows(t, browser, base+"/console/login", url.Values{"code": {link.Short}})
	if err := s.call(t.Context(), http.MethodPost, "/v1/console/links/"+link.ID, map[string]bool{"match": true}, nil); err != nil {
		t.Fatal(err)
	}
	return browser, base
}

// numbersIn are the numbers of a pattern's groups.
func numbersIn(t *testing.T, pattern, text string) []int {
	t.Helper()
	var out []int
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%q is not in\n%s", pattern, text)
	}
	for _, n := range m[1:] {
		i, err := strconv.Atoi(n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, i)
	}
	return out
}

// CON-34: what the page counts, tidemark policy compare counts, and tidemark policy replay of the same log.
func TestTheBacktestOfThePageIsThatOfTheCommands(t *testing.T) {
	data := t.TempDir()
	file := filepath.Join(data, "tidemark.yaml")
	const before = "preset: balanced\nrules:\n  - {name: ask, tools: [note_add], effect: ask}\n"
	const after = "preset: balanced\nrules:\n  - {name: ask, tools: [note_read], effect: ask}\n  - {name: no, tools: [web_fetch], effect: deny}\n"
	next := filepath.Join(t.TempDir(), "next.yaml")
	for name, text := range map[string]string{file: before, next: after} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := startServer(t, data)
	for i := range 4 {
		session := fmt.Sprint("s", i)
		s.does(t, session, "message_received", map[string]any{"content": "Look at https://x.example and note it"})
		s.does(t, session, "before_tool_call", map[string]any{"toolName": "web_fetch", "params": map[string]any{"url": "https://x.example"}})
		for _, name := range []string{"note_add", "note_read"} { // the first is asked about
			var out struct{}
			if err := s.hook(t.Context(), session, "before_tool_call", map[string]any{"toolName": name, "params": map[string]any{"n": i}}, &out); err != nil {
				t.Fatal(err)
			}
		}
	}
	var x policyfile.Comparison
	if err := strictjson.Unmarshal([]byte(s.says(t, "policy", "compare", next, "--json")), &x); err != nil {
		t.Fatal(err)
	}
	if x.Unjudged != 0 { // arguments are kept without a setting
		t.Errorf("%d calls could not be judged", x.Unjudged)
	}
	if x.Sessions != 4 || x.Calls != 12 || x.More == 0 || x.Fewer == 0 || x.Denied == 0 {
		t.Fatalf("the comparison is %+v", x)
	}

	browser, base := s.signedIn(t)
	form := shows(t, browser, base+"/console/policy?show=edit", nil)
	token := regexp.MustCompile(`name="token" value="([^"]*)"`).FindStringSubmatch(form[strings.Index(form, `action="/console/policy/edit"`):])
	shown := shows(t, browser, base+"/console/policy/edit", url.Values{"token": {token[1]}, "text": {after}, "do": {"compare"}})
	onPage := append(numbersIn(t, `Against (\d+) recorded sessions, (\d+) calls`, shown),
		numbersIn(t, `(\d+) questions more, (\d+) fewer, (\d+) calls denied`, shown)...)
	if want := []int{x.Sessions, x.Calls, x.More, x.Fewer, x.Denied}; fmt.Sprint(onPage) != fmt.Sprint(want) {
		t.Errorf("the page counts %v, the command %v", onPage, want)
	}
	if n := strings.Count(shown, `name="looser"`); n != len(x.Loosens()) {
		t.Errorf("the page lists %d looser entries, the command %d", n, len(x.Loosens()))
	}

	s.kill() // what replay reads is the same log
	count := func(decision, policy string) (n int) {
		out := s.says(t, "replay", "--format", "log", "--policy", policy, "--json")
		return strings.Count(out, `"decision":"`+decision+`"`)
	}
	if got, want := count("ask", next)-count("ask", file), x.More-x.Fewer; got != want {
		t.Errorf("replay asks %d times more, the comparison %d", got, want)
	}
	if got := count("deny", next) - count("deny", file); got != x.Denied {
		t.Errorf("replay denies %d times more, the comparison %d", got, x.Denied)
	}
}

// CAU-11 BEY-10: several questions are answered at once, and what the report suggests then is drafted, from the command line.
func TestSeveralAnswersAndADraftFromTheCommandLine(t *testing.T) {
	data := t.TempDir()
	const rules = "rules:\n  - name: ask\n    tools: [note_add, note_read] # both\n    effect: ask\n"
	if err := os.WriteFile(filepath.Join(data, "tidemark.yaml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, data)
	asks := func(session string, n int) (ids []string) {
		t.Helper()
		s.does(t, session, "message_received", map[string]any{"content": "Add the notes"})
		for i := range n {
			out := s.runs(t, session, "claude", "note_add", map[string]any{"text": fmt.Sprint("note ", i)})
			if !out.Block {
				t.Fatalf("it was not asked about: %+v", out)
			}
			ids = append(ids, out.Tidemark.Approval.ID)
		}
		return ids
	}
	first, second := asks("one", 6), asks("two", 6)
	if _, errOut, code := command(t, "approvals", "approve", first[0], second[0], "--data", data); code == exitOK || !strings.Contains(errOut, "several sessions") {
		t.Errorf("of two sessions: %d %q", code, errOut)
	}
	if _, errOut, code := command(t, "approvals", "approve", first[0], first[1], "--minutes", "5", "--data", data); code == exitOK || !strings.Contains(errOut, "a single question") {
		t.Errorf("for some minutes: %d %q", code, errOut)
	}
	for _, ids := range [][]string{first, second} {
		if out := s.says(t, append([]string{"approvals", "approve"}, ids...)...); !strings.Contains(out, "Approved: note_add") {
			t.Errorf("approving says %q", out)
		}
	}
	if out := s.says(t, "approvals"); !strings.Contains(out, "no open questions") {
		t.Errorf("open are %q", out)
	}
	m := regexp.MustCompile(`tidemark policy draft ([0-9a-f]{12})`).FindStringSubmatch(s.says(t, "report"))
	if m == nil {
		t.Fatalf("the report suggests nothing: %s", s.says(t, "report"))
	}
	next := filepath.Join(t.TempDir(), "next.yaml")
	out := s.says(t, "policy", "draft", m[1], "--out", next)
	for _, want := range []string{"-    tools: [note_add, note_read] # both", "+    tools: [note_read] # both", "12 fewer", "tidemark policy save"} {
		if !strings.Contains(out, want) {
			t.Errorf("the draft: got %q, want %q", out, want)
		}
	}
	if _, _, code := command(t, "policy", "draft", m[1], "--out", next, "--data", data); code == exitOK {
		t.Error("a draft is written over a file")
	}
	s.says(t, "policy", "save", next, "--agree")
	if _, errOut, code := command(t, "policy", "draft", m[1], "--data", data); code == exitOK || !strings.Contains(errOut, "no longer fits") {
		t.Errorf("a suggestion that was carried out: %d %q", code, errOut)
	}
	if _, errOut, code := command(t, "policy", "draft", "none", "--data", data); code == exitOK || !strings.Contains(errOut, "no such suggestion") {
		t.Errorf("a suggestion nobody made: %d %q", code, errOut)
	}
}
