package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/installation"
)

func (e *env) consoleCommand() *cobra.Command {
	var role string
	var stay bool
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Open the console in your browser",
		Long: `Sign in to the console of the running server. It opens your browser with a link that
works once and for a minute, and shows the same as a code to type. The page shows two
digits: say whether they are the ones you see here.

Without --role you can read and deny. To approve, sign in as approver (it takes the token)
or enrol a passkey once.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.console(cmd.Context(), role, !stay) },
	}
	cmd.Flags().StringVar(&role, "role", "reader",
		"sign in as reader, approver or admin; the last two take the token, and so does a reader with --token-stdin")
	cmd.Flags().BoolVar(&stay, "no-browser", false, "open no browser; show the code only")
	cmd.AddCommand(&cobra.Command{
		Use:   "forget-keys",
		Short: "Drop every passkey and the typed secret; the server must not run",
		Long: `Drop every passkey and the typed secret, for a person who lost theirs. The server must not
run. It is recorded, and the console says so for a month.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.forgetKeys(cmd.Context()) },
	})
	return cmd
}

// consoleLink is a way in, as the server hands it out.
type consoleLink struct {
	ID      string    `json:"id"`
	URL     string    `json:"url"`
	Code    string    `json:"code"`
	Short   string    `json:"short"`
	Expires time.Time `json:"expires"`
}

func (e *env) console(ctx context.Context, role string, browse bool) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	if c == nil {
		return errors.New("open console: no server is running on this data folder (run: tidemark serve)")
	}
	switch role {
	case "reader", "viewer":
		if e.tokenStdin { // of somebody who has one of their own
			if c.token, err = e.secret(ctx); err != nil {
				return err
			}
		}
		c.secret = nil
	case "approver", "admin":
		if c.token, err = e.secret(ctx); err != nil {
			return err
		}
	default:
		return fmt.Errorf("open console: there is no role %q for people: reader, approver or admin", role)
	}
	if _, err := e.signIn(ctx, c, browse); err != nil || role != "reader" {
		return err
	}
	if proof, err := proofOf(ctx, c); err == nil && proof == "" {
		e.printf("you can read and deny; to approve: tidemark console --role approver, once, and enrol a passkey on its page Keys\n")
	}
	return nil
}

// signIn opens the console for whoever's token the client has.
func (e *env) signIn(ctx context.Context, c *client, browse bool) (l consoleLink, err error) {
	if err := c.call(ctx, http.MethodPost, "/v1/console/links", nil, &l); err != nil {
		return l, fmt.Errorf("open console: %w", err)
	}
	e.printf("%s\n  code %s, good for a minute\n", l.URL, e.ui.word("title", l.Short))
	if browse {
		remove, err := openLink(&l)
		defer remove()
		if err != nil {
			e.printf("  no browser could be opened (%v): open the address and type the code\n", err)
		}
	}
	return l, e.confirmDigits(ctx, c, &l)
}

// confirmDigits waits until the link is opened and has the person compare the digits.
func (e *env) confirmDigits(ctx context.Context, c *client, l *consoleLink) error {
	var s struct {
		State  string `json:"state"`
		Digits string `json:"digits"`
	}
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := c.call(ctx, http.MethodGet, "/v1/console/links/"+l.ID, nil, &s); err != nil {
			return fmt.Errorf("open console: %w", err)
		}
		switch s.State {
		case "waiting":
		case "opened":
			e.printf("Does the page show %s? [y/N] ", e.ui.word("title", s.Digits))
			line, err := e.line(ctx, 16)
			if err != nil {
				return fmt.Errorf("open console: %w", err)
			}
			yes := strings.EqualFold(line, "y") || strings.EqualFold(line, "yes")
			if err := c.call(ctx, http.MethodPost, "/v1/console/links/"+l.ID, map[string]bool{"match": yes}, &s); err != nil {
				return fmt.Errorf("open console: %w", err)
			}
			if !yes {
				return errors.New("open console: not signed in; somebody else may have opened the link, which is recorded")
			}
			e.printf("signed in\n")
			return nil
		default:
			return fmt.Errorf("open console: the link is %s; run the command again", s.State)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// page is what the browser is given: a private file, because the arguments of a process can
// be read by others. The code stands behind the #, which is sent to nobody.
const page = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<title>Tidemark</title><meta http-equiv="refresh" content="0;url=%s#%s">
<p>Opening the console. If nothing happens, open %s and type the code.</p>
`

// openLink writes the private file and has it opened. remove takes it away again.
func openLink(l *consoleLink) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "tidemark-console-")
	if err != nil {
		return func() {}, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // the code in it is used or over by then
	file := filepath.Join(dir, "open.html")
	if err := os.WriteFile(file, fmt.Appendf(nil, page, l.URL, l.Code, l.URL), 0o600); err != nil {
		return remove, err
	}
	return remove, browser(file).Start()
}

// browser opens a file the way the system does.
func browser(file string) *exec.Cmd {
	if named := os.Getenv("BROWSER"); named != "" {
		return exec.Command(named, file) //nolint:gosec // the person's own setting
	}
	switch runtime.GOOS {
	case "darwin":
		return exec.Command("open", file) //nolint:gosec // a file of ours
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", file) //nolint:gosec // likewise
	}
	return exec.Command("xdg-open", file) //nolint:gosec // likewise
}

func (e *env) forgetKeys(ctx context.Context) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		return errors.New("forget keys: the server runs; stop it first")
	}
	p, err := e.paths()
	if err != nil {
		return err
	}
	n, err := installation.ForgetKeys(ctx, p, whoami())
	if err != nil {
		return fmt.Errorf("forget keys: %w", err)
	}
	e.printf("%d passkeys forgotten; the console will say so for a month\n", n)
	return nil
}
