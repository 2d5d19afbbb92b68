package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

func TestWhatIsDoneToAHookProgramIsNoticed(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(hook string) error
		want string
	}{
		"nothing":           {func(string) error { return nil }, ""},
		"replaced":          {func(hook string) error { return os.WriteFile(hook, []byte("true"), 0o700) }, "is not the program that was installed"},
		"emptied":           {func(hook string) error { return os.Truncate(hook, 0) }, "is not the program that was installed"},
		"made unexecutable": {func(hook string) error { return os.Chmod(hook, 0o600) }, "cannot be started"},
		"gone":              {os.Remove, "is gone"},
		"replaced, an old one": {func(hook string) error {
			if err := os.WriteFile(hook, []byte("true"), 0o700); err != nil {
				return err
			}
			return os.Chtimes(hook, time.Unix(0, 0), time.Unix(0, 0))
		}, "is not the program that was installed"},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			hook := filepath.Join(data, "tidemark-hook")
			if err := os.WriteFile(hook, []byte("hook"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(data, "installed"), 0o700); err != nil {
				t.Fatal(err)
			}
			raw, err := strictjson.Marshal(settings.Record{Agent: "claude", Hook: hook, HookHash: settings.Hash([]byte("hook")), Time: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(data, "installed", "claude.json"), raw, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := tt.do(hook); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(settings.Changed(data), "; "); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
