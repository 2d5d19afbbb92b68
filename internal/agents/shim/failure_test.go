package shim_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/base/serverproof"
)

// page is the event of an agent that calls a tool: the second line of its story.
func page(t *testing.T, name string) line { return lines(t, name+"-story.jsonl")[1] }

// answers is a server that says one thing to everybody.
func answers(status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// named is a server whose answers bear the name of another question.
func named(ask, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(serverproof.AskHeader, ask)
		_, _ = io.WriteString(w, body)
	})
}

// twice answers what is asked first with a yes too many, which stands in the way of the next answer. Where a call is all that is
// asked, it comes before that one's own answer.
func twice() http.Handler {
	const yes = `{"tidemark":{"taint":"owner","verdict":"allow"}}`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ask := r.Header.Get(serverproof.AskHeader)
		conn, in, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.Copy(io.Discard, io.LimitReader(in, r.ContentLength))
		for _, of := range []string{strings.Repeat("0", 64), ask} {
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s", serverproof.AskHeader, of, len(yes), yes)
		}
	})
}

// hangs accepts and never answers, until the other side gives up.
func hangs() http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
}

// drips sends an allowing answer one byte at a time and never the last.
func drips() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for _, b := range []byte(`{"tidemark":{"taint":"owner","verdict":"allow"}`) {
			_, _ = w.Write([]byte{b})
			_ = http.NewResponseController(w).Flush()
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
		<-r.Context().Done()
	})
}

func TestACallIsRefusedWhateverIsWrongWithTheServer(t *testing.T) {
	tests := map[string]struct {
		open func(t *testing.T) *world
		want string
	}{
		"none has been announced": {folder, "no server is running"},
		"the announcement is stale": {func(t *testing.T) *world {
			w := folder(t)
			w.announce("http://127.0.0.1:1")
			return w
		}, "no server is running"},
		"the announcement names another machine": {func(t *testing.T) *world {
			w := folder(t)
			w.announce("http://192.0.2.1:80")
			return w
		}, "speak to this machine alone"},
		"the announcement is no JSON": {func(t *testing.T) *world {
			w := folder(t)
			w.write("server.json", `{"url":`)
			return w
		}, "find server"},
		"the announcement can be changed by others": {func(t *testing.T) *world {
			w := behind(t, answers(200, `{"tidemark":{"verdict":"allow"}}`))
			if err := os.Chmod(filepath.Join(w.data, "server.json"), 0o666); err != nil {
				t.Fatal(err)
			}
			return w
		}, "open to others"},
		"the token is gone": {func(t *testing.T) *world {
			w := behind(t, answers(200, `{"tidemark":{"verdict":"allow"}}`))
			w.write("tokens.json", `{}`)
			return w
		}, "read token"},
		"it hangs":                    {served(hangs()), "no answer within 100ms"},
		"it drips":                    {served(drips()), "no answer within 100ms"},
		"it fails":                    {served(answers(500, `oops`)), "500"},
		"it is out of disk":           {served(answers(503, `{"detail":"the log cannot be written"}`)), "the log cannot be written"},
		"it redirects":                {served(http.RedirectHandler("http://192.0.2.1/", http.StatusTemporaryRedirect)), "307"},
		"it says nothing":             {served(answers(200, ``)), "read answer"},
		"it says half":                {served(answers(200, `{"tidemark":{"verdict":"allow"`)), "read answer"},
		"it says two things":          {served(answers(200, `{"tidemark":{"verdict":"allow"},"tidemark":{"verdict":"deny"}}`)), "read answer"},
		"it is another server":        {served(answers(200, `{}`)), "not Tidemark's"},
		"it answers another call":     {served(named(strings.Repeat("0", 64), `{"tidemark":{"taint":"owner","verdict":"allow"}}`)), "not one to this question"},
		"it does not say to what":     {served(named("", `{"tidemark":{"taint":"owner","verdict":"allow"}}`)), "not one to this question"},
		"it answers twice":            {served(twice()), "not one to this question"},
		"its answer has no verdict":   {served(answers(200, `{"tidemark":{"taint":"owner"}}`)), "neither yes nor no"},
		"its answer is a confirm":     {served(answers(200, `{"tidemark":{"verdict":"confirm"}}`)), "neither yes nor no"},
		"it blocks without a reason":  {served(answers(200, `{"block":true,"tidemark":{"verdict":"allow"}}`)), "blocked by security policy"},
		"a plugin changed parameters": {served(answers(200, `{"params":{"command":"ls"},"tidemark":{"verdict":"allow"}}`)), "changed the parameters"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, limit := tt.open(t), "20s"
			if strings.Contains(tt.want, "within") {
				limit = "100ms"
			}
			for _, of := range catalogue.Names() {
				l := page(t, of)
				for range 2 { // the second time as the first
					p := w.run(of, l.Event, l.Body, "--timeout", limit)
					if !refuses(of, p) || !strings.Contains(p.err, tt.want) {
						t.Errorf("%s: got %+v, want it refused with %q", of, p, tt.want)
					}
				}
			}
		})
	}
}

func served(h http.Handler) func(t *testing.T) *world {
	return func(t *testing.T) *world { return behind(t, h) }
}

func TestInputThatCannotBeReadIsRefused(t *testing.T) {
	for _, name := range catalogue.Names() {
		t.Run(name, func(t *testing.T) {
			w, l := open(t), page(t, name)
			body := string(l.Body)
			tests := map[string]string{
				"empty":              "",
				"cut short":          body[:len(body)-1],
				"cut in half":        body[:len(body)/2],
				"two objects":        body + body,
				"a log line before":  "starting\n" + body,
				"no object":          `["` + name + `"]`,
				"null":               `null`,
				"a repeated key":     strings.Replace(body, `{`, `{"x":1,"x":2,`, 1),
				"a key twice inside": strings.Replace(body, `"url":`, `"url":"https://a.example","url":`, 1),
				"nested too deeply":  strings.Replace(body, `{`, `{"x":`+strings.Repeat("[", 300)+strings.Repeat("]", 300)+`,`, 1),
				"invalid UTF-8":      strings.Replace(body, `{`, "{\"x\":\"\xff\",", 1),
				"too large":          strings.Replace(body, `{`, `{"x":"`+strings.Repeat("a", shim.MaxInput)+`",`, 1),
				"no session":         strings.NewReplacer(`"s-1"`, `""`, `"/home/user/work"`, `""`).Replace(body),
				"a wrong type":       strings.NewReplacer(`"s-1"`, `7`, `"/home/user/work"`, `7`).Replace(body),
			}
			if strings.Contains(body, `\"url\"`) {
				tests["a key twice inside"] = strings.Replace(body, `\"url\":`, `\"url\":1,\"url\":`, 1)
			}
			if name == "gemini" {
				tests["a key twice inside"] = strings.Replace(body, `"prompt":`, `"prompt":"x","prompt":`, 1)
			}
			for what, in := range tests {
				if p := w.run(name, l.Event, []byte(in)); !refuses(name, p) || strings.TrimSpace(p.err) == "" {
					t.Errorf("%s: got %+v, want it refused with a reason", what, p)
				}
			}
			if p := w.run(name, "SomethingNew", l.Body); !refuses(name, p) {
				t.Errorf("an event that is not the payload's: got %+v, want it refused", p)
			}
			if p := w.runFrom(name, l.Event, io.MultiReader(bytes.NewReader(l.Body[:9]), broken{})); !refuses(name, p) {
				t.Errorf("input that breaks off: got %+v, want it refused", p)
			}
		})
	}
}

// broken is a pipe that failed.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestInputThatNeverEndsIsRefusedAtTheDeadline(t *testing.T) {
	for _, name := range catalogue.Names() {
		r, stop := io.Pipe()
		p := open(t).runFrom(name, "", r, "--timeout", "50ms")
		if !refuses(name, p) || !strings.Contains(p.err, "no answer within 50ms") {
			t.Errorf("%s: got %+v, want it refused", name, p)
		}
		_ = stop.Close() // lets the reader go
	}
}

// panics is an input with a bug in it.
type panics struct{}

func (panics) Read([]byte) (int, error) { panic("a bug") }

func TestABugOfOursRefuses(t *testing.T) {
	for _, name := range catalogue.Names() {
		if p := open(t).runFrom(name, "", panics{}); !refuses(name, p) || !strings.Contains(p.err, "a bug") {
			t.Errorf("%s: got %+v, want it refused", name, p)
		}
	}
}

// Refusing the end of a turn makes some agents go on for ever.
func TestTheEndOfATurnIsNeverRefused(t *testing.T) {
	ends := map[string]string{
		"claude": `{"hook_event_name":"Stop","session_id":"s"}`, "codex": `{"hook_event_name":"Stop","session_id":"s"}`,
		"gemini": `{"hook_event_name":"AfterAgent","session_id":"s"}`, "copilot": `{"hook_event_name":"Stop","session_id":"s"}`,
		"goose": `{"event":"Stop","session_id":"s"}`, "droid": `{"hookEventName":"Stop","sessionId":"s"}`,
		"kiro": `{"hook_event_name":"stop","cwd":"/w"}`, "cursor": `{"hook_event_name":"stop","conversation_id":"s"}`,
	}
	for _, w := range []*world{folder(t), behind(t, hangs())} {
		for name, body := range ends {
			if p := w.run(name, "", []byte(body)); p.code != 0 || p.err != "" || strings.Contains(p.out, "deny") {
				t.Errorf("%s, end of a turn: got %+v, want silence", name, p)
			}
			body = strings.NewReplacer("AfterAgent", "SessionEnd", `"Stop"`, `"SessionEnd"`, `"stop","conv`, `"sessionEnd","conv`).Replace(body)
			if name == "kiro" {
				continue // it has no end of a session
			}
			if p := w.run(name, "", []byte(body), "--timeout", "500ms"); p.code != 1 || p.err == "" || strings.Contains(p.out, "deny") {
				t.Errorf("%s, end of a session: got %+v, want exit code 1 and a reason", name, p)
			}
		}
	}
}

func TestArgumentsThatMakeNoSenseRefuse(t *testing.T) {
	for _, args := range [][]string{
		{"--agent", "nobody"}, {"--agent", ""}, {"--nonsense"}, {"extra"}, {"--timeout", "-1s"}, {"--wait", "-1s"}, {"--wait", "1500ms"}, {"--sender", "me"},
	} {
		if p := open(t).run("claude", "", page(t, "claude").Body, args...); !refuses("claude", p) || p.out != "" {
			t.Errorf("%q: got %+v, want it refused", args, p)
		}
	}
}

// full is an output nobody can write to.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestAVerdictThatCannotBeWrittenRefuses(t *testing.T) {
	w, l := open(t), page(t, "cursor")
	var said strings.Builder
	code := shim.Main(t.Context(), []string{"--agent", "cursor", "--data", w.data}, bytes.NewReader(l.Body), full{}, &said)
	if code != 2 || said.Len() == 0 {
		t.Errorf("got exit code %d and %q, want 2 and a reason", code, said.String())
	}
}

func TestTheZeroOutcomeRefuses(t *testing.T) {
	var out, said strings.Builder
	if code := (shim.Outcome{}).Write(&out, &said); code != 2 || said.Len() == 0 || out.Len() != 0 {
		t.Errorf("got %d, %q, %q, want 2 and a reason alone", code, out.String(), said.String())
	}
}
