package install

import (
	"fmt"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
)

// agent is an entry of the catalogue, with what of it needs more than the catalogue links.
type agent struct {
	*catalogue.Setup
	extra
}

// extra is the part of an agent that is code of ours. A nil function is an agent that needs
// none.
type extra struct {
	files  func(w World, plan []file, c catalogue.Command) ([]file, error) // completes what is written
	parse  func(src []byte, comments bool) (*settings.Doc, error)          // nil: as JSON
	above  func(w World, a *agent) []string                                // what turns hooks off from above the user
	admits func(w World) (bool, error)                                     // whether it takes hooks from this project
	stage  func(r *rig, hooks []byte) error                                // what a trial needs besides
	script *catalogue.Script
	// settings are those of a trial, of an agent whose hooks are no list in them
	settings func(r *rig, with map[string]any) ([]byte, error)
}

// file is one file to write.
type file struct {
	catalogue.File
	// block is what stands between our marks in a TOML file, from the contents of the
	// files planned before it.
	block func(planned map[string][]byte) (string, error)
	heads string                // how the headers of its tables begin
	alike func(src []byte) bool // of a file that is ours alone: so is this; nil: only what is the same
}

// Names lists the agents that can be installed into.
func Names() []string { return catalogue.SetupNames() }

// ManagedNames lists those that have administrator's settings.
func ManagedNames() []string {
	var out []string
	for _, s := range catalogue.Setups() {
		if s.Place.Managed != "" {
			out = append(out, s.Name)
		}
	}
	return out
}

func find(name string) (*agent, error) {
	s, err := catalogue.FindSetup(name)
	if err != nil {
		return nil, err
	}
	a := &agent{Setup: s}
	switch s.Name {
	case "codex":
		a.extra = codexExtra(s)
	case "opencode":
		a.extra = opencodeExtra()
	case "openclaw":
		a.extra = openclawExtra()
	}
	if s.Script != nil {
		a.script = s.Script
	}
	if s.Locks != nil {
		a.above = locked
	}
	if s.Trusts != nil {
		a.admits = a.listed
	}
	return a, nil
}

// path is the settings file for this world.
func (a *agent) path(w World) (string, error) {
	p := a.Place
	switch {
	case w.Managed && p.Managed == "":
		return "", fmt.Errorf("install %s: it has no administrator's settings that are known well enough; leave --managed out", a.Name)
	case w.Managed && w.Project != "":
		return "", fmt.Errorf("install %s: --managed and --project exclude each other", a.Name)
	case w.Managed:
		return filepath.Join(w.Root, p.Managed), nil
	case w.Project != "" && p.Project == "":
		return "", fmt.Errorf("install %s: it has no project settings; leave --project out", a.Name)
	case w.Project != "":
		return filepath.Join(w.Project, filepath.FromSlash(p.Project)), nil
	case p.User == (catalogue.Place{}):
		return "", fmt.Errorf("install %s: its hooks belong to a project; give --project DIR", a.Name)
	}
	return w.file(p.User), nil
}

// files are the files of an installation here.
func (a *agent) files(w World, o Options) ([]file, error) {
	path, err := a.path(w)
	if err != nil {
		return nil, err
	}
	if o.Start && (w.Managed || w.Project != "") {
		return nil, fmt.Errorf("install %s: --start is for a user's own settings: those of a project or an administrator "+
			"are for several people, and a hook must not start one's server for another", a.Name)
	}
	c := catalogue.Command{
		Hook: w.Hook, Agent: a.Name, Data: w.Data, Record: w.recordName(a.Name),
		Timeout: o.Timeout, Wait: o.Wait, Sender: o.Sender, Managed: w.Managed, Start: o.Start,
	}
	if o.Box && a.Prefix != nil && !w.Managed && w.Project == "" {
		c.Prefix = catalogue.PrefixProgram(w.Data, a.Name)
	}
	var out []file
	if a.Plan == nil {
		out = append(out, file{File: catalogue.File{Path: path}})
	} else {
		for _, f := range a.Plan(path, c) {
			out = append(out, file{File: f})
		}
	}
	if a.extra.files != nil {
		if out, err = a.extra.files(w, out, c); err != nil {
			return nil, err
		}
	}
	for i := range out {
		if a.script != nil {
			out[i].alike = a.script.Alike
		}
	}
	return out, nil
}

// SameUser is the one case that is true of every agent whose settings its user can write.
const SameUser = "somebody with the rights of this user edits the settings: that is noticed, not prevented"

// failsOpen adds what is true of all agents whose settings their user can write. Of a program that
// is not there nobody knows the version.
func (a *agent) failsOpen(w World, found bool, version string) []Case {
	var out []Case
	add := func(texts ...string) {
		for _, t := range texts {
			out = append(out, Case{Name: "fails open", Text: t})
		}
	}
	if a.Since != nil && found && !atLeast(version, a.Since.Version) {
		add(a.Since.Open)
	}
	add(a.Open...)
	if w.Project != "" {
		add(a.OpenInProject...)
	}
	if !w.Managed {
		add(a.OpenUnmanaged...)
	}
	out = append(out, a.bypasses(w)...)
	if !w.Managed {
		add(SameUser)
	}
	return out
}

// SettingsFile is the file of an agent that holds our hooks, or would.
func SettingsFile(w World, agent string) (string, error) {
	a, err := find(agent)
	if err != nil {
		return "", err
	}
	return a.path(w)
}
