package app_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

// What servers share is taken from a folder at each start: tokens that were changed there count, another key is refused.
func TestServersTakeWhatTheyShare(t *testing.T) {
	shared, data := t.TempDir(), t.TempDir()
	t.Setenv("TIDEMARK_SECRETS", shared)
	start := func() error {
		t.Helper()
		a, err := app.New(t.Context(), app.Options{Paths: datafolder.Paths{Data: data}, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		return a.Stop(t.Context())
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(shared, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := start(); err == nil || !strings.Contains(err.Error(), "TIDEMARK_SECRETS") {
		t.Errorf("an empty folder: %v", err)
	}
	write("words.key", strings.Repeat("ab", 32)+"\n")
	for range 2 { // the second time they were changed
		if _, _, err := accounts.LoadTokens(filepath.Join(shared, "tokens.json")); err != nil {
			t.Fatal(err)
		}
		if err := start(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"words.key", "tokens.json"} {
			want, _ := os.ReadFile(filepath.Join(shared, name))
			got, err := os.ReadFile(filepath.Join(data, name))
			info, _ := os.Stat(filepath.Join(data, name))
			if err != nil || string(got) != string(want) || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, mode %v", name, err, info.Mode())
			}
		}
		if err := os.Remove(filepath.Join(shared, "tokens.json")); err != nil {
			t.Fatal(err)
		}
	}
	write("tokens.json", "{}")
	write("words.key", strings.Repeat("cd", 32)+"\n")
	if err := start(); err == nil || !strings.Contains(err.Error(), "another key") {
		t.Errorf("another key: %v", err)
	}
}
