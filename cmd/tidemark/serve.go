package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/base/memlimit"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/localserver"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/services"
)

type serveFlags struct {
	listen, level string
	show, unless  bool
	plain         bool
}

func (e *env) serveCommand() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the monitor",
		Long: `Run the monitor and its HTTP hook API. The first start makes the data folder, the
log and bearer tokens (agent, owner, approver, admin), and shows them once, on a terminal:
of those of people only hashes are kept, and tidemark approvals watch asks for one.
A policy file that changes, or comes, is read by itself; SIGHUP and tidemark policy reload do it
at once. A file with faults changes nothing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.serve(cmd.Context(), f) },
	}
	cmd.Flags().StringVar(&f.listen, "listen", "", "address to listen on (default 127.0.0.1:8417; port 0 picks a free one)")
	cmd.Flags().BoolVar(&f.plain, "plain", false,
		"let other machines connect without TLS: only behind a TLS proxy, or in a container's own network")
	cmd.Flags().StringVar(&f.level, "log-level", "info", "debug, info, warn or error")
	cmd.Flags().BoolVar(&f.show, "show-tokens", false, "print new tokens also where this is no terminal: whoever reads the output has them")
	cmd.Flags().BoolVar(&f.unless, "unless-running", false,
		"exit at once with code 0 if another server uses the data folder; init --undo may stop this one")
	return cmd
}

func (e *env) serve(ctx context.Context, f *serveFlags) error {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		memlimit.Keep(ctx)
	}
	logger, err := e.logger(f.level)
	if err != nil {
		return err
	}
	p, err := e.paths()
	if err != nil {
		return err
	}
	if !e.json { // a log of years, or one elsewhere, takes a while to open
		e.printf("starting on %s\n", p.Data)
	}
	a, err := app.New(ctx, app.Options{Paths: p, Listen: f.listen, Plain: f.plain, Logger: logger})
	if f.unless && errors.Is(err, datafolder.ErrInUse) {
		e.printf("%v\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	url, err := a.Start(ctx)
	if err != nil {
		return errors.Join(err, a.Stop(ctx))
	}
	if f.unless {
		if err := localserver.NoteStarted(p); err != nil {
			logger.Warn("tidemark init --undo will not stop this server", "error", err)
		}
	}
	if err := e.greet(ctx, p, a, url, f.show || e.seen()); err != nil {
		return errors.Join(err, a.Stop(ctx))
	}
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	for {
		select {
		case <-reload:
			if _, err := a.Reload(ctx); err != nil {
				logger.Error("policy not reloaded; the old one stays in force", "error", err)
			}
		case <-ctx.Done():
			grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			if err := a.Stop(grace); err != nil || e.json {
				return err
			}
			e.printf("stopped\n")
			return nil
		}
	}
}

// greet says where the server is, and the tokens the first time.
func (e *env) greet(ctx context.Context, p datafolder.Paths, a *app.App, url string, show bool) error {
	if e.json {
		type first struct {
			URL    string           `json:"url"`
			Data   string           `json:"data"`
			Config string           `json:"config,omitempty"`
			Policy string           `json:"policy"`
			Parts  []services.Part  `json:"parts"`
			Tokens *accounts.Tokens `json:"tokens,omitempty"`
		}
		f := first{URL: url, Data: p.Data, Config: p.Config, Policy: a.Monitor.Policy().Version(), Parts: a.Status(ctx)}
		if a.NewTokens && show {
			f.Tokens = &a.Tokens
		}
		return e.printJSON(f)
	}
	e.printf("listening on %s\n", url)
	for _, at := range a.URLs() {
		e.printf("other machines: %s (tidemark token invite NAME lets one join)\n", at)
	}
	e.printf("data in %s\n", p.Data)
	if p.Store != "" {
		e.printf("log in %s, which other servers may share\n", installation.StoreName(p.Store))
	}
	if p.Config != "" {
		e.printf("policy %s (preset %s, version %s)\n", p.Config, a.Monitor.Policy().Settings().Preset, a.Monitor.Policy().Version())
	} else {
		e.printf("policy %s as shipped (version %s)\n", a.Monitor.Policy().Settings().Preset, a.Monitor.Policy().Version())
	}
	for _, w := range a.Monitor.Policy().Warnings() {
		e.printf("  %s %s\n", e.ui.word("confirm", "warning"), w.Error())
	}
	e.printParts(a.Status(ctx))
	e.printf("console: tidemark console opens it in your browser\n")
	if a.NewTokens {
		if !show {
			e.printf("\nnew tokens were made; this is no terminal, so they are not shown (tidemark token new, serve --show-tokens)\n")
			return nil
		}
		e.printf("\nnew tokens, shown this once (people's are kept as hashes, in %s):\n", p.Tokens())
		e.printTokens(a.Tokens)
	}
	return nil
}

// seen reports whether a person reads the output. What goes into a file, a pipe or a journal
// stays there, where an agent could read it; a writer of a caller's own is the caller's affair.
func (e *env) seen() bool {
	f, ok := e.out.(*os.File)
	return !ok || term.IsTerminal(int(f.Fd()))
}

// logger writes JSON, and lines for people on a terminal.
func (e *env) logger(level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("unknown log level %q (want debug, info, warn or error)", level)
	}
	o := &slog.HandlerOptions{Level: l}
	if f, ok := isTerminal(e.errOut); !ok || !term.IsTerminal(int(f.Fd())) {
		return slog.New(slog.NewJSONHandler(e.errOut, o)), nil
	}
	o.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr { // who sits there knows what day it is
		if a.Key == slog.TimeKey && len(groups) == 0 {
			a.Value = slog.StringValue(a.Value.Time().Local().Format(time.TimeOnly))
		}
		return a
	}
	return slog.New(slog.NewTextHandler(e.errOut, o)), nil
}
