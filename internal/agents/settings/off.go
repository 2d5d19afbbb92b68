package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Switch is a setting that turns hooks off.
type Switch struct {
	Path  []string
	Value string // JSON; a list is a list that holds its element
	Lacks bool   // off where the list does not hold the element; one that is empty or not there says nothing
}

// switches are the settings that turn each agent's hooks off.
var switches = map[string][]Switch{
	"claude":  {{Path: []string{"disableAllHooks"}, Value: "true"}},
	"copilot": {{Path: []string{"disableAllHooks"}, Value: "true"}},
	"gemini": {
		{Path: []string{"hooksConfig", "enabled"}, Value: "false"}, {Path: []string{"hooks", "enabled"}, Value: "false"},
		{Path: []string{"tools", "enableHooks"}, Value: "false"},
		{Path: []string{"hooksConfig", "disabled"}, Value: `["tidemark"]`}, {Path: []string{"hooks", "disabled"}, Value: `["tidemark"]`},
	},
	"droid": {
		{Path: []string{"disableAllHooks"}, Value: "true"}, {Path: []string{"hooksDisabled"}, Value: "true"},
		{Path: []string{"enableHooks"}, Value: "false"},
	},
	"openclaw": {
		{Path: []string{"plugins", "enabled"}, Value: "false"}, {Path: []string{"plugins", "deny"}, Value: `["tidemark"]`},
		{Path: []string{"plugins", "allow"}, Value: `["tidemark"]`, Lacks: true},
		{Path: []string{"plugins", "entries", "tidemark", "enabled"}, Value: "false"},
		{Path: []string{"plugins", "entries", "tidemark", "config", "failClosed"}, Value: "false"},
	},
}

// elsewhere are the files besides ours where they can stand, at home and in projects.
var elsewhere = map[string][]string{
	"claude":  {".claude/settings.json", ".claude/settings.local.json"},
	"copilot": {".copilot/settings.json", ".copilot/config.json", ".github/copilot/settings.json", ".github/hooks/tidemark.json"},
	"gemini":  {".gemini/settings.json"},
	"droid":   {".factory/settings.json", ".factory/settings.local.json"},
}

// Switches are the settings that turn an agent's hooks off.
func Switches(agent string) []Switch { return slices.Clone(switches[agent]) }

// Elsewhere are the files below a folder, besides the one we write, that can turn an
// agent's hooks off.
func Elsewhere(agent, folder string) []string {
	if folder == "" {
		return nil
	}
	var out []string
	for _, rel := range elsewhere[agent] {
		out = append(out, filepath.Join(folder, filepath.FromSlash(rel)))
	}
	return out
}

// TurnedOff says which of the files turn the agent's hooks off.
func (r Reader) TurnedOff(agent string, files ...string) []string {
	return r.Off(switches[agent], files...)
}

// Off says in which of the files a switch is set. A file that is not there sets none; one
// that cannot be read for certain may.
func (r Reader) Off(all []Switch, files ...string) []string {
	var out []string
	if len(all) == 0 {
		return nil
	}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(files))) {
		d, err := r.Open(path)
		bad := new(Fault)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.As(err, &bad):
			out = append(out, fmt.Sprintf("%s cannot be read for certain, so it may turn the hooks off: %v", path, err))
		case err != nil:
			out = append(out, fmt.Sprintf("the settings cannot be read: %v", err))
		default:
			out = append(out, d.off(path, all)...)
		}
	}
	return out
}

// off says which switches are set.
func (d *Doc) off(path string, all []Switch) []string {
	var out []string
	for _, s := range all {
		n := d.Find(s.Path...)
		if n == nil || !s.set(d.Raw(n)) {
			continue
		}
		name := strings.Join(s.Path, ".")
		if s.Lacks {
			out = append(out, fmt.Sprintf("%s: %s is there and lacks %s, which turns the hooks off", path, name, s.Value))
		} else {
			out = append(out, fmt.Sprintf("%s: %s is %s, which turns the hooks off", path, name, d.Raw(n)))
		}
	}
	return out
}

// set reports whether a value switches hooks off.
func (s Switch) set(raw strictjson.Value) bool {
	want := strictjson.Value(s.Value)
	if want.Kind() != '[' {
		return Same(raw, want)
	}
	var have, one []string
	if strictjson.Unmarshal(raw, &have) != nil || strictjson.Unmarshal(want, &one) != nil {
		return s.Lacks // a list of something else does not hold ours
	}
	holds := slices.ContainsFunc(one, func(x string) bool { return slices.Contains(have, x) })
	if s.Lacks {
		return len(have) > 0 && !holds
	}
	return holds
}
