package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// codexStage writes the settings of the trial's Codex. The trust entries are made anew,
// because they name the place of the hooks; but only where the real ones hold.
func codexStage(r *rig, hooks []byte) error {
	config := fmt.Sprintf("model = \"gpt-5.2-codex\"\nmodel_provider = \"canary\"\n\n[model_providers.canary]\nname = \"canary\"\n"+
		"base_url = %q\nwire_api = \"responses\"\nenv_key = \"CANARY_KEY\"\n\n", r.url+"/v1")
	real, err := readCodex(r.w, r.w.file(r.agent.Config))
	if err != nil {
		return err
	}
	carried, err := real.carried()
	if err != nil {
		return err
	}
	config += carried + r.project()
	path := filepath.Join(r.home, r.agent.Config.Home, r.agent.Config.File)
	if r.w.Managed { // these need no entries
		return writeNew(path, []byte(config))
	}
	trusted, err := codexTrusted(r.w, r.agent)
	if err != nil {
		return err
	}
	if trusted {
		block, err := codexTrust(r.hooks(), hooks, r.w)
		if err != nil {
			return err
		}
		config += block
	}
	return writeNew(path, []byte(config))
}

// project is how Codex looks at the folder of the trial: as at the real one. Left to itself it
// trusts a folder that it may write to.
func (r *rig) project() string {
	if r.w.Project == "" {
		return ""
	}
	level := "trusted"
	if r.agent.skips(r.w) != "" {
		level = "untrusted"
	}
	return fmt.Sprintf("[projects.%q]\ntrust_level = %q\n\n", r.work, level)
}

// codexTrusted reports whether the real trust entries fit the real hooks.
func codexTrusted(w World, a *agent) (bool, error) {
	want, path, err := codexWants(w, a)
	if err != nil {
		return false, err
	}
	config, err := settings.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return holdsBlock(config, want), err
}

// codexWants are the trust entries that the real hooks need, and the file to hold them.
func codexWants(w World, a *agent) (block, path string, err error) {
	files, err := a.files(w, Options{})
	if err != nil {
		return "", "", err
	}
	hooks, err := w.readFile(files[0].Path)
	if err != nil {
		return "", "", err
	}
	block, err = codexTrust(files[0].Path, hooks, w)
	return block, files[1].Path, err
}

// codexAdmits reports whether Codex trusts the project, or the repository that it is in.
func codexAdmits(w World, config string) (bool, error) {
	c, err := readCodex(w, config)
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
