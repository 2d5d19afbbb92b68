package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
		return fmt.Sprintf("it cannot be found out whether %s trusts %s: %v", a.title, w.Project, err)
	case !ok:
		return fmt.Sprintf("%s does not trust %s, so it skips the project's hooks without a word: start it there once and trust the folder", a.title, w.Project)
	}
	return ""
}

// codexAdmits reports whether Codex trusts the project, or the repository that it is in.
func codexAdmits(w World) (bool, error) {
	c, err := readCodex(w, filepath.Join(w.folder("CODEX_HOME", ".codex"), "config.toml"))
	if err != nil {
		return false, err
	}
	for _, folder := range []string{w.Project, repository(w.Project)} {
		p, err := c.table("projects", folder)
		if err != nil || p != nil {
			return err == nil && p["trust_level"] == "trusted", err
		}
	}
	return false, nil
}

// repository is the folder above that is under version control; "" where none is.
func repository(folder string) string {
	for {
		if _, err := os.Lstat(filepath.Join(folder, ".git")); err == nil {
			return folder
		}
		up := filepath.Dir(folder)
		if up == folder {
			return ""
		}
		folder = up
	}
}

// copilotAdmits reports whether the project is in a folder that Copilot trusts.
func copilotAdmits(w World) (bool, error) {
	src, err := w.readFile(filepath.Join(w.folder("COPILOT_HOME", ".copilot"), "config.json"))
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
	n := d.Find("trustedFolders")
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
