package draw

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/graph"
)

// title is what a node is called: a tool's calls by the tool, everything else by what it is.
func title(n *graph.Node) string {
	switch n.Kind {
	case graph.NodeToolCall:
		return orID(n.Tool, n)
	case graph.NodeToolResult:
		return "result"
	case graph.NodeLLMCall, graph.NodeOutput:
		return clean(n.ID)
	case graph.NodePolicyDecision:
		switch out := n.Outcome(); out {
		case "failed":
			return "wrong code"
		case "reset":
			return "trust reset"
		default:
			return orID(out, n)
		}
	default:
		return orID(string(n.Kind), n)
	}
}

func orID(name string, n *graph.Node) string {
	if name == "" {
		name = n.ID
	}
	return clean(name)
}

// badge is how a node's outcome is marked, and the role that colours it. What simply
// ran has none.
func badge(n *graph.Node) (text string, role Role) {
	out := n.Outcome()
	switch {
	case out == "" || out == "allow":
		return "", ""
	case n.Blocked && out == "blocked":
		return "BLOCKED", Blocked
	case n.Blocked:
		return "BLOCKED " + clean(out), Role(clean(out))
	default:
		return strings.ToUpper(clean(out)), Role(clean(out))
	}
}

// remark is what else is worth saying about a node, in one line of plain words.
func remark(n *graph.Node) string {
	m := n.Metadata
	if m == nil {
		m = &graph.Metadata{}
	}
	var words []string
	say := func(format, value string) {
		if value != "" {
			words = append(words, fmt.Sprintf(format, clean(value)))
		}
	}
	switch n.Kind {
	case graph.NodeLLMCall:
		say("%s", m.Model)
		say("hidden: %s", list(m.Removed))
	case graph.NodePolicyDecision:
		remarkDecision(m, say)
	default:
		say("from %s", m.From)
		say("via %s", m.Provider)
		say("forked from %s", m.Parent)
		if m.Carried {
			say("%s", "carried from earlier turns")
		}
		if m.Error {
			say("%s", "error")
		}
		if m.Sensitive {
			say("%s", "sensitive")
		}
	}
	if n.Blocked && n.Kind != graph.NodeToolCall {
		say("%s", n.BlockReason)
	}
	return strings.Join(words, ", ")
}

func remarkDecision(m *graph.Metadata, say func(format, value string)) {
	if m.Reset {
		say("mark was %s", m.Before)
	}
	say("by %s", m.By)
	say("via %s", m.Via)
	say("%s", m.Rule)
	if m.Reason != m.Rule && !m.Reset { // of a reset it repeats the mark
		say("%s", m.Reason)
	}
	switch {
	case m.Effect == "allow":
		say("approval %s spent", m.ApprovalID)
	case m.Verdict == "":
		say("approval %s", m.ApprovalID)
	default:
		say("of %s", list(m.Approvals))
	}
	say("write %s kept for review", m.WriteID)
}

// facts are the head lines of every picture: what turn this is, and how it went.
func facts(g *graph.Graph) []string {
	out := []string{"session " + shorten(clean(g.SessionKey), listWidth)}
	if g.AgentID != "" {
		out = append(out, "agent "+shorten(clean(g.AgentID), listWidth))
	}
	out = append(out, count(g.Summary.IterationCount, "iteration"), count(len(g.Nodes), "node"), duration(g.DurationMs))
	if len(g.Summary.ToolsBlocked) > 0 {
		out = append(out, "blocked: "+list(g.Summary.ToolsBlocked))
	}
	return out
}

// listWidth bounds lists and names that a graph may hold any number of.
const listWidth = 160

// list joins names and says how many it left out.
func list(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > listWidth {
			fmt.Fprintf(&b, "%d more", len(names)-i)
			break
		}
		b.WriteString(shorten(clean(n), listWidth))
	}
	return b.String()
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func duration(ms int64) string {
	switch {
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case ms < 60_000:
		return fmt.Sprintf("%.1f s", float64(ms)/1000)
	default:
		return fmt.Sprintf("%d min %02d s", ms/60_000, ms/1000%60)
	}
}
