package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// MCPServer is a server in an agent's settings.
type MCPServer struct {
	Agent, Name, File string
	Why               string // it cannot be put behind Tidemark
	Behind            bool   // the agent reaches it through Tidemark
	Lost              bool   // it did, until somebody changed the settings
}

// CheckServers names the MCP servers of agents that are not behind Tidemark.
func CheckServers(look func() ([]MCPServer, error)) Check {
	return Check{Name: "MCP servers", Run: func(context.Context) []Finding {
		f := found{about: "MCP servers"}
		all, err := look()
		if err != nil {
			f.add(Limit, "settings", "not looked at: "+err.Error(), "")
		}
		var agents []string
		behind, bare := map[string][]string{}, map[string][]string{}
		for _, s := range all {
			if !slices.Contains(agents, s.Agent) {
				agents = append(agents, s.Agent)
			}
			switch {
			case s.Behind:
				behind[s.Agent] = append(behind[s.Agent], s.Name)
			case s.Lost:
				f.add(Broken, s.Agent, fmt.Sprintf("%s was behind Tidemark, and %s was changed: it no longer is", s.Name, s.File),
					"tidemark mcp wrap "+s.Agent)
			case s.Why != "":
				f.add(Limit, s.Agent, fmt.Sprintf("%s is not behind Tidemark: %s", s.Name, s.Why), "")
			default:
				bare[s.Agent] = append(bare[s.Agent], s.Name)
			}
		}
		for _, a := range agents {
			if names := behind[a]; len(names) > 0 {
				f.add(Good, a, "behind Tidemark: "+strings.Join(names, ", "), "")
			}
			if names := bare[a]; len(names) > 0 {
				f.add(Limit, a, "not behind Tidemark, so that nobody notices when their tools become others: "+strings.Join(names, ", "),
					"tidemark mcp wrap "+a)
			}
		}
		return f.list
	}}
}
