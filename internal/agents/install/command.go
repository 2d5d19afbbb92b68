package install

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// number finds a version in what a program prints about itself.
var number = regexp.MustCompile(`\d+\.\d+(\.\d+)*`)

// versionLimit bounds how long an agent may take to say its version.
const versionLimit = 15 * time.Second

// locate finds the agent's program and version.
func (a *agent) locate(ctx context.Context, w World) (program, version string) {
	for _, name := range a.Programs {
		found, err := lookPath(w, name)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, versionLimit)
		defer cancel()
		cmd := exec.CommandContext(ctx, found, "--version") //nolint:gosec // one of the agents' fixed names
		cmd.WaitDelay = time.Second
		if out, err := cmd.Output(); err == nil {
			version = number.FindString(string(out))
		}
		return found, version
	}
	return "", ""
}

// lookPath searches the PATH of the world.
func lookPath(w World, name string) (string, error) {
	if w.Getenv == nil {
		return exec.LookPath(name)
	}
	for _, dir := range filepath.SplitList(w.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // the working folder may be the agent's
		}
		full := filepath.Join(dir, name)
		if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return full, nil
		}
	}
	return "", exec.ErrNotFound
}

// atLeast compares versions number by number. One that is not known is older.
func atLeast(version, want string) bool {
	have := strings.Split(version, ".")
	for i, w := range strings.Split(want, ".") {
		need, err := strconv.Atoi(w)
		if err != nil || i >= len(have) {
			return false
		}
		got, err := strconv.Atoi(have[i])
		if err != nil || got < need {
			return false
		}
		if got > need {
			return true
		}
	}
	return true
}
