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

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// hookTimeout is the hook's own default.
const hookTimeout = 5 * time.Second

// command is the hook as it is written into settings. The data folder is always named:
// a variable of the environment could point somewhere else.
type command struct {
	w     World
	agent string
	o     Options
}

func (c command) args(event string) []string {
	out := []string{"--agent", c.agent}
	if event != "" {
		out = append(out, "--event", event)
	}
	out = append(out, "--data", c.w.Data, "--timeout", c.timeout().String())
	if c.o.Wait > 0 {
		out = append(out, "--wait", c.o.Wait.String())
	}
	if c.o.Sender != "" {
		out = append(out, "--sender", c.o.Sender)
	}
	// The hook then knows that there must be a record, and which.
	return append(out, "--installed", c.w.recordName(c.agent))
}

func (c command) timeout() time.Duration {
	if c.o.Timeout > 0 {
		return c.o.Timeout
	}
	return hookTimeout
}

// argv is the program and its arguments.
func (c command) argv(event string) []string { return append([]string{c.w.Hook}, c.args(event)...) }

// line is the same for agents that hand it to a shell.
func (c command) line(event string) string { return settings.Join(c.argv(event)) }

// seconds is the agent's own limit. When it passes most agents run the tool, so it must
// lie well beyond the moment at which the hook answers by itself.
func (c command) seconds() int {
	own := c.timeout() + c.o.Wait
	return max(60, int((own+time.Second-1)/time.Second)+30)
}

// number finds a version in what a program prints about itself.
var number = regexp.MustCompile(`\d+\.\d+(\.\d+)*`)

// versionLimit bounds how long an agent may take to say its version.
const versionLimit = 15 * time.Second

// locate finds the agent's program and version.
func (a *agent) locate(ctx context.Context, w World) (program, version string) {
	for _, name := range a.programs {
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
