package app_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

// A second server on the same folder would take the announcement over and remove it when it
// ends: every hook would be cut off. It is told who is there, and changes nothing.
func TestAFolderHasOneServer(t *testing.T) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	p := datafolder.Paths{Data: t.TempDir()}
	first, err := app.New(t.Context(), app.Options{Paths: p, Listen: "127.0.0.1:0", Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	second := func() error {
		b, err := app.New(t.Context(), app.Options{Paths: p, Listen: "127.0.0.1:0", Logger: quiet})
		if err == nil {
			_ = b.Stop(t.Context())
		}
		return err
	}
	if err := second(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) || !strings.Contains(err.Error(), "is starting") {
		t.Errorf("beside one that is starting: got %v, want a refusal that names the process", err)
	}
	url, err := first.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(p.Data, "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := second(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d at %s", os.Getpid(), url)) || !strings.Contains(err.Error(), "--data") {
		t.Errorf("beside one that runs: got %v, want a refusal that names process, address and way out", err)
	}
	if after, err := os.ReadFile(filepath.Join(p.Data, "server.json")); err != nil || string(after) != string(before) {
		t.Errorf("the announcement is %s (%v), want %s as before", after, err, before)
	}
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := second(); err != nil {
		t.Errorf("once the first has stopped: %v, want it to start", err)
	}
}

// Tokens are shown by the start that made them. One that fails takes them back, so that the
// next one makes and shows them.
func TestAStartThatFailsLeavesNoTokensBehind(t *testing.T) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	p := datafolder.Paths{Data: t.TempDir()}
	start := func(listen string) (*app.App, error) {
		a, err := app.New(t.Context(), app.Options{Paths: p, Listen: listen, Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Stop(context.Background()) })
		_, err = a.Start(t.Context())
		return a, err
	}
	failed, err := start(taken.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "another program has that port") {
		t.Fatalf("two servers on one port: %v", err)
	}
	if err := failed.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, err := start("127.0.0.1:0")
	if err != nil || !second.NewTokens || accounts.Hashed(second.Tokens.Admin) {
		t.Errorf("the next start: new %v, %v; want tokens that can be shown", second.NewTokens, err)
	}
	if err := second.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if third, err := start(taken.Addr().String()); err == nil || third.NewTokens {
		t.Errorf("a later start that fails: new %v, %v", third.NewTokens, err)
	} else if err := third.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kept, _, err := accounts.LoadTokens(p.Tokens()); err != nil || kept.Agent != second.Tokens.Agent {
		t.Errorf("it left %+v (%v), want the tokens that people have", kept, err)
	}
}
