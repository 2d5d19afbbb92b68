//go:build e2e

package e2e_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

// serve starts the monitor with the policy it is shipped with.
func (w *world) serve() {
	w.t.Helper()
	if w.admin == "" { // made here, because the disk will have its hash alone
		if err := os.MkdirAll(w.data, 0o700); err != nil {
			w.t.Fatal(err)
		}
		tokens, made, err := accounts.LoadTokens(filepath.Join(w.data, "tokens.json"))
		if err != nil || !made {
			w.t.Fatalf("make tokens: made %v, %v", made, err)
		}
		w.admin = tokens.Admin
	}
	cmd := exec.Command(program("tidemark"), "serve", "--data", w.data, "--listen", "127.0.0.1:0", "--log-level", "warn")
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.server = cmd
	w.t.Cleanup(w.shut)
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "policy ") {
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if _, err := os.Stat(filepath.Join(w.data, "server.json")); err != nil {
		w.t.Fatalf("the server did not start: %v", err)
	}
}

// shut ends the server; a second time it does nothing.
func (w *world) shut() {
	if w.server.ProcessState == nil {
		_ = w.server.Process.Signal(syscall.SIGTERM)
		_ = w.server.Wait()
	}
}

// kill ends the server in the middle of what it does.
func (w *world) kill() {
	_ = w.server.Process.Signal(syscall.SIGKILL)
	_ = w.server.Wait()
}

// kept reads what the server wrote into its data folder, where it is, and the token it was given.
func (w *world) kept() (url, admin string, err error) {
	var running struct {
		URL string `json:"url"`
	}
	raw, err := os.ReadFile(filepath.Join(w.data, "server.json"))
	if err != nil {
		return "", "", err
	}
	if err := strictjson.Unmarshal(raw, &running); err != nil {
		return "", "", err
	}
	return running.URL, w.admin, nil
}

// address is where the server listens.
func (w *world) address() string {
	w.t.Helper()
	url, _, err := w.kept()
	if err != nil {
		w.t.Fatal(err)
	}
	return url
}

// ask reads something of the server's API as its administrator.
func (w *world) ask(ctx context.Context, path string, into any) error {
	url, admin, err := w.kept()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+admin)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, raw)
	}
	return strictjson.Unmarshal(raw, into)
}

// approveNext waits for a held call and lets it through, as a person at another terminal.
func (w *world) approveNext(ctx context.Context) error {
	id, err := w.asked(ctx)
	if err == nil {
		w.tidemark("approvals", "approve", id)
	}
	return err
}

// asked waits until a question is open.
func (w *world) asked(ctx context.Context) (id string, err error) {
	seen := ""
	for {
		var page struct {
			Seen      strictjson.Value `json:"seen"`
			Approvals []struct {
				ID string `json:"id"`
			} `json:"approvals"`
		}
		if err := w.ask(ctx, "/v1/approvals?state=pending&wait=20&seen="+seen, &page); err != nil {
			return "", err
		}
		if len(page.Approvals) > 0 {
			return page.Approvals[0].ID, nil
		}
		seen = strings.Trim(string(page.Seen), `"`)
	}
}
