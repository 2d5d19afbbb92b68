package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/base/afar"
	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/datafolder"
)

func (e *env) joinCommand() *cobra.Command {
	f := &installFlags{}
	cmd := &cobra.Command{
		Use:   "join URL CODE [AGENT...]",
		Short: "Have the agents of this machine watched by a server on another one",
		Long: `Join a server on another machine with a code that its administrator made there (tidemark token
invite NAME). The code opens that server and no other: it holds part of the server's key, which
this machine remembers from then on. Agents that are named are installed at once; install
others later with tidemark install.

From then on nothing runs here without that server: where it cannot be reached, calls are blocked.`,
		Example: `  tidemark join https://tidemark.example:8418 ABCDEF-… claude codex`,
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := e.join(cmd.Context(), args[0], args[1]); err != nil || len(args) == 2 {
				return err
			}
			return e.install(cmd.Context(), f, args[2:])
		},
	}
	f.shared(cmd)
	cmd.Flags().StringVar(&f.trial, "trial", "full", "what to try afterwards: full, hook (not the agent itself) or none")
	return cmd
}

func (e *env) leaveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "leave",
		Short: "Have the agents of this machine watched by a server of its own again",
		Long: `Forget the server on another machine that this one has joined, and the tokens it gave. Hooks that are
installed stay, and block everything until a server runs here (tidemark serve). What the server
knows of this machine is taken away there: tidemark token revoke NAME.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return e.unjoin() },
	}
}

// joinTime bounds how long joining may take.
const joinTime = 30 * time.Second

// join spends the code, at the server of the key that the code holds and at no other.
func (e *env) join(ctx context.Context, url, said string) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	code, err := afar.ReadCode(said)
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	if err := e.unjoined(p); err != nil {
		return fmt.Errorf("join: %w", err)
	}
	way := &afar.Server{URL: strings.TrimRight(url, "/")}
	if err := afar.CheckURL(way.URL); err != nil {
		return fmt.Errorf("join: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	var cert *x509.Certificate
	if code.Pin != "" {
		if way.Pin, cert, err = way.Meet(ctx, code); err != nil {
			return fmt.Errorf("join: %w", err)
		}
	}
	var got struct {
		Machine string `json:"machine"`
		Token   string `json:"token"`
	}
	c := &client{base: way.URL, http: way.Client(code.Secret, joinTime)}
	if err := c.send(ctx, http.MethodPost, "/v1/join", map[string]string{"secret": code.Secret}, &got); err != nil {
		if errors.Is(err, serverproof.ErrStranger) { // it could not show that it knows the code, which was not told to it
			err = errors.New("this code does not work: it was used, has expired, or is for another server " +
				"(ask for a new one: tidemark token invite)")
		}
		return fmt.Errorf("join: %w", err)
	}
	way.Machine, way.Secret = got.Machine, afar.NewSecret()
	if err := e.remember(p, way, got.Token); err != nil {
		return err
	}
	if cert != nil {
		if err := afar.WriteCert(p.Data, cert); err != nil {
			return err
		}
	}
	if e.json {
		return e.printJSON(map[string]string{"url": way.URL, "machine": way.Machine, "pin": way.Pin})
	}
	e.printf("joined %s as %s\n", way.URL, e.ui.word("title", way.Machine))
	if way.Pin != "" {
		e.printf("  its key: %s\n", way.Pin)
	}
	e.printf("  next: tidemark install AGENT (%s)\n", strings.Join(install.Names(), ", "))
	return nil
}

// unjoined refuses a data folder that has a server of its own, or another one's.
func (e *env) unjoined(p datafolder.Paths) error {
	away, err := afar.Read(p.Data)
	if err != nil {
		return err
	}
	if away != nil {
		return fmt.Errorf("this machine has joined %s already, as %s (tidemark leave, then join again)", away.URL, away.Machine)
	}
	if r, err := datafolder.FindRunning(p); err == nil {
		return fmt.Errorf("a server of this machine's own runs at %s: stop it first (tidemark service remove, or end tidemark serve)",
			r.URL)
	}
	return nil
}

// remember writes down the server and the machine's token. Tokens of agents that a server of this machine gave are worth nothing there.
func (e *env) remember(p datafolder.Paths, way *afar.Server, token string) error {
	for _, name := range install.Names() {
		if err := os.Remove(shim.TokenFile(p.Data, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("join: %w", err)
		}
	}
	if err := p.Create(); err != nil {
		return err
	}
	if err := writeSecret(afar.TokenFile(p.Data), token); err != nil {
		return fmt.Errorf("join: %w", err)
	}
	if err := way.Write(p.Data); err != nil {
		return fmt.Errorf("join: %w", err)
	}
	return nil
}

func (e *env) unjoin() error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	away, err := afar.Read(p.Data)
	if err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	if away == nil {
		return errors.New("leave: this machine has joined no server elsewhere")
	}
	gone := []string{afar.TokenFile(p.Data), afar.CertFile(p.Data)}
	for _, name := range install.Names() {
		gone = append(gone, shim.TokenFile(p.Data, name))
	}
	for _, file := range gone {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("leave: %w", err)
		}
	}
	if err := afar.Forget(p.Data); err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]string{"left": away.URL})
	}
	e.printf("left %s; hooks that are installed block everything until a server runs here (tidemark serve)\n", away.URL)
	e.printf("there: tidemark token revoke %s\n", away.Machine)
	return nil
}

// setElsewhere is install --server: a machine that was given a token in place of a code.
func (e *env) setElsewhere(f *installFlags) error {
	if f.server == "" {
		if f.tokenFile != "" || f.pin != "" {
			return errors.New("--token-file and --pin go with --server")
		}
		return nil
	}
	p, err := e.paths()
	if err != nil {
		return err
	}
	way := &afar.Server{URL: strings.TrimRight(f.server, "/"), Pin: strings.ToLower(f.pin)}
	if err := way.CheckWay(); err != nil {
		return fmt.Errorf("--server: %w", err)
	}
	away, err := afar.Read(p.Data)
	switch {
	case err != nil:
		return err
	case away != nil && away.URL == way.URL && (way.Pin == "" || way.Pin == away.Pin) && f.tokenFile == "":
		return nil
	case away != nil:
		return fmt.Errorf("--server: this machine has joined %s already, as %s (tidemark leave first)", away.URL, away.Machine)
	case f.tokenFile == "":
		return errors.New("--server needs --token-file, or join by a code: tidemark join URL CODE")
	}
	if err := e.unjoined(p); err != nil {
		return err
	}
	raw, err := os.ReadFile(f.tokenFile)
	if err != nil {
		return fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if way.Machine, err = whoseToken(way, token); err != nil || f.dry {
		return err
	}
	way.Secret = afar.NewSecret()
	return e.remember(p, way, token)
}

// whoseToken asks the server whose token it is: of a machine, and nobody else's will do.
func whoseToken(way *afar.Server, token string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), joinTime)
	defer cancel()
	var got struct {
		Machine string `json:"machine"`
	}
	c := &client{base: way.URL, token: token, http: way.Client(token, joinTime)}
	if err := c.send(ctx, http.MethodGet, "/v1/machine", nil, &got); err != nil {
		return "", fmt.Errorf("--server: %w", err)
	}
	if got.Machine == "" {
		return "", errors.New("--token-file: this is no token of a machine (made on the server: tidemark token add NAME --role machine)")
	}
	return got.Machine, nil
}

// elsewhere is a client of the server that this machine has joined. Its token reads nothing: whoever wants to look comes with their own.
func (e *env) elsewhere(ctx context.Context, away *afar.Server, token string, err error) (*client, error) {
	if err != nil {
		return nil, err
	}
	c := &client{base: strings.TrimRight(away.URL, "/"), token: token, secret: e.secret, http: away.Client(token, 30*time.Second)}
	if err := c.send(ctx, http.MethodGet, "/healthz", nil, nil); err != nil {
		return nil, fmt.Errorf("reach server at %s: %w", away.URL, err)
	}
	return c, nil
}

// awayClient leads to the server that this machine has joined; nil: it has joined none.
func awayClient(p datafolder.Paths) *http.Client {
	away, token, err := datafolder.JoinedTo(p)
	if err != nil || away == nil {
		return nil
	}
	return away.Client(token, 30*time.Second)
}

func (e *env) inviteCommand() *cobra.Command {
	var life time.Duration
	cmd := &cobra.Command{
		Use:   "invite NAME",
		Short: "Let another machine join, with a code that works once",
		Long: `Make a code with which another machine joins this server: it is shown once, works once, and expires
after 15 minutes. NAME is what the machine is called from then on: its agents are claude@NAME, its
sessions NAME/…. Carry the code by hand or by a message; who reads it on the way can use it before
you do, and then yours does not work: invite again, and revoke the other (tidemark token revoke NAME).`,
		Example: `  tidemark token invite ana-laptop        # then, there: tidemark join URL CODE claude`,
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return e.invite(cmd.Context(), args[0], life) },
	}
	cmd.Flags().DurationVar(&life, "for", 0, "how long the code works, at most 24h (default 15m)")
	return cmd
}

func (e *env) invite(ctx context.Context, machine string, life time.Duration) error {
	if life < 0 || life > 24*time.Hour || life%time.Minute != 0 {
		return errors.New("invite: --for takes whole minutes, up to 24h")
	}
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	if c == nil {
		return errors.New("invite: no server is running on this data folder (start it: tidemark serve)")
	}
	var got struct {
		Machine string    `json:"machine"`
		Code    string    `json:"code"`
		URLs    []string  `json:"urls"`
		Expires time.Time `json:"expiresAt"`
	}
	in := map[string]any{"machine": machine, "minutes": int(life / time.Minute)}
	if err := c.call(ctx, http.MethodPost, "/v1/machines", in, &got); err != nil {
		return fmt.Errorf("invite: %w", err)
	}
	if e.json {
		return e.printJSON(got)
	}
	at := "URL"
	if len(got.URLs) > 0 {
		at = got.URLs[0]
	}
	e.printf("on %s, until %s:\n  %s\n", got.Machine, got.Expires.Local().Format(time.TimeOnly),
		e.ui.word("title", fmt.Sprintf("tidemark join %s %s claude", at, got.Code)))
	e.printf("  the code works once; write the agents that run there in place of claude\n")
	return nil
}
