// Package localserver starts and stops the server of a data folder, and has the system or the hooks of agents start it.
package localserver

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/datafolder"
)

// Service keeps the server of one data folder running for its user.
type Service struct {
	System  string // linux or darwin
	Home    string
	UID     int
	Program string // path of tidemark
	Data    string
	Config  string // policy file; "": the one in the data folder, if there is one

	Kept string // where Install put a definition that somebody had changed; "": there was none

	undo func() error // takes back what Install wrote
}

// errNoService is a system that nothing is known about.
var errNoService = errors.New("services are known on Linux (systemd) and macOS (launchd); " +
	"on Windows tidemark-winservice makes one (docs/contrib.md), elsewhere have tidemark serve started at logon")

// ServiceName is what the service is called.
const ServiceName = "tidemark"

// label is its name among launchd's.
const label = "dev.tidemark.server"

// File is where its definition goes, and what stands in it.
func (s *Service) File() (path string, text []byte, err error) {
	switch s.System {
	case "linux":
		return filepath.Join(s.Home, ".config", "systemd", "user", ServiceName+".service"), s.unit(), nil
	case "darwin":
		return filepath.Join(s.Home, "Library", "LaunchAgents", label+".plist"), s.plist(), nil
	}
	return "", nil, errNoService
}

func (s *Service) command() []string {
	out := []string{s.Program, "serve", "--data", s.Data}
	if s.Config != "" {
		out = append(out, "--config", s.Config)
	}
	return out
}

// unit is for systemd. What systemd would read in a path is taken out of it.
func (s *Service) unit() []byte {
	words := s.command()
	for i, w := range words {
		words[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`).Replace(w) + `"`
	}
	return []byte(`[Unit]
Description=Tidemark, a reference monitor for AI agents

[Service]
ExecStart=` + strings.Join(words, " ") + `
ExecReload=/bin/kill -HUP $MAINPID
Restart=always
RestartSec=1
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`)
}

// plist is for launchd.
func (s *Service) plist() []byte {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + label + `</string>
	<key>ProgramArguments</key>
	<array>
`)
	for _, w := range s.command() {
		b.WriteString("\t\t<string>")
		_ = xml.EscapeText(&b, []byte(w)) // a buffer takes everything
		b.WriteString("</string>\n")
	}
	b.WriteString(`	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<true/>
	<key>Umask</key>
	<integer>63</integer>
</dict>
</plist>
`)
	return b.Bytes()
}

// Install writes the definition and has the system start it, now and at every login.
func (s *Service) Install(ctx context.Context) (string, error) {
	path, text, err := s.File()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("install service: %w", err)
	}
	if err := s.write(path, text); err != nil {
		return "", fmt.Errorf("install service: %w", err)
	}
	steps := [][]string{
		{"systemctl", "--user", "daemon-reload"},
		{"systemctl", "--user", "enable", ServiceName},
		{"systemctl", "--user", "restart", ServiceName},
	}
	if s.System == "darwin" {
		_ = call(ctx, "launchctl", "bootout", s.target()) // an older one, if any
		steps = [][]string{{"launchctl", "bootstrap", fmt.Sprintf("gui/%d", s.UID), path}}
	}
	for _, step := range steps {
		if err := call(ctx, step...); err != nil {
			return path, fmt.Errorf("install service: %w (its definition is in %s)", err, path)
		}
	}
	return path, nil
}

// write puts the definition in its place. One that somebody changed is kept beside it: secrets of
// channels are often in it, as settings of the environment.
func (s *Service) write(path string, text []byte) error {
	was, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		s.undo = func() error { return os.Remove(path) }
	case err != nil:
		return err
	case bytes.Equal(was, text):
		s.undo = func() error { return nil }
		return nil
	default:
		s.Kept = path + ".bak"
		if err := datafolder.Replace(s.Kept, was, 0o600); err != nil {
			return fmt.Errorf("keep the definition as it was: %w", err)
		}
		s.undo = func() error { return datafolder.Replace(path, was, 0o600) }
	}
	return datafolder.Replace(path, text, 0o600)
}

// Undo takes back what Install wrote, and no more than that.
func (s *Service) Undo() error {
	if s.undo == nil {
		return nil
	}
	return s.undo()
}

func (s *Service) target() string { return fmt.Sprintf("gui/%d/%s", s.UID, label) }

// Remove stops it and takes its definition away.
func (s *Service) Remove(ctx context.Context) (string, error) {
	path, _, err := s.File()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("remove service: none is installed (%s does not exist)", path)
	}
	stop := []string{"systemctl", "--user", "disable", "--now", ServiceName}
	if s.System == "darwin" {
		stop = []string{"launchctl", "bootout", s.target()}
	}
	if err := errors.Join(call(ctx, stop...), os.Remove(path)); err != nil {
		return path, fmt.Errorf("remove service: %w", err)
	}
	if s.System == "linux" {
		return path, call(ctx, "systemctl", "--user", "daemon-reload")
	}
	return path, nil
}

// Active reports whether its definition is there, and whether the system says it runs.
func (s *Service) Active(ctx context.Context) (installed, running bool, err error) {
	path, _, err := s.File()
	if err != nil {
		return false, false, err
	}
	if _, err := os.Stat(path); err != nil {
		return false, false, datafolder.IgnoreMissing(err)
	}
	if s.System == "darwin" {
		return true, call(ctx, "launchctl", "print", s.target()) == nil, nil
	}
	return true, call(ctx, "systemctl", "--user", "is-active", "--quiet", ServiceName) == nil, nil
}

// call runs a program of the system's; its own words are the error.
func call(ctx context.Context, words ...string) error {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // programs of the system, by names of ours
	// In another root systemctl does nothing and says that it went well: nothing would run, and everybody would wait for it.
	cmd.Env = append(os.Environ(), "SYSTEMD_IGNORE_CHROOT=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w %s", strings.Join(words, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Sweep removes the folders that a definition was put into, where nothing else is in them.
func (s *Service) Sweep() {
	path, _, err := s.File()
	top := len(filepath.Join(s.Home, ".config"))
	for dir := filepath.Dir(path); err == nil && s.System == "linux" && len(dir) > top; dir = filepath.Dir(dir) {
		if err = os.Remove(dir); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
}
