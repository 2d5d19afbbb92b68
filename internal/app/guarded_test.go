package app_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/datafolder"
)

// A server does not start on a folder or a log that others can change, and tells of what they can read.
func TestAFolderThatOthersCanChangeIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes of files say nothing there")
	}
	for name, c := range map[string]struct {
		file string
		mode os.FileMode
		want string // of the error; "": none
		told string
	}{
		"as it is made":              {"", 0o700, "", ""},
		"a folder others look into":  {"", 0o755, "", ""},
		"a folder of a group":        {"", 0o770, "", ""},
		"a folder anybody changes":   {"", 0o777, "chmod 700", ""},
		"a log others read":          {"tidemark.db", 0o644, "", "tidemark.db"},
		"a log others change":        {"tidemark.db", 0o666, "chmod 600", ""},
		"a write-ahead log likewise": {"tidemark.db-wal", 0o622, "chmod 600", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := datafolder.Paths{Data: t.TempDir()}
			start := func() (string, error) {
				var said strings.Builder
				a, err := app.New(t.Context(), app.Options{Paths: p, Listen: "127.0.0.1:0", Logger: slog.New(slog.NewTextHandler(&said, nil))})
				if err == nil {
					err = a.Stop(t.Context())
				}
				return said.String(), err
			}
			if _, err := start(); err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(p.Data, c.file)
			if _, err := os.Stat(at); err != nil {
				if err := os.WriteFile(at, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(at, c.mode); err != nil {
				t.Fatal(err)
			}
			said, err := start()
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if strings.Contains(said, "can read a file") != (c.told != "") {
				t.Errorf("it said %s", said)
			}
		})
	}
}
