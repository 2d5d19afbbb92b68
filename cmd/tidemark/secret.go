package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/app"
)

// maxSecret bounds a line that is a token.
const maxSecret = 4096

// errNoSecret says what a command lacks that was not started by a person at a terminal.
var errNoSecret = errors.New("this takes the approver or admin token, which is not kept on this machine: " +
	"run it on a terminal, or hand the token in with --token-stdin (tidemark token new makes another)")

// secret is the token of a person who may answer. It is asked for, and kept no longer than
// this program runs: what lies on the disk could be read by the agent that waits.
func (e *env) secret() (string, error) {
	if e.token != "" {
		return e.token, nil
	}
	line, err := e.askSecret()
	if err != nil {
		return "", err
	}
	if e.token = strings.TrimSpace(line); e.token == "" {
		return "", errNoSecret
	}
	return e.token, nil
}

func (e *env) askSecret() (string, error) {
	if e.tokenStdin {
		line, err := bufio.NewReader(io.LimitReader(e.in, maxSecret)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read token: %w", err)
		}
		return line, nil
	}
	f, ok := e.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return "", errNoSecret
	}
	fmt.Fprint(e.errOut, "approver or admin token (shown by the first tidemark serve): ")
	raw, err := term.ReadPassword(int(f.Fd()))
	fmt.Fprintln(e.errOut)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	return string(raw), nil
}

func (e *env) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make new tokens for people",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "new",
		Short: "Make new owner, approver and admin tokens, and show them once",
		Long: `Make new owner, approver and admin tokens and show them once; only their hashes are kept.
The agent's stays. A running server takes the new ones at its next start.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return e.renewTokens() },
	})
	return cmd
}

func (e *env) renewTokens() error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	if err := p.Create(); err != nil {
		return err
	}
	t, err := app.RenewTokens(p.Tokens())
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(t)
	}
	e.printTokens(t)
	e.printf("restart the server: until then it takes the old ones\n")
	return nil
}

// printTokens shows those that are known, which is once.
func (e *env) printTokens(t app.Tokens) {
	for _, k := range []struct{ role, token, what string }{
		{"agent", t.Agent, "hosts and hooks"},
		{"owner", t.Owner, "beside the agent's, for a host that knows the owner's messages"},
		{"approver", t.Approver, "answers questions: tidemark approvals watch asks for it"},
		{"admin", t.Admin, "everything"},
	} {
		if !app.Hashed(k.token) {
			e.printf("  %-9s %s  %s\n", k.role, k.token, k.what)
		}
	}
	e.printf("\n")
}
