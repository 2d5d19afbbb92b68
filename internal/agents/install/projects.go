package install

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Some agents take hooks from a project only if the person trusts its folder. Otherwise they
// skip them without a word, and run tools. To trust a folder means more than our hooks, so
// it stays with the person: we look, and say so.

// skips says why the agent passes over the hooks of this project; "" is good news.
func (a *agent) skips(w World) string {
	if w.Project == "" || a.admits == nil {
		return ""
	}
	ok, err := a.admits(w)
	switch {
	case err != nil:
		return fmt.Sprintf("it cannot be found out whether %s trusts %s: %v", a.Title, w.Project, err)
	case !ok:
		return fmt.Sprintf("%s does not trust %s, so it skips the project's hooks without a word: "+
			"start it there once and trust the folder", a.Title, w.Project)
	}
	return ""
}

// listed reports whether the project is in a folder that the agent's own settings list.
func (a *agent) listed(w World) (bool, error) {
	src, err := w.readFile(w.file(a.Config))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d, err := settings.Parse(src, true)
	if err != nil {
		return false, err
	}
	n := d.Find(a.Trusts...)
	if n == nil || n.Kind != '[' {
		return false, nil
	}
	for _, v := range n.Values {
		var folder string
		if strictjson.Unmarshal(d.Raw(v), &folder) != nil || folder == "" {
			continue
		}
		if rel, err := filepath.Rel(folder, w.Project); err == nil && filepath.IsLocal(rel) {
			return true, nil
		}
	}
	return false, nil
}
