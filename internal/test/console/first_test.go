//go:build linux

package console_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/localserver"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/test/terminal"
)

// newcomer is somebody at a machine with the programs, one agent, a terminal and a browser that is a script.
type newcomer struct {
	t    *testing.T
	home string
	data string
	env  []string
}

func newNewcomer(t *testing.T) *newcomer {
	t.Helper()
	top := t.TempDir()
	n := &newcomer{t: t, home: filepath.Join(top, "home"), data: filepath.Join(top, "home", ".local", "share", "tidemark")}
	bin := filepath.Join(n.home, "bin")
	do(t, os.MkdirAll(n.data, 0o700))
	do(t, os.MkdirAll(bin, 0o700))
	built(t, bin, "./cmd/...")
	do(t, os.WriteFile(filepath.Join(n.data, "tidemark.yaml"), []byte("server: {listen: \"127.0.0.1:0\"}\n"), 0o600))
	do(t, os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\necho '2.1.400 (Claude Code)'\n"), 0o700))
	opens := "#!/bin/sh\ncp \"$1\" " + top + "/page 2>/dev/null || echo \"$1\" >>" + top + "/opened\n"
	do(t, os.WriteFile(filepath.Join(bin, "browser"), []byte(opens), 0o700))
	n.env = []string{"HOME=" + n.home, "PATH=" + bin + ":/usr/bin:/bin", "LANG=C.UTF-8", "NO_COLOR=1", "TERM=xterm", "BROWSER=" + filepath.Join(bin, "browser")}
	t.Cleanup(func() {
		_ = localserver.StopRunning(context.WithoutCancel(t.Context()), datafolder.Paths{Data: n.data})
	})
	return n
}

// types runs a command on a terminal of its own.
func (n *newcomer) types(args ...string) (*terminal.Terminal, chan error) {
	n.t.Helper()
	x := terminal.Open(n.t, 160, 70)
	cmd := exec.Command(filepath.Join(n.home, "bin", "tidemark"), args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = n.env, x.Far, x.Far, x.Far
	do(n.t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	n.t.Cleanup(func() { _ = cmd.Process.Kill() })
	return x, done
}

// reads waits until a file of the browser's is there.
func (n *newcomer) reads(name string) string {
	n.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if raw, err := os.ReadFile(filepath.Join(filepath.Dir(n.home), name)); err == nil && len(raw) > 0 {
			return string(raw)
		}
	}
	n.t.Fatalf("the browser was not opened: no %s", name)
	return ""
}

// The first minutes of somebody new: init shows a call that is held and enrols a passkey, no token is shown or typed, the question
// is answered with the key, and nothing that lies on the disk answers another.
//
// WAR-10 CON-25
func TestTheFirstRunEnrolsAKeyAndShowsNoToken(t *testing.T) {
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("no chromium here: scripts/setup installs it")
	}
	n := newNewcomer(t)
	x, done := n.types("init", "--background", "--no-model")
	x.Wait("Enrol one now, in your browser? [y/N]")
	for _, want := range []string{"promo@spam.example (not from you)", "allowed   send_email", "asked     send_email"} {
		if !strings.Contains(x.Shows(), want) {
			t.Errorf("init shows\n%s\nwant %q", x.Shows(), want)
		}
	}
	x.Press("y\n")
	_, code, _ := strings.Cut(n.reads("page"), "/console/login#")
	code, _, _ = strings.Cut(code, `"`)
	running, err := datafolder.FindRunning(datafolder.Paths{Data: n.data})
	do(t, err)
	at, err := url.Parse(running.URL)
	do(t, err)
	w := &world{t: t, data: n.data, url: running.URL, base: "http://tidemark.localhost:" + at.Port(), log: &logged{}}
	b := w.browser()
	b.run(chromedp.Navigate(w.base + "/console/login#" + code))
	b.until(`document.querySelector('#digits')`)
	x.Wait("Does the page show " + js[string](b, `document.querySelector('#digits').textContent`))
	x.Press("y\n")
	b.until(`location.pathname === '/console/'`)
	if opened := n.reads("opened"); !strings.Contains(opened, "/console/keys") {
		t.Errorf("the browser was sent to %s", opened)
	}
	b.authenticator(true)
	b.enrol("laptop")
	x.Wait("it is enrolled")
	if err := <-done; err != nil || strings.Contains(x.Raw(), "tm-") {
		t.Fatalf("init ended with %v and shows\n%s", err, x.Shows())
	}

	kept, _, err := accounts.LoadTokens(datafolder.Paths{Data: n.data}.Tokens())
	do(t, err)
	b.open("/console/q/" + n.waits(w, kept.Reader))
	b.click(`button[value=approve]`)
	b.until(`document.body.innerText.includes('APPROVED')`)
	log, err := n.output("audit", "--kind", "approval.answered")
	if err != nil || !strings.Contains(log, "approved by admin (console) send_email: Send to promo@spam.example") {
		t.Errorf("the log says %s, %v", log, err)
	}
	again, err := n.output("init", "--background", "--no-model")
	if err != nil || !strings.Contains(again, "it waits until you answer") {
		t.Fatalf("init again: %v\n%s", err, again)
	}
	n.answersItself(w, &kept, n.waits(w, kept.Reader))
	y, _ := n.types("approvals", "watch", "--quiet")
	y.Wait("promo@spam.example")
	if strings.Contains(y.Raw(), "token") {
		t.Errorf("watching asks for a token:\n%s", y.Shows())
	}
}

// waits is the one question that waits.
func (n *newcomer) waits(w *world, token string) string {
	n.t.Helper()
	var open struct {
		Approvals []engine.Question `json:"approvals"`
	}
	w.api(http.MethodGet, "/v1/approvals", token, nil, &open)
	var ids []string
	for i := range open.Approvals {
		if open.Approvals[i].Pending() {
			ids = append(ids, open.Approvals[i].ID)
		}
	}
	if len(ids) != 1 {
		n.t.Fatalf("%d questions wait", len(ids))
	}
	return ids[0]
}

func (n *newcomer) output(args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(n.home, "bin", "tidemark"), args...)
	cmd.Env = n.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// answersItself tries, as a program of the same user that has read everything on the disk, to answer a question.
func (n *newcomer) answersItself(w *world, kept *accounts.Tokens, id string) {
	n.t.Helper()
	for _, token := range []string{kept.Agent, kept.Reader, kept.Owner, kept.Approver, kept.Admin} {
		status, body := w.api(http.MethodPost, "/v1/approvals/"+id, token, map[string]any{"decision": "approve"}, nil)
		if status != http.StatusForbidden && status != http.StatusUnauthorized {
			n.t.Errorf("with %.8s…: %d %s", token, status, body)
		}
	}
	// A new token is made by whoever runs the program, and taken at the next start: with a key enrolled it answers nothing.
	made, err := n.output("token", "new", "--json")
	if err == nil {
		do(n.t, localserver.StopRunning(n.t.Context(), datafolder.Paths{Data: n.data}))
		if _, err := localserver.Background(n.t.Context(), datafolder.Paths{Data: n.data}, filepath.Join(n.home, "bin", "tidemark"), "--listen", strings.TrimPrefix(w.url, "http://")); err != nil {
			n.t.Fatal(err)
		}
		for _, part := range strings.Split(made, `"`) {
			if strings.HasPrefix(part, "tm-") {
				status, body := w.api(http.MethodPost, "/v1/approvals/"+id, part, map[string]any{"decision": "approve"}, nil)
				if status/100 == 2 {
					n.t.Errorf("with a token that it made: %d %s", status, body)
				}
			}
		}
	}
	if out, err := n.output("approvals", "approve", id); err == nil {
		n.t.Errorf("by the command line: %s", out)
	}
	if out, err := n.output("console", "forget-keys"); err == nil {
		n.t.Errorf("keys are forgotten beside a server: %s", out)
	}
}
