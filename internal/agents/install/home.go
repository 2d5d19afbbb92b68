package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/datafolder"
)

// HomeWorld is where the agents of the person who runs this program are. hook is the
// path of the hook program; "" is beside this one.
func HomeWorld(p datafolder.Paths, hook, project string) (World, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return World{}, errors.New("find agents: no home directory")
	}
	if hook == "" {
		self, err := os.Executable()
		if err != nil {
			return World{}, fmt.Errorf("find hook program: %w", err)
		}
		hook = settings.HookFile(filepath.Dir(self))
	}
	w := World{Home: home, Data: p.Data, Hook: hook, Project: project, Getenv: os.Getenv}
	for _, path := range []*string{&w.Data, &w.Hook, &w.Project} { // records and settings name them in full
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return World{}, fmt.Errorf("find folder: %w", err)
		}
	}
	return w, nil
}
