package install

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
)

// Hooks beside the machine's own settings of Codex need no trust entries, and no user, project or
// flag turns one of them off. All of them together can be turned off, unless a requirement keeps
// hooks on: that is written too, between marks.

// codexRequired is the text of it.
const codexRequired = "[features]\nhooks = true\n"

// codexManaged adds the requirement to what is written. One that the administrator wrote is
// enough, and stays theirs.
func codexManaged(w World, plan []file) ([]file, error) {
	pin := catalogue.CodexPin()
	path := filepath.Join(w.Root, pin.File)
	src, err := w.readFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	_, _, _, marked := settings.Around(src)
	if !marked && pinned(w, pin) {
		return plan, nil
	}
	return append(plan, file{
		File: catalogue.File{Path: path}, heads: header(codexRequired),
		block: func(map[string][]byte) (string, error) {
			if others, err := codexFeatures(src, marked); err == nil && others {
				return "", refuseFile(path,
					"it has features already, to which Tidemark does not add: write hooks = true among them, and install again")
			}
			return codexRequired, nil
		},
	}), nil
}

// codexFeatures reports whether a file has features that are not ours.
func codexFeatures(src []byte, marked bool) (bool, error) {
	var c map[string]any
	if err := toml.Unmarshal(src, &c); err != nil {
		return false, err // said where it is written
	}
	features, there := c["features"]
	t, ok := features.(map[string]any)
	return there && (!marked || !ok || len(t) > 1 || t["hooks"] == nil), nil
}

// codexUnpinned says that nothing keeps the administrator's hooks on.
func codexUnpinned(w World) []string {
	pin := catalogue.CodexPin()
	if pinned(w, pin) {
		return nil
	}
	return []string{fmt.Sprintf("%s: features.hooks is not true, so a project or a flag can turn the hooks off; install again",
		filepath.Join(w.Root, pin.File))}
}
