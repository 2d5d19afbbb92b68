package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/tidemark/tidemark/internal/base/proof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Running says where a server of this data folder listens.
type Running struct {
	URL string `json:"url"`
	proof.Life
}

// ErrNotRunning is returned when no server has announced itself in the data folder.
var ErrNotRunning = errors.New("no server is running on this data folder")

// FindRunning reads the announcement of a running server. One of a process that is gone
// counts for nothing; where that cannot be told the caller finds out when it connects.
func FindRunning(p Paths) (Running, error) {
	raw, err := os.ReadFile(p.Server())
	if errors.Is(err, os.ErrNotExist) {
		return Running{}, ErrNotRunning
	}
	if err != nil {
		return Running{}, fmt.Errorf("find server: %w", err)
	}
	var r Running
	if err := strictjson.UnmarshalKnown(raw, &r); err != nil {
		return Running{}, fmt.Errorf("find server: %s: %w", p.Server(), err)
	}
	if r.Over() {
		return Running{}, ErrNotRunning
	}
	return r, nil
}

func announce(p Paths, r Running) error {
	raw, err := strictjson.Marshal(r)
	if err != nil {
		return fmt.Errorf("announce server: %w", err)
	}
	tmp := filepath.Join(p.Data, ".server.json.tmp")
	if err := os.WriteFile(tmp, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("announce server: %w", err)
	}
	if err := os.Rename(tmp, p.Server()); err != nil {
		return fmt.Errorf("announce server: %w", err)
	}
	return nil
}

// withdraw removes the announcement if it is still ours.
func withdraw(p Paths, r Running) {
	if now, err := FindRunning(p); err == nil && now == r {
		_ = os.Remove(p.Server())
	}
}

// stamped is what scripts/release calls the tree it builds, for where the Go command cannot tell.
var stamped string

// Version is the version of this program.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case ok && info.Main.Version != "" && info.Main.Version != "(devel)":
		return info.Main.Version
	case stamped != "":
		return stamped
	}
	return "devel"
}
