package datafolder

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/base/fileowner"
)

// privateNames are the files of a data folder that are their owner's alone.
var privateNames = []string{
	"words.key", "tokens.json", "people.json", "push.json", "tidemark.db", "tidemark.db-wal", "tidemark.db-shm", "tidemark.db-head",
	"report.counts", "tls.pem", "elsewhere.json", "machine.token",
}

// PrivateFiles are the files of a data folder that are their owner's alone, whether they are there or not.
func PrivateFiles(folder string) []string {
	out := make([]string, len(privateNames))
	for i, name := range privateNames {
		out[i] = filepath.Join(folder, name)
	}
	return out
}

// CheckPrivate refuses secrets that others on this machine can read.
func CheckPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read secrets: %w", err)
	}
	if fileowner.Open(info, 0o077) {
		return fmt.Errorf("read secrets: %s is readable by others (run: chmod 600 %s)", path, path)
	}
	return nil
}

// Guarded refuses a data folder that anybody may change, and a log that others than its owner may: who can put another file in
// the place of one decides what is remembered. What others can only read is told.
func (p Paths) Guarded(logger *slog.Logger) error {
	info, err := os.Stat(p.Data)
	if err != nil {
		return fmt.Errorf("look at the data folder: %w", err)
	}
	if fileowner.Open(info, 0o002) && info.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("the data folder %s can be changed by every user (run: chmod 700 %s)", p.Data, p.Data)
	}
	for _, name := range PrivateFiles(p.Data) {
		info, err := os.Stat(name)
		switch {
		case err != nil: // there is none, or the next to look at it says why
		case fileowner.Open(info, 0o022):
			return fmt.Errorf("%s can be changed by other users (run: chmod 600 %s)", name, name)
		case fileowner.Open(info, 0o044):
			logger.Warn("other users can read a file of the data folder", "file", name, "mend", "chmod 600 "+name)
		}
	}
	return nil
}
