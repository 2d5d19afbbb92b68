package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// WorkspaceOf is the folder that is worked on by somebody who is in dir: the root of the repository that dir lies in, or dir. A
// repository around the home folder is one of settings, and no workspace.
func WorkspaceOf(dir, home string) string {
	for at := dir; at != "/" && at != home && at != "."; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return dir
}

// settle makes every path of a Want the real one, and refuses a workspace that holds more than somebody's work.
func (w *Want) settle() error {
	if w.Workspace == "" || w.Home == "" || w.State == "" {
		return errors.New("make box: workspace, home and state are needed")
	}
	if !slices.Contains([]string{"", "caches", "home", "none"}, w.Layer) {
		return fmt.Errorf("make box: %q is no layer", w.Layer)
	}
	var err error
	for _, path := range []*string{&w.Workspace, &w.Home} {
		if *path, err = realPath(*path); err != nil {
			return fmt.Errorf("make box: %w", err)
		}
	}
	if w.State, err = filepath.Abs(w.State); err != nil {
		return fmt.Errorf("make box: %w", err)
	}
	for _, list := range [][]string{w.Hide, w.Read, w.Write} {
		for i, path := range list {
			if real, err := realPath(path); err == nil {
				list[i] = real
			} else if !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("make box: %w", err)
			}
		}
	}
	for _, name := range w.Own {
		path := filepath.Join(w.Home, name)
		if !filepath.IsLocal(name) || name == "." || inside(path, w.Workspace) || inside(w.Workspace, path) {
			return fmt.Errorf("make box: %s is no folder of the home folder that the box could have for itself", name)
		}
	}
	for file := range w.Files {
		if !slices.ContainsFunc(w.Own, func(own string) bool {
			return file != own && filepath.IsLocal(file) && inside(filepath.Clean(file), own)
		}) {
			return fmt.Errorf("make box: %s lies in no folder of the box's own", file)
		}
	}
	return w.checkWorkspace()
}

func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

func (w *Want) checkWorkspace() error {
	ws := w.Workspace
	if info, err := os.Stat(ws); err != nil || !info.IsDir() {
		return fmt.Errorf("make box: the workspace %s is no folder", ws)
	}
	top := slices.Concat(places.of("system"), places.of("machine"), []string{
		"proc", "sys", "dev", "run", "tmp", "boot", "home", "mnt", "media",
	})
	switch name, below, _ := strings.Cut(strings.TrimPrefix(ws, "/"), "/"); {
	case ws == "/" || below == "" && slices.Contains(top, name) || ws == "/usr/local":
		return fmt.Errorf("make box: %s is part of the system and cannot be the workspace: name a folder of your work", ws)
	case inside(w.Home, ws):
		return fmt.Errorf("make box: the workspace %s holds your home folder: name a folder of your work", ws)
	case inside(ws, w.State) || slices.ContainsFunc(w.Hide, func(h string) bool { return inside(ws, h) }):
		return fmt.Errorf("make box: the workspace %s lies in the monitor's own data", ws)
	}
	return nil
}

// inside reports whether a path is another or lies below it.
func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
