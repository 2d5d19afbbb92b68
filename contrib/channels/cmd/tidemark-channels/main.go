// Command tidemark-channels asks people in Slack, Discord and ntfy: it takes what a Tidemark
// server tells its webhooks, shows it there with buttons, and brings the answers back.
//
//	tidemark-channels [--config channels.yaml]
//	tidemark-channels key FILE      make the key that answers are signed with; prints its public part
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "tidemark-channels:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, env func(string) (string, bool), out, errOut io.Writer) error {
	flags := flag.NewFlagSet("tidemark-channels", flag.ContinueOnError)
	flags.SetOutput(errOut)
	file := flags.String("config", "channels.yaml", "the file of settings")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch rest := flags.Args(); {
	case len(rest) == 2 && rest[0] == "key":
		public, err := makeKey(rest[1])
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, public)
		return err
	case len(rest) > 0:
		return errors.New("the commands are none, which runs it, and: key FILE")
	}
	src, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	s, faults := parse(*file, src, env)
	if text := faults.Render(src); text != "" {
		_, _ = fmt.Fprint(errOut, text) // a terminal that is gone is told nothing
	}
	if err := faults.Err(); err != nil {
		return errors.New("nothing was started: the settings have errors")
	}
	return s.serve(ctx, slog.New(slog.NewTextHandler(errOut, nil)))
}

// serve shows questions until ctx ends.
func (s *settings) serve(ctx context.Context, logger *slog.Logger) error {
	bridges, err := s.bridges(logger)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for name, b := range bridges {
		mux.Handle("POST /"+name, b)
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for name, b := range bridges {
		running.Go(func() { b.Run(ctx) })
		logger.Info("asking", "in", name, "at", "http(s)://"+ln.Addr().String()+"/"+name)
	}
	running.Go(func() {
		var err error
		if s.cert == "" {
			err = srv.Serve(ln)
		} else {
			err = srv.ServeTLS(ln, s.cert, s.key)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			cancel(err)
		}
	})
	<-ctx.Done()
	_ = srv.Close() // what the server asks now it asks again
	running.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
