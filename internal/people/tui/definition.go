package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
)

// kindDefinition is the kind of a question that is about no call: a definition of an MCP server that is hidden
// until a person accepts it.
const kindDefinition = "definition"

// readDefinitions decodes the definitions that wait; a server that does not tell of them has none.
func readDefinitions(raw []byte) ([]ask, error) {
	var page struct {
		Definitions []strictjson.Value `json:"definitions"`
	}
	if err := strictjson.Unmarshal(raw, &page); err != nil {
		return nil, fmt.Errorf("read definitions: %w", err)
	}
	out := make([]ask, 0, len(page.Definitions))
	for _, raw := range page.Definitions {
		var d struct {
			ID       string    `json:"id"`
			Server   string    `json:"server"`
			Name     string    `json:"name"`
			Why      string    `json:"why"`
			Warnings []string  `json:"warnings"`
			Diff     string    `json:"diff"`
			Asked    time.Time `json:"asked"`
		}
		if err := strictjson.Unmarshal(raw, &d); err != nil {
			return nil, fmt.Errorf("read definition: %w", err)
		}
		if d.ID == "" {
			return nil, errors.New("read definition: it has no id")
		}
		out = append(out, ask{
			ID: d.ID, Tool: d.Server + ": " + d.Name, Kind: kindDefinition, Reason: d.Why, Prompt: strings.Join(d.Warnings, "\n"),
			diff: d.Diff, Asked: d.Asked, State: pendingState, raw: slices.Clone(raw),
		})
	}
	return out, nil
}

// definitions makes these the definitions that wait.
func (m *screen) definitions(list []ask) {
	for _, a := range slices.Clone(m.asks) {
		if a.Kind == kindDefinition && indexOf(list, a.ID) < 0 {
			a.State = "" // accepted or denied elsewhere, or the server offers something else
			m.remove(a.ID)
			m.farewell(a)
		}
	}
	m.mine = slices.DeleteFunc(m.mine, func(id string) bool { // what comes again after our answer is asked again
		return strings.HasPrefix(id, "def-") && indexOf(list, id) < 0
	})
	for _, a := range list {
		m.change(a)
	}
}

// count is how much waits, in words.
func (m *screen) count() string {
	calls := len(m.asks)
	for _, a := range m.asks {
		if a.Kind == kindDefinition {
			calls--
		}
	}
	what := fmt.Sprintf("%d calls wait", calls)
	if calls == 1 {
		what = "1 call waits"
	}
	switch n := len(m.asks) - calls; n {
	case 0:
		return what
	case 1:
		return what + ", 1 hidden definition"
	default:
		return fmt.Sprintf("%s, %d hidden definitions", what, n)
	}
}

// definition is everything there is to know before accepting one.
func (m *screen) definition(a ask, width int) []string {
	out := []string{m.ui.word("confirm", line(a.Tool)) + "  " + line(a.ID), m.ui.word("title", "Hidden because")}
	out = append(out, wrap(text.Clean(a.Reason), "  ", width)...)
	if a.Prompt != "" {
		out = append(out, m.ui.word("warn", "Look closely"))
		for l := range strings.SplitSeq(a.Prompt, "\n") {
			out = append(out, wrap(line(l), "  ", width)...)
		}
	}
	out = append(out, m.ui.word("title", "What is different"))
	for l := range strings.SplitSeq(strings.TrimSuffix(a.diff, "\n"), "\n") {
		colour := map[string]string{"+": "good", "-": "bad"}[l[:min(len(l), 1)]]
		for _, part := range wrap(line(l), "  ", width) {
			if colour != "" {
				part = m.ui.word(colour, part)
			}
			out = append(out, part)
		}
	}
	return append(out, wrap("Approving accepts it as it is shown, for every agent. Denying keeps it hidden.", "", width)...)
}
