package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/strictjson"
	"github.com/tidemark/tidemark/trust"
)

// "tidemark install" leaves a record of what it wrote into an agent's settings. At the start
// of a session, and where the agent tells that its settings changed, the hook compares. It
// is a quick look: is our text still there, is nothing there that turns hooks off? What
// exactly changed is said by "tidemark doctor".

// record is the part of an installation's record that the quick look needs.
type record struct {
	Project string `json:"project"`
	Managed bool   `json:"managed"`
	Files   []struct {
		Path  string `json:"path"`
		Hash  string `json:"hash"`
		Own   bool   `json:"own"`
		Block string `json:"block"`
		Parts []struct {
			Text string `json:"text"`
		} `json:"parts"`
	} `json:"files"`
}

// maxSettings bounds a settings file that is looked at.
const maxSettings = 4 << 20

// disabling are settings that turn hooks off, without white space.
var disabling = regexp.MustCompile(`"disableAllHooks":true|"hooksConfig":\{[^}]*"enabled":false`)

// tampered says what is wrong with the settings of this agent; "" is good news. A record
// that cannot be read is bad news: whoever can write it could hide behind it.
func tampered(data, agent, cwd string, changed ...string) string {
	names, err := filepath.Glob(filepath.Join(data, "installed", agent+"*.json"))
	if err != nil {
		return fmt.Sprintf("the records of the installation cannot be listed: %v", err)
	}
	for _, name := range names {
		base := strings.TrimSuffix(filepath.Base(name), ".json")
		if base != agent && !strings.HasPrefix(base, agent+"@") {
			continue
		}
		var r record
		if err := readRecord(name, &r); err != nil {
			return fmt.Sprintf("the record of the installation cannot be read: %v", err)
		}
		if r.Project != "" && !inside(cwd, r.Project) {
			continue
		}
		if why := r.compare(); why != "" {
			return why
		}
	}
	if len(names) == 0 {
		return ""
	}
	return turnedOff(changed)
}

// watched compares at the start of a session. The person is told, and so is the server:
// whoever changed the settings may have had a hand in the context too.
func (a *Adapter) watched(ctx context.Context, s *server, o Options, e *Event, c hook.Context) error {
	why := tampered(o.Data, a.name, e.Cwd, a.elsewhere(e)...)
	if why == "" {
		return nil
	}
	if err := census(ctx, s, c, hook.Source{Kind: "changed_settings", Trust: trust.Untrusted}); err != nil {
		return err
	}
	return fmt.Errorf("%s, so the session counts as untrusted (look: tidemark doctor %s; mend: tidemark install %s)", why, a.name, a.name)
}

// unhooks says why a change of the settings must not take effect: it would take our hooks
// out. Any other change is judged as the writing of a file.
func (a *Adapter) unhooks(o Options, e *Event) string {
	if a.name != "claude" || e.Name != "ConfigChange" {
		return ""
	}
	var changed struct {
		Path string `json:"path"`
	}
	if err := strictjson.Unmarshal(e.Params, &changed); err != nil {
		return "Tidemark: the change of the settings cannot be read, so it does not take effect"
	}
	if why := tampered(o.Data, a.name, e.Cwd, append(a.elsewhere(e), changed.Path)...); why != "" {
		return "Tidemark: this change of the settings does not take effect: " + why
	}
	return ""
}

// elsewhere are a project's files that can turn hooks off.
func (a *Adapter) elsewhere(e *Event) []string {
	if a.name != "claude" || e.Cwd == "" {
		return nil
	}
	return []string{filepath.Join(e.Cwd, ".claude", "settings.json"), filepath.Join(e.Cwd, ".claude", "settings.local.json")}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func readRecord(name string, r *record) error {
	raw, err := readSome(name)
	if err != nil {
		return err
	}
	return strictjson.Unmarshal(raw, r)
}

func inside(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func (r *record) compare() string {
	for _, f := range r.Files {
		raw, err := readSome(f.Path)
		if errors.Is(err, os.ErrNotExist) {
			return f.Path + " is gone"
		}
		if err != nil {
			return fmt.Sprintf("the settings cannot be read: %v", err)
		}
		if f.Own || f.Block != "" {
			if f.Own && digest(raw) != f.Hash || !bytes.Contains(raw, []byte(f.Block)) {
				return f.Path + " was changed"
			}
			continue
		}
		tight := squeeze(raw)
		for _, p := range f.Parts {
			if !bytes.Contains(tight, []byte(p.Text)) {
				return "a hook of Tidemark was removed from " + f.Path + " or changed there"
			}
		}
		if disabling.Match(tight) {
			return f.Path + " turns the hooks off"
		}
	}
	return ""
}

// turnedOff looks at files that are not ours but can turn hooks off.
func turnedOff(paths []string) string {
	for _, path := range paths {
		if path == "" {
			continue
		}
		raw, err := readSome(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Sprintf("the settings cannot be read: %v", err)
		}
		if disabling.Match(squeeze(raw)) {
			return path + " turns the hooks off"
		}
	}
	return ""
}

func readSome(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(raw) > maxSettings {
		return nil, fmt.Errorf("%s is too large", name)
	}
	return raw, nil
}

// squeeze takes white space out, so that laying a file out anew is no change.
func squeeze(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			out = append(out, c)
		}
	}
	return out
}
