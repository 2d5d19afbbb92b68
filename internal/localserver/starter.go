package localserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
)

// kept are the variables that a server which a hook starts has, with the values of whoever allowed it. Others it
// does not have, whatever the agent's environment says: one of them names another database for the log.
var kept = []string{
	"HOME", "USER", "LOGNAME", "PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_RUNTIME_DIR",
	"SystemRoot", "SystemDrive", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "ComSpec", // of Windows
}

// AllowStart lets hooks start this program as the server of the data folder, where none runs. What such a server could
// not do is refused here, where a person reads it.
func AllowStart(p datafolder.Paths, program string, getenv func(string) string) error {
	const what = "allow hooks to start the server: %w"
	if p.Store != "" {
		return fmt.Errorf(what, errors.New("the log is in a database that servers share, and hooks start one with a log in the "+
			"data folder; have a service run it"))
	}
	s := shim.Starter{Program: program, Args: []string{"serve", "--unless-running", "--data", p.Data}, Env: []string{}}
	if p.Config != "" && p.Config != filepath.Join(p.Data, datafolder.PolicyName) {
		s.Args = append(s.Args, "--config", p.Config)
	}
	own := map[string]string{}
	for _, name := range kept {
		if v := getenv(name); v != "" {
			own[name] = v
			s.Env = append(s.Env, name+"="+v)
		}
	}
	_, _, err := load.ReadWith(p.Config, func(name string) (string, bool) {
		v, ok := own[name]
		return v, ok
	})
	if err != nil {
		return fmt.Errorf("allow hooks to start the server, which has none of your other variables: %w", err)
	}
	raw, err := strictjson.MarshalIndent(s)
	if err == nil {
		err = errors.Join(p.Create(), datafolder.Replace(shim.StarterFile(p.Data), append(raw, '\n'), 0o600))
	}
	if err != nil {
		return fmt.Errorf(what, err)
	}
	return nil
}

// MayStart reports whether hooks may start the server of the data folder.
func MayStart(p datafolder.Paths) bool {
	_, err := os.Lstat(shim.StarterFile(p.Data))
	return err == nil
}

// ForbidStart takes that back. Agents that run may have hooks of before for as long as they run.
func ForbidStart(p datafolder.Paths) error {
	if err := datafolder.IgnoreMissing(os.Remove(shim.StarterFile(p.Data))); err != nil {
		return fmt.Errorf("forbid hooks to start the server: %w", err)
	}
	return nil
}
