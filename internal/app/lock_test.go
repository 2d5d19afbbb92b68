package app_test

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/app"
)

// A second server on the same folder would take the announcement over and remove it when it
// ends: every hook would be cut off. It is told who is there, and changes nothing.
func TestAFolderHasOneServer(t *testing.T) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	p := app.Paths{Data: t.TempDir()}
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
