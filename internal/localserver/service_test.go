package localserver_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/localserver"
)

// fakeSystem puts a systemctl and a launchctl before all others; what they are asked goes into a file.
func fakeSystem(t *testing.T, code string) (calls func() string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"systemctl", "launchctl"} {
		script := "#!/bin/sh\necho \"" + name + " $*\" >> '" + dir + "/calls'\nexit " + code + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() string {
		raw, _ := os.ReadFile(filepath.Join(dir, "calls"))
		return string(raw)
	}
}

func TestAServiceIsInstalledAndRemoved(t *testing.T) {
	for system, want := range map[string][]string{
		"linux":  {"systemctl --user daemon-reload", "systemctl --user enable tidemark", "systemctl --user restart tidemark", "systemctl --user disable --now tidemark"},
		"darwin": {"launchctl bootstrap gui/501 ", "launchctl bootout gui/501/dev.tidemark.server"},
	} {
		t.Run(system, func(t *testing.T) {
			calls := fakeSystem(t, "0")
			s := &localserver.Service{System: system, Home: t.TempDir(), UID: 501, Program: "/opt/tidemark", Data: "/data"}
			if installed, running, err := s.Active(t.Context()); installed || running || err != nil {
				t.Errorf("before: %v, %v, %v", installed, running, err)
			}
			path, err := s.Install(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "/opt/tidemark") {
				t.Errorf("%s holds %s (%v)", path, text, err)
			}
			if installed, running, err := s.Active(t.Context()); !installed || !running || err != nil {
				t.Errorf("installed: %v, %v, %v", installed, running, err)
			}
			if _, err := s.Remove(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is still there (%v)", path, err)
			}
			for _, c := range want {
				if !strings.Contains(calls(), c) {
					t.Errorf("the system was asked\n%s\nand not %q", calls(), c)
				}
			}
			if _, err := s.Remove(t.Context()); err == nil || !strings.Contains(err.Error(), "none is installed") {
				t.Errorf("removed twice: %v", err)
			}
		})
	}
}

// Where the root is another than the system's, systemctl passes over what it is asked and exits with 0, unless it is told not to:
// then there is nobody to ask, and no service is installed.
func TestNoServiceIsInstalledInAnotherRoot(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\n[ \"$SYSTEMD_IGNORE_CHROOT\" = 1 ] || exit 0\necho 'Failed to connect to bus' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "systemctl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	s := localserver.Service{System: "linux", Home: t.TempDir(), Program: "/opt/tidemark", Data: "/data"}
	if path, err := s.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "Failed to connect") {
		t.Errorf("got %q, %v", path, err)
	}
}

// What somebody wrote into the definition is kept, and what a failed start wrote is taken back.
func TestADefinitionThatSomebodyChangedIsKept(t *testing.T) {
	fakeSystem(t, "0")
	s := localserver.Service{System: "linux", Home: t.TempDir(), Program: "/opt/tidemark", Data: "/data"}
	first := s
	path, err := first.Install(t.Context())
	if err != nil || first.Kept != "" {
		t.Fatalf("the first: kept %q, %v", first.Kept, err)
	}
	again := s
	if _, err := again.Install(t.Context()); err != nil || again.Kept != "" {
		t.Errorf("the same once more: kept %q, %v", again.Kept, err)
	}
	if err := again.Undo(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("undoing an installation that changed nothing removed it: %v", err)
	}
	edited := string(text) + "Environment=SLACK_BOT_TOKEN=x\n"
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	last := s
	if _, err := last.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(last.Kept); err != nil || string(kept) != edited {
		t.Errorf("kept in %q: %s, %v", last.Kept, kept, err)
	}
	if err := last.Undo(); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != edited {
		t.Errorf("after undoing: %s, %v", now, err)
	}
}

func TestAServiceThatCannotBeStartedIsSaid(t *testing.T) {
	fakeSystem(t, "4")
	s := &localserver.Service{System: "linux", Home: t.TempDir(), Program: "/opt/tidemark", Data: "/data"}
	if path, err := s.Install(t.Context()); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "daemon-reload") {
		t.Errorf("got %v, want what failed and where the definition is", err)
	}
	if _, _, err := (&localserver.Service{System: "plan9"}).File(); err == nil || !strings.Contains(err.Error(), "tidemark serve") {
		t.Errorf("on a system nobody knows: %v", err)
	}
}

// Paths may hold anything that a file system takes; none of it may become another command.
func TestPathsInAServiceAreQuoted(t *testing.T) {
	s := &localserver.Service{Home: t.TempDir(), Program: `/opt/my "tools"/tide%mark`, Data: `/d/$HOME <&> \n`}
	s.System = "linux"
	_, unit, err := s.File()
	if err != nil || !strings.Contains(string(unit), `ExecStart="/opt/my \"tools\"/tide%%mark" "serve" "--data" "/d/$$HOME <&> \\n"`+"\n") {
		t.Errorf("got %s (%v)", unit, err)
	}
	s.System = "darwin"
	_, plist, err := s.File()
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for d, in := xml.NewDecoder(strings.NewReader(string(plist))), false; ; {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, plist)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			in = tok.Name.Local == "string"
		case xml.CharData:
			if in {
				words = append(words, string(tok))
			}
		case xml.EndElement:
			in = false
		}
	}
	if got := strings.Join(words, "|"); got != `dev.tidemark.server|/opt/my "tools"/tide%mark|serve|--data|/d/$HOME <&> \n` {
		t.Errorf("launchd would run %q", got)
	}
}

// systemd itself reads the unit, where it is here.
func TestSystemdTakesTheUnit(t *testing.T) {
	analyze, err := osexec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd is not here")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &localserver.Service{System: "linux", Home: t.TempDir(), Program: program, Data: t.TempDir()}
	_, unit, err := s.File()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tidemark.service")
	if err := os.WriteFile(file, unit, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if out, err := osexec.CommandContext(t.Context(), analyze, "verify", "--user", file).CombinedOutput(); err != nil || strings.Contains(string(out), "tidemark.service:") {
		t.Errorf("%v\n%s", err, out)
	}
}

// What services are not known for says what to do.
func TestElsewhereNoServiceIsMade(t *testing.T) {
	for _, system := range []string{"windows", "plan9"} {
		s := localserver.Service{System: system, Program: "tidemark", Data: t.TempDir()}
		_, _, failed := s.Active(t.Context())
		_, err := s.Install(t.Context())
		_, gone := s.Remove(t.Context())
		for _, err := range []error{failed, err, gone} {
			if err == nil || !strings.Contains(err.Error(), "tidemark-winservice") {
				t.Errorf("%s: got %v", system, err)
			}
		}
	}
}
