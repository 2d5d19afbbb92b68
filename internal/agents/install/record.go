package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

func optionsOf(r *settings.Record) Options {
	return Options{
		Timeout: time.Duration(r.Timeout) * time.Millisecond, Wait: time.Duration(r.Wait) * time.Millisecond,
		Sender: r.Sender, Start: r.Start, Box: r.Box,
	}
}

func (w World) recordName(agent string) string {
	return settings.RecordName(agent, w.Project, w.Managed)
}

func (w World) recordFile(agent string) string {
	return settings.RecordFile(w.Data, w.recordName(agent))
}

// readRecord is nil where nothing is on record.
func readRecord(w World, agent string) (*settings.Record, error) {
	r, err := settings.ReadRecord(w.recordFile(agent))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read record of installation %s: %w", w.recordFile(agent), err)
	}
	return r, nil
}

// since is the world with the hook program of an earlier installation, which is ours too.
func (w World) since(r *settings.Record) World {
	if r != nil {
		w.earlier = r.Hook
	}
	return w
}

// ours reports whether an element of a list starts our hook and nothing else.
func (w World) ours(raw []byte) bool { return settings.Ours(raw, w.programs()...) }

func (w World) programs() []string {
	if w.earlier == "" || w.earlier == w.Hook {
		return []string{w.Hook}
	}
	return []string{w.Hook, w.earlier}
}

// maxProgram bounds the hook program, far above its size.
const maxProgram = 256 << 20

// hashProgram is the hash of the hook program.
func hashProgram(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxProgram {
		return "", fmt.Errorf("%s is not a program", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return settings.Hash(raw), nil
}
