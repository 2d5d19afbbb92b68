package diagnosis_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/diagnosis"
)

func TestWhatSessionsMayTakeIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		file, given int64
		want        string
	}{
		"by the machine":   {0, 24 << 30, "at most 512 MB together: a quarter of the 24576 MB"},
		"by a container":   {0, 256 << 20, "at most 64 MB together: a quarter of the 256 MB"},
		"nobody says":      {0, 0, "at most 64 MB together: nobody says"},
		"the file says so": {96 << 20, 24 << 30, "at most 96 MB together (server.sessionMemoryMB)"},
	} {
		if got := diagnosis.MemoryLine(&config.Config{Server: config.Server{Memory: c.file}}, c.given); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
