package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/base/build"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/diagnosis"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/test/prooftest"
)

// clinic is a home folder without agents, and a hook program that is this binary.
type clinic struct {
	t          *testing.T
	home, hook string
}

func newClinic(t *testing.T) *clinic {
	t.Helper()
	c := &clinic{t: t, home: t.TempDir()}
	t.Setenv("HOME", c.home)
	t.Setenv("PATH", c.home+"/bin:/usr/bin:/bin")
	for _, name := range []string{"OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH", "CLAUDE_CONFIG_DIR"} {
		t.Setenv(name, "")
	}
	c.hook = filepath.Join(c.home, "bin", "tidemark-hook")
	c.program("tidemark-hook", "TIDEMARK_TEST_MAIN=1 exec "+os.Args[0]+` hook "$@"`)
	return c
}

// program puts a program of that name on PATH.
func (c *clinic) program(name, script string) {
	c.t.Helper()
	file := filepath.Join(c.home, "bin", name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		c.t.Fatal(err)
	}
}

// printed is a report as --json prints it.
type printed struct {
	OK       bool `json:"ok"`
	Findings []struct {
		About string `json:"about"`
		Name  string `json:"name"`
		Grade string `json:"grade"`
		Text  string `json:"text"`
		Fix   string `json:"fix"`
	} `json:"findings"`
	code int
}

func (d printed) line(about, name string) string {
	for _, f := range d.Findings {
		if f.About == about && f.Name == name {
			return f.Grade + ": " + f.Text
		}
	}
	return ""
}

// faults are the findings that count.
func (d printed) faults() string {
	var out []string
	for _, f := range d.Findings {
		if f.Grade == "broken" || f.Grade == "open" {
			out = append(out, f.About+"/"+f.Name)
		}
	}
	return strings.Join(out, " ")
}

func (c *clinic) examine(data string, args ...string) printed {
	c.t.Helper()
	out, errOut, code := command(c.t, append([]string{"doctor", "--json", "--data", data, "--hook", c.hook}, args...)...)
	d := printed{code: code}
	if err := strictjson.Unmarshal([]byte(out), &d); err != nil {
		c.t.Fatalf("doctor: exit %d, printed %q and %q: %v", code, out, errOut, err)
	}
	if d.OK != (code == exitOK) || code != exitOK && code != exitFault {
		c.t.Errorf("got exit %d with ok %v", code, d.OK)
	}
	return d
}

func wantLine(t *testing.T, d printed, about, name, want string) {
	t.Helper()
	if got := d.line(about, name); !strings.HasPrefix(got, strings.SplitN(want, ": ", 2)[0]+": ") || !strings.Contains(got, strings.SplitN(want, ": ", 2)[1]) {
		t.Errorf("%s/%s: got %q, want %q", about, name, got, want)
	}
}

// BEY-13
func TestDoctorFindsNothingWrongWithAHealthyServer(t *testing.T) {
	c := newClinic(t)
	s := startServer(t, t.TempDir())
	for range 2 {
		d := c.examine(s.data)
		if d.code != exitOK || d.faults() != "" {
			t.Fatalf("got exit %d and %s", d.code, d.faults())
		}
		wantLine(t, d, "doors", "HTTP hook API", "good: refused by rule canary")
		wantLine(t, d, "doors", "hook program", "good: canary")
		wantLine(t, d, "store", "chain", "good: records are unchanged")
		wantLine(t, d, "limits", "same user", "limit: can edit its own settings")
		wantLine(t, d, "limits", "data as code", "limit: and runs unasked")
		wantLine(t, d, "limits", "files that run later", "limit: written unasked")
		wantLine(t, d, "claude", "program", "off: not on this machine")
		wantLine(t, d, "one agent, one taint", "relays", "good: what one server brought counts at another: afterwards a server that a shell starts was refused a call that was allowed before (Rule: balanced.")
		wantLine(t, d, "one agent, one taint", "gateway", "good: what one server brought counts at another: afterwards a server over HTTP was refused a call that was allowed before (Rule: balanced.")
	}
	out, _, code := command(t, "doctor", "--data", s.data, "--hook", c.hook)
	if code != exitOK || !strings.Contains(out, "all good") || !strings.Contains(out, "not on this machine\n") || strings.Contains(out, s.tokens.Admin) {
		t.Errorf("for people: exit %d\n%s", code, out)
	}
	if d := c.examine(s.data, "claude"); d.code != exitFault || d.faults() != "claude/program" {
		t.Errorf("an agent that was named and is not there: exit %d and %s", d.code, d.faults())
	}
	if _, errOut, code := command(t, "doctor", "nobody", "--data", s.data); code != exitUsage || !strings.Contains(errOut, `unknown agent "nobody"`) {
		t.Errorf("an agent nobody knows: exit %d, %q", code, errOut)
	}
}

// BEY-13
func TestDoctorFindsAServerThatIsDown(t *testing.T) {
	c := newClinic(t)
	s := startServer(t, t.TempDir())
	s.kill()
	d := c.examine(s.data)
	if d.code != exitFault {
		t.Errorf("a server that was killed: exit %d", d.code)
	}
	wantLine(t, d, "server", "running", "broken: no server runs on this data folder")
	wantLine(t, d, "doors", "HTTP hook API", "broken: could not be tried")
	wantLine(t, d, "doors", "hook program", "good: no server is running")

	empty := filepath.Join(t.TempDir(), "none")
	d = c.examine(empty)
	wantLine(t, d, "server", "running", "broken: no server runs on this data folder")
	wantLine(t, d, "tokens", "file", "broken: does not exist")
	if exists(empty) {
		t.Error("looking made the data folder")
	}
}

func TestDoctorFindsTokensThatAreOpenToOthersOrNotTheServers(t *testing.T) {
	c := newClinic(t)
	s := startServer(t, t.TempDir())
	file := filepath.Join(s.data, "tokens.json")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d := c.examine(s.data)
		wantLine(t, d, "tokens", "file", "broken: readable by others (run: chmod 600")
		wantLine(t, d, "doors", "hook program", "good: open to others")
		if d.code != exitFault {
			t.Errorf("exit %d", d.code)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, _, err := accounts.LoadTokens(file); err != nil { // new ones, which the server does not know
		t.Fatal(err)
	}
	d := c.examine(s.data)
	for _, role := range []string{"agent", "reader"} {
		wantLine(t, d, "tokens", role, "broken: or one with other tokens")
	}
	wantLine(t, d, "doors", "HTTP hook API", "broken: could not be tried")
}

func TestDoctorFindsABrokenStore(t *testing.T) {
	c := newClinic(t)
	s := startServer(t, t.TempDir())
	if err := os.Chmod(s.data, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(s.data, 0o700) })
	wantLine(t, c.examine(s.data), "store", "data folder", "broken: read-only")
	if err := os.Chmod(s.data, 0o700); err != nil {
		t.Fatal(err)
	}
	s.kill()
	for _, beside := range []string{"-wal", "-shm"} { // they would mend it
		if err := os.RemoveAll(filepath.Join(s.data, "tidemark.db"+beside)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.data, "tidemark.db"), []byte(strings.Repeat("not a database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if d := c.examine(s.data); d.code != exitFault || !strings.HasPrefix(d.line("store", "log"), "broken: open log") {
			t.Errorf("a log that is none: exit %d, %q", d.code, d.line("store", "log"))
		}
	}
}

// BEY-13: something else answers in the server's place, and lets everything through.
func TestDoctorFindsACanaryThatIsNotBlocked(t *testing.T) {
	c := newClinic(t)
	data := t.TempDir()
	tokens, _, err := accounts.LoadTokens(filepath.Join(data, "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	loose := httptest.NewServer(prooftest.Handler(tokens.Agent, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"status":"ok","version":"`+build.Version()+`","parts":[],"hosts":[],"tidemark":{"taint":"owner","verdict":"allow"}}`)
	})))
	t.Cleanup(loose.Close)
	if err := os.WriteFile(filepath.Join(data, "server.json"), []byte(`{"url":"`+loose.URL+`","pid":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d := c.examine(data)
		wantLine(t, d, "doors", "HTTP hook API", "broken: THE CANARY WAS NOT BLOCKED")
		wantLine(t, d, "doors", "hook program", "broken: THE CANARY WAS NOT BLOCKED")
		wantLine(t, d, "tokens", "others", "broken: accepts an invalid token")
		if d.code != exitFault {
			t.Errorf("exit %d", d.code)
		}
	}
	e := &env{out: &strings.Builder{}, ui: ui{colour: true}}
	r, err := diagnosis.Examine(t.Context(), diagnosis.Options{Paths: datafolder.Paths{Data: data}, World: install.World{Home: c.home, Data: data, Hook: c.hook, Getenv: os.Getenv}})
	if err != nil {
		t.Fatal(err)
	}
	e.printDiagnosis(r)
	red := false
	for l := range strings.Lines(e.out.(*strings.Builder).String()) {
		red = red || strings.Contains(l, "THE CANARY WAS NOT BLOCKED") && strings.Contains(l, "\x1b[31m")
	}
	if !red {
		t.Error("a canary that ran is not printed in red")
	}
}

func TestDoctorFindsAHostThatFellSilent(t *testing.T) {
	c := newClinic(t)
	s := startServer(t, t.TempDir())
	beat := map[string]any{"host": "openclaw", "hooks": []string{"before_tool_call"}, "everySeconds": 1}
	if err := s.call(t.Context(), http.MethodPost, "/v1/hosts/gateway/beat", beat, nil); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		d := c.examine(s.data)
		got := d.line("hosts", "gateway")
		if strings.HasPrefix(got, "broken: silent for") && d.code == exitFault {
			break
		}
		if !strings.HasPrefix(got, "good: ") || time.Now().After(deadline) {
			t.Fatalf("exit %d, %q; want it alive and then silent", d.code, got)
		}
	}
	if out, _, code := command(t, "status", "--data", s.data); code != exitFault || !strings.Contains(out, "host gateway: silent") {
		t.Errorf("status: exit %d, %q", code, out)
	}
}

// BEY-13
func TestDoctorFindsSettingsThatWereTamperedWith(t *testing.T) {
	c := newClinic(t)
	s := startServer(t, t.TempDir())
	c.program("claude", "echo '9.9.9 (Claude Code)'")
	w := install.World{Home: c.home, Data: s.data, Hook: c.hook, Getenv: os.Getenv}
	wantLine(t, c.examine(s.data), "claude", "hooks", "off: runs without Tidemark")
	plan, err := install.Prepare(t.Context(), w, "claude", install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Apply(time.Now()); err != nil {
		t.Fatal(err)
	}
	d := c.examine(s.data, "claude")
	wantLine(t, d, "claude", "program", "good: 9.9.9")
	wantLine(t, d, "claude", "hooks", "good: active, as installed")
	wantLine(t, d, "claude", "hook", "good: rule canary")
	settings := filepath.Join(c.home, ".claude", "settings.json")
	raw, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	off := strings.Replace(string(raw), "{", `{"disableAllHooks": true,`, 1)
	for _, text := range []string{off, "{}"} {
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if d := c.examine(s.data); d.code != exitFault || !strings.Contains(d.faults(), "claude/settings") {
				t.Errorf("%s: exit %d, faults %s", text, d.code, d.faults())
			}
		}
	}
}

// What is true of everybody's settings is a limit, said once, and no agent's fault.
func TestDoctorSaysTheSameUserLimitOnce(t *testing.T) {
	c := newClinic(t)
	s := startServer(t, t.TempDir())
	w := install.World{Home: c.home, Data: s.data, Hook: c.hook, Getenv: os.Getenv}
	for _, name := range install.Names() {
		state, err := install.Inspect(t.Context(), w, name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, p := range state.FailsOpen {
			if strings.HasPrefix(p.Text, "somebody with the rights of this user") {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: got %q, want the one line about the same user that doctor leaves out", name, state.FailsOpen)
		}
	}
}

// Whatever an agent's entry lists as a way past our hooks is a row of doctor's, and none is
// called closed that nothing rules out.
func TestDoctorSaysEveryWayPastTheHooks(t *testing.T) {
	c := newClinic(t)
	s := startServer(t, t.TempDir())
	project := t.TempDir()
	for _, a := range catalogue.Setups() {
		if a.Inside() {
			continue // its holes are rows of their own
		}
		if len(a.Bypasses) == 0 {
			t.Errorf("%s: no way past its hooks is listed; say at least what was not tried", a.Name)
		}
		w := install.World{Home: c.home, Data: s.data, Hook: c.hook, Getenv: os.Getenv}
		args := []string{a.Name}
		if a.Place.User == (catalogue.Place{}) {
			w.Project, args = project, append(args, "--project", project)
		}
		plan, err := install.Prepare(t.Context(), w, a.Name, install.Options{})
		if err == nil {
			err = plan.Apply(time.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
		d := c.examine(s.data, args...)
		for _, b := range a.Bypasses {
			wantLine(t, d, a.Name, b.Name, "open: "+b.Text)
		}
		if got := d.line(a.Name, "fails closed"); got != "" {
			t.Errorf("%s: got %q beside what is open", a.Name, got)
		}
	}
}

func TestDoctorSaysWhichHolesOfOpenClawAreOpen(t *testing.T) {
	c := newClinic(t)
	s := startServer(t, t.TempDir())
	file := filepath.Join(c.home, ".openclaw", "openclaw.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	w := install.World{Home: c.home, Data: s.data, Hook: c.hook, Getenv: os.Getenv}
	write := func(base string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(`{"models": {"mode": "replace", "providers": {"main": {"baseUrl": "`+base+`"}}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		plan, err := install.Prepare(t.Context(), w, "openclaw", install.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Apply(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	write("https://models.example/v1")
	d := c.examine(s.data, "openclaw")
	wantLine(t, d, "openclaw", "agent exec", "open: models of main are asked directly")
	wantLine(t, d, "openclaw", "plugin not loaded", "open: runs tools without it")
	wantLine(t, d, "hosts", "openclaw", "open: not heard since the server started")
	write(s.base + "/openai/v1")
	d = c.examine(s.data, "openclaw")
	wantLine(t, d, "openclaw", "agent exec", "good: closed")
	wantLine(t, d, "openclaw", "hooks", "good: active")
}
