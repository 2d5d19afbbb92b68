package diagnosis

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/agents/wrap"
	"github.com/tidemark/tidemark/internal/reports/doctor"
)

// serversOf are the MCP servers in the settings of agents: of those that are named, or of all.
func serversOf(w install.World, agents []string) ([]doctor.MCPServer, error) {
	var out []doctor.MCPServer
	var errs []error
	for _, name := range wrap.Names() {
		if len(agents) > 0 && !slices.Contains(agents, name) {
			continue
		}
		seen, err := wrap.Look(w, name)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		for _, s := range seen {
			out = append(out, doctor.MCPServer{
				Agent: name, Name: s.Name, File: s.File, Why: s.Why, Behind: s.Behind, Lost: s.Lost, Relay: s.Relay,
			})
		}
	}
	return out, errors.Join(errs...)
}
