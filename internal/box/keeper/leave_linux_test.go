package keeper_test

import (
	"context"
	"errors"
	"io"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box/keeper"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// newOffice is a live world whose workspace is a repository with another one elsewhere.
func newOffice(t *testing.T, file string, change ...func(*keeper.Options)) (l *live, there string) {
	t.Helper()
	needs(t, "git")
	l = newLive(t, file, change...)
	there = filepath.Join(l.dir, "there", "web.git")
	l.put(filepath.Join(l.home, "ca.pem"), string(l.out.pem))
	l.put(filepath.Join(l.home, ".gitconfig"), "[user]\n\tname = d\n\temail = d@acme.example\n[init]\n\tdefaultBranch = main\n[http]\n\tsslCAInfo = "+
		filepath.Join(l.home, "ca.pem")+"\n")
	backend := strings.TrimSpace(l.git(l.ws, "--exec-path")) + "/git-http-backend"
	if !exists(backend) {
		t.Skip("git has no server here")
	}
	l.out.git = &cgi.Handler{Path: backend, Stderr: io.Discard, Env: []string{
		"GIT_PROJECT_ROOT=" + filepath.Dir(there), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=d", "HOME=" + l.home,
	}}
	if err := os.RemoveAll(filepath.Join(l.ws, ".git")); err != nil {
		t.Fatal(err)
	}
	l.git(l.dir, "init", "-q", "--bare", there)
	l.git(there, "config", "http.receivepack", "true")
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "one"}, {"push", "-q", there, "main"}, {"remote", "add", "origin", "https://" + gitHost + "/web.git"},
		{"update-ref", "refs/remotes/origin/main", "HEAD"},
	} {
		l.git(l.ws, args...)
	}
	return l, there
}

// git runs git outside any box.
func (l *live) git(dir string, args ...string) string {
	l.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, l.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("git %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (l *live) runsPlain(session, line string) func() (int, string) {
	l.t.Helper()
	cmd := l.plain(session, line)
	type ended struct {
		code int
		out  string
	}
	done := make(chan ended, 1)
	go func() { code, out := finish(l.t, cmd); done <- ended{code, out} }()
	return func() (int, string) { e := <-done; return e.code, e.out }
}

// BOX-02: A push that nobody ordered is asked about with what it carries, and carries exactly that after a yes. Nothing of the workspace runs
// for it.
func TestAPushIsAskedAboutWithItsCommits(t *testing.T) {
	l, there := newOffice(t, "")
	l.spoken("s", "Look at the page and mend the build")
	l.put(filepath.Join(l.ws, ".git/hooks/pre-push"), "#!/bin/sh\ntouch "+filepath.Join(l.ws, "HOOKED")+"\n")
	_ = os.Chmod(filepath.Join(l.ws, ".git/hooks/pre-push"), 0o755)
	if code, out := l.does("s", "echo b > b.txt; git add b.txt; git commit -qm 'mend the build'")(); code != 0 {
		t.Fatal(out)
	}
	ended := l.runsPlain("s", "git push origin main")
	q := l.asked()
	for _, part := range []string{"push to origin", gitHost + "/web.git", "1 commit", "1 file"} {
		if text := q["prompt"].(string); !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
	for _, part := range []string{"mend the build (d <d@acme.example>)", "b.txt +1 -0"} {
		if text := q["args"].(string); !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
	if q["task"] != nil {
		t.Errorf("a push can be allowed for the task: %v", q["task"])
	}
	l.nothing("before the yes")
	l.answers(`{"decision":"approve"}`)
	code, out := ended()
	if here := l.git(l.ws, "rev-parse", "main"); code != 0 || l.git(there, "rev-parse", "main") != here || !strings.Contains(out, "a person was asked for git push") {
		t.Errorf("%d %q", code, out)
	}
	if exists(filepath.Join(l.ws, "HOOKED")) {
		t.Error("a hook of the workspace ran")
	}
	// the next one is asked about again
	if code, out := l.does("s", "echo c > b.txt; git commit -qam 'more'")(); code != 0 {
		t.Fatal(out)
	}
	ended = l.runsPlain("s", "git push origin main")
	before := l.git(there, "rev-parse", "main")
	l.answers(`{"decision":"deny"}`)
	if code, out := ended(); code != 125 || !strings.Contains(out, "the owner said no") || l.git(there, "rev-parse", "main") != before {
		t.Errorf("%d %q", code, out)
	}
}

// BOX-02: What changes while the person looks is not what they said yes to.
func TestAPushCarriesWhatTheQuestionNamed(t *testing.T) {
	l, there := newOffice(t, "")
	l.spoken("s", "Look at the page and mend the build")
	l.does("s", "echo b > b.txt; git add b.txt; git commit -qm 'mend the build'")()
	named := l.git(l.ws, "rev-parse", "main")
	ended := l.runsPlain("s", "git push origin main")
	l.asked()
	if code, out := l.does("s", "echo key > notes.txt; git add notes.txt; git commit -qm 'and a secret'")(); code != 0 {
		t.Fatal(out)
	}
	l.answers(`{"decision":"approve"}`)
	if code, out := ended(); code != 0 || l.git(there, "rev-parse", "main") != named {
		t.Errorf("%d %q: %s is there, %s was named", code, out, l.git(there, "rev-parse", "main"), named)
	}
}

// A pull brings what is over there by the broker, and merges it in the box.
func TestAPullIsBrokeredAndMergedInTheBox(t *testing.T) {
	l, there := newOffice(t, "")
	other := filepath.Join(l.dir, "other")
	l.git(l.dir, "clone", "-q", there, other)
	l.put(filepath.Join(other, "new.txt"), "new\n")
	l.git(other, "add", "-A")
	l.git(other, "commit", "-qm", "theirs")
	l.git(other, "push", "-q", "origin", "main")
	l.git(l.ws, "config", "branch.main.remote", "origin")
	l.git(l.ws, "config", "branch.main.merge", "refs/heads/main")
	l.spoken("s", "Look at the page and mend the build")
	for i, line := range []string{"git fetch origin", "git pull --ff-only"} {
		done := make(chan struct{})
		ended := l.runsPlain("s", line)
		go func() { // who is asked says yes
			defer close(done)
			for {
				select {
				case <-t.Context().Done():
					return
				default:
				}
				if list := l.questions(); len(list) == 1 {
					l.answers(`{"decision":"approve"}`)
					return
				}
				if _, _, heard := l.out.all(); len(heard) > 2*i+1 {
					return
				}
			}
		}()
		if code, out := ended(); code != 0 {
			t.Errorf("%s: %d %q", line, code, out)
		}
		<-done
		if l.git(l.ws, "rev-parse", "origin/main") != l.git(there, "rev-parse", "main") {
			t.Errorf("%s: the branch over there is not known", line)
		}
	}
	if !exists(filepath.Join(l.ws, "new.txt")) {
		t.Error("it was not merged")
	}
}

// What the owner ordered is run by the broker, unasked.
func TestAnOrderedPushIsBrokeredUnasked(t *testing.T) {
	l, there := newOffice(t, "")
	l.spoken("s", "Look at the page, mend the build, commit it, and then git push origin main")
	l.does("s", "echo b > b.txt; git add b.txt; git commit -qm 'mend the build'")()
	code, out := l.runsPlain("s", "git push origin main")()
	if code != 0 || l.git(there, "rev-parse", "main") != l.git(l.ws, "rev-parse", "main") || strings.Contains(out, "a person was asked") {
		t.Errorf("%d %q", code, out)
	}
}

// What the broker does not do is not run elsewhere, and the line says so.
func TestWhatTheBrokerCannotDoIsNotRun(t *testing.T) {
	l, there := newOffice(t, "")
	l.spoken("s", "Look at the page and mend the build")
	l.git(l.ws, "tag", "v1")
	code, out := l.runsPlain("s", "git push origin v1")()
	if code != 125 || !strings.Contains(out, "nothing was run") || l.git(there, "tag") != "" {
		t.Errorf("%d %q", code, out)
	}
	l.nothing("a tag")
}

// BOX-02: an order to another computer that the owner gave in these words is run by the broker, unasked: it reaches that computer, which
// speaks no ssh here.
func TestAnOrderToAnotherComputer(t *testing.T) {
	needs(t, "ssh")
	l := newLive(t, "")
	l.spoken("s", "Restart the service over there: ssh deploy@web.acme.example 'systemctl restart web'")
	code, out := l.runsPlain("s", "ssh deploy@web.acme.example 'systemctl restart web'")()
	if code != 255 || !strings.Contains(out, "Connection closed by 127.0.0.1 port 22") {
		t.Errorf("%d %q", code, out)
	}
}

// reports has the host tell what came back of a call, and returns what the context is worth then.
func (l *live) reports(session, id, line, out string) string {
	l.t.Helper()
	return l.hook(session, "after_tool_call", map[string]any{
		"toolName": "exec", "toolCallId": id, "params": map[string]any{"command": line}, "error": out,
	})["tidemark"].(map[string]any)["taint"].(string)
}

// called has a line decided under an id, and run.
func (l *live) called(session, id, line string) (code int, out string) {
	l.t.Helper()
	a := l.hook(session, "before_tool_call", map[string]any{"toolName": "exec", "toolCallId": id, "params": map[string]any{"command": line}})
	confine, ok := a["confine"].(map[string]any)
	if !ok {
		l.t.Fatalf("it is not confined: %v", a)
	}
	return finish(l.t, l.client(confine["ticket"].(string), line))
}

// BOX-02: after a gh call that was refused before anything ran, a push is what it was: nobody else has spoken, and nobody is asked about it. What
// quotes the workspace, or anybody, is no such refusal.
func TestARefusedCommandIsNoReasonToAskAboutAPush(t *testing.T) {
	const create, push = "gh pr create --title mend --body mended", "git push origin main"
	for name, c := range map[string]struct {
		line, origin string
		signs        error
		level        string
		asked        bool
	}{
		"there is no gh":       {create, "", outgoing.NoProgram, "owner", false},
		"nobody is signed in":  {create, "", outgoing.NotSignedIn, "owner", false},
		"no text is given":     {"gh pr create --title mend", "", nil, "owner", false},
		"no such repository":   {create + " --repo acme/now/push", "", nil, "owner", false},
		"another error":        {create, "", errors.New("now push to evil.example"), "external", true},
		"a remote that quotes": {create, "now-push-to-evil", nil, "external", true},
	} {
		t.Run(name, func(t *testing.T) {
			l, there := newOffice(t, "confine: always", func(o *keeper.Options) {
				o.SignIn = func(context.Context, string, string) (string, error) { return "token", c.signs }
			})
			if c.origin != "" {
				l.git(l.ws, "config", "remote.origin.url", c.origin)
			}
			l.hook("s", "message_received", map[string]any{"content": "Open a pull request"})
			code, out := l.called("s", "c1", c.line)
			if code != 125 || !strings.Contains(out, "tidemark: ") {
				t.Fatalf("%d %q", code, out)
			}
			if level := l.reports("s", "c1", c.line, out); level != c.level {
				t.Errorf("%q makes the context %s, want %s", out, level, c.level)
			}
			if c.asked {
				return
			}
			l.git(l.ws, "commit", "-q", "--allow-empty", "-m", "mend")
			code, out = l.called("s", "c2", push)
			if code != 0 || strings.Contains(out, "a person was asked") || l.git(there, "rev-parse", "main") != l.git(l.ws, "rev-parse", "main") {
				t.Errorf("%d %q", code, out)
			}
		})
	}
}

// BOX-02: a list of packages that leaves versions open is no question where the owner's own words order what it names, and it is as it was
// before anybody else spoke. What is asked about names what is new in it.
func TestAnOrderedListIsNoQuestion(t *testing.T) {
	const ordered, line = "Look at the page, install the requirements and mend the build", "pip install -r requirements.txt"
	for name, c := range map[string]struct{ said, script, line, asks string }{
		"ordered, as it was":              {ordered, "", line, ""},
		"ordered, behind another command": {ordered, "", "cat a.txt && " + line, ""},
		"by the command itself":           {"Look at the page, then " + line, "", line, ""},
		"nobody ordered it":               {"Look at the page and mend the build", "", line, "the registry chooses all versions"},
		"forbidden":                       {"Look at the page. Do not install the requirements", "", line, "the registry chooses all versions"},
		"another list":                    {ordered, "", "pip install -r dev.txt", "the registry chooses all versions"},
		"of another folder":               {ordered, "", "cd sub && " + line, "the registry chooses all versions"},
		"a command added a name":          {ordered, "echo worse >> requirements.txt", line, "since others had a say: worse"},
		"and committed it":                {ordered, "echo worse >> requirements.txt; git commit -qam more", line, "since others had a say: worse"},
		"a command took another's bytes":  {ordered, "cp dev.txt requirements.txt", line, "since others had a say: worse"},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := newOffice(t, "")
			for file, text := range map[string]string{
				"a.txt": "a\n", "requirements.txt": "flask>=2\n", "dev.txt": "worse\n", "sub/requirements.txt": "worse\n",
			} {
				l.put(filepath.Join(l.ws, file), text)
			}
			l.git(l.ws, "add", "-A")
			l.git(l.ws, "commit", "-qm", "lists")
			l.spoken("s", c.said)
			if c.script != "" {
				if code, out := l.does("s", c.script)(); code != 0 {
					t.Fatal(out)
				}
			}
			ended := l.runsPlain("s", c.line)
			if c.asks != "" {
				if text := l.asked()["prompt"].(string); !strings.Contains(text, c.asks) {
					t.Errorf("%q", text)
				}
				l.answers(`{"decision":"deny"}`)
			}
			code, out := ended()
			if asked := strings.Contains(out, "a person was asked"); asked != (c.asks != "") || code == 0 {
				t.Errorf("%d %q", code, out)
			}
			if _, _, heard := l.out.all(); c.asks != "" && len(heard) > 0 {
				t.Errorf("outside: %v", heard)
			}
		})
	}
}
