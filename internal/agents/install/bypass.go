package install

import (
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/project"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Case is when an agent would run a tool without asking us.
type Case struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Fix  string `json:"fix,omitzero"` // what rules it out
}

// bypasses are the ways past our hooks that nothing rules out here.
func (a *agent) bypasses(w World) []Case {
	var out []Case
	managed := a.managedToo(w)
	for _, b := range a.Bypasses {
		if b.Pin != nil && pinned(w, b.Pin) || b.Pin == nil && b.Managed && managed {
			continue
		}
		out = append(out, Case{Name: b.Name, Text: b.Text, Fix: a.remedy(b)})
	}
	return append(out, a.unsettled(w)...)
}

// unsettled is what the project worked on sets that is not known to be harmless and that nobody has accepted.
func (a *agent) unsettled(w World) []Case {
	found, err := ProjectSettings(w, a.Name)
	if err != nil {
		return []Case{{Name: "settings here", Text: err.Error()}}
	}
	var out []Case
	for _, f := range project.Open(w.Data, found) {
		out = append(out, Case{
			Name: "settings here", Text: f.String() + " may run programs or send the conversation elsewhere; the hook refuses to work here",
			Fix: "take it out, or look at it and accept it: tidemark trust settings " + a.Name,
		})
	}
	return out
}

// ProjectSettings are the settings of the project worked on that are not known to be harmless.
func ProjectSettings(w World, agent string) ([]project.Finding, error) {
	var dirs []string
	for _, dir := range w.folders() {
		if dir != w.Home {
			dirs = append(dirs, dir)
		}
	}
	return project.Find(project.Look{Agent: agent, Folders: dirs, Home: w.Home, Texts: true, Ours: project.Installed(w.Data, agent)})
}

// managedToo reports whether our hooks stand in the administrator's settings, be it beside
// those that are looked at.
func (a *agent) managedToo(w World) bool {
	if a.Place.Managed == "" {
		return false
	}
	w.Managed, w.Project = true, ""
	return a.hooked(w)
}

// remedy is what a person can do about it.
func (a *agent) remedy(b catalogue.Bypass) string {
	if b.Managed {
		return "sudo tidemark install " + a.Name + " --managed"
	}
	return b.Fix
}

// pinned reports whether the administrator's file has the setting. One that cannot be read for
// certain has not.
func pinned(w World, p *catalogue.Pin) bool {
	path := filepath.Join(w.Root, p.File)
	src, err := w.readFile(path)
	if err != nil {
		return false
	}
	if !strings.HasSuffix(path, ".toml") {
		d, err := settings.Parse(src, true)
		if err != nil {
			return false
		}
		n := d.Find(p.Path...)
		return n != nil && settings.Same(d.Raw(n), strictjson.Value(p.Value))
	}
	var c map[string]any
	if toml.Unmarshal(src, &c) != nil {
		return false
	}
	last := len(p.Path) - 1
	t, err := codexConfig(c).table(p.Path[:last]...)
	if err != nil {
		return false
	}
	raw, err := strictjson.Marshal(t[p.Path[last]])
	return err == nil && settings.Same(raw, strictjson.Value(p.Value))
}

// offer says what would rule out that somebody else turns the hooks off; "" where nothing is
// left to do.
func (a *agent) offer(w World) string {
	var names, fixes []string
	for _, c := range a.bypasses(w) {
		if !strings.Contains(c.Fix, "root") && !strings.Contains(c.Fix, "sudo") {
			continue
		}
		names = append(names, c.Name)
		if len(fixes) == 0 || fixes[len(fixes)-1] != c.Fix {
			fixes = append(fixes, c.Fix)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "others can still start " + a.Title + " without these hooks (" + strings.Join(names, ", ") + "; tidemark doctor " + a.Name +
		" says how). To rule it out: " + strings.Join(fixes, "; ")
}
