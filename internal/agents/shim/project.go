package shim

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/project"
	"github.com/tidemark/tidemark/internal/agents/settings"
)

// maxUnsettled is how many settings a person is told by name.
const maxUnsettled = 4

// unsettled says what the project sets for this agent that is not known to be harmless and that nobody has accepted; "" is good
// news. The agent has read it by the time a hook runs: some of it may have run. What comes after is refused.
func (a adapter) unsettled(o Options, e *catalogue.Event) string {
	look := project.Look{
		Agent: a.Name, Folders: []string{e.Cwd, o.Root}, Home: homeOf(o), Texts: e.Kind != catalogue.Call,
		Ours: project.Installed(o.Data, a.Name),
	}
	found, err := project.Find(look)
	if err != nil {
		return fmt.Sprintf("the settings of this project cannot be looked at: %v", err)
	}
	if found = project.Open(o.Data, found); len(found) == 0 {
		return ""
	}
	var names []string
	for _, f := range found[:min(maxUnsettled, len(found))] {
		names = append(names, f.String())
	}
	if n := len(found) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf("this folder has settings for %s that may run programs or send the conversation elsewhere: %s. "+
		"Take them out, or look at them and accept them in a terminal: tidemark trust settings %s --project %s",
		a.Name, strings.Join(names, "; "), a.Name, settings.Word(e.Cwd))
}

// refusedHere is unsettled as the reason of a refusal.
func (a adapter) refusedHere(o Options, e *catalogue.Event) string {
	why := a.unsettled(o, e)
	if why == "" {
		return ""
	}
	return "Tidemark: nothing goes on here, because " + why
}

// homeOf is the user's own folder. The variable alone does not say it, since a project can set it for hooks too: our data folder,
// which the installed command names, must lie there.
func homeOf(o Options) string {
	if o.Env == nil {
		return ""
	}
	home := o.Env("HOME")
	if home == "" || !filepath.IsAbs(home) || !inside(o.Data, home) {
		return ""
	}
	return filepath.Clean(home)
}
