package draw_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/draw"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/graph"
	"github.com/tidemark/tidemark/trust"
)

func treeOf(t testing.TB, g *graph.Graph, style draw.Style) string {
	t.Helper()
	var out bytes.Buffer
	if err := draw.Tree(&out, g, style); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAStyleColoursTheTreeAndChangesNothingElse(t *testing.T) {
	roles := map[draw.Role]bool{}
	style := func(role draw.Role, text string) string {
		roles[role] = true
		return "\x1b[1m" + text + "\x1b[0m"
	}
	g := richTurn(t)
	styled := treeOf(t, g, style)
	plain := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(styled)
	if diff := cmp.Diff(treeOf(t, g, nil), plain); diff != "" {
		t.Errorf("styled tree without its colours (-plain +styled):\n%s", diff)
	}
	for _, want := range []draw.Role{draw.Heading, draw.Faint, draw.Blocked, "taint-escalation", "deny", "confirm", "approved", "approve", "reset", "failed",
		"system", "owner", "shared", "external", "untrusted"} {
		if !roles[want] {
			t.Errorf("nothing in the tree has the role %q", want)
		}
	}
}

func TestTreeColumnsStandBelowEachOther(t *testing.T) {
	u := newTurn(t, trust.Owner, "日本語のメッセージ、とても長いものです。日本語のメッセージ、とても長いものです。")
	u.model(strings.Repeat("m", 200))
	u.result(u.call(strings.Repeat("工具", 60), "deny", func(d *event.Decided) { d.Reason = strings.Repeat("because ", 40) }), "x", trust.Untrusted, "")
	lines := strings.Split(treeOf(t, u.seal("ok"), nil), "\n")
	column := lipgloss.Width(lines[2][:strings.Index(lines[2], "trust")])
	for _, l := range lines[3:] {
		for _, level := range []string{"  system", "  owner", "  untrusted"} {
			before, _, found := strings.Cut(l, level)
			if at := lipgloss.Width(before) + 2; found && at != column && at != column+11 {
				t.Errorf("level at column %d, want %d or %d: %q", at, column, column+11, l)
			}
		}
	}
}

// Nodes as a hand or another program may have written them.
func TestTreeOfARoughGraph(t *testing.T) {
	names := make([]string, 60)
	for i := range names {
		names[i] = fmt.Sprintf("tool_%d", i)
	}
	g := &graph.Graph{TurnID: "t", SessionKey: "s", DurationMs: 125_000, Summary: graph.Summary{ToolsBlocked: names},
		Nodes: []graph.Node{
			{ID: "past", Kind: graph.NodeHistory, Metadata: &graph.Metadata{Carried: true, Parent: "main"}},
			{ID: "call", Kind: graph.NodeToolCall, Blocked: true},
			{ID: "first", Kind: graph.NodePolicyDecision, Metadata: &graph.Metadata{Effect: "deny", Rule: "r", Reason: "r", WriteID: "w"}},
			{ID: "second", Kind: graph.NodePolicyDecision},
			{ID: "result", Kind: graph.NodeToolResult, Metadata: &graph.Metadata{Error: true, Sensitive: true}},
			{ID: "odd", Kind: "odd"},
		},
		Edges: []graph.Edge{
			{From: "call", To: "first", Relation: graph.BlockedBy}, {From: "call", To: "second", Relation: graph.BlockedBy},
			{From: "call", To: "result", Relation: graph.Produces}, {From: "odd", To: "nowhere", Relation: graph.Triggers}, {From: "odd", To: "odd", Relation: graph.Consumes},
		}}
	golden(t, "rough.txt", []byte(treeOf(t, g, nil)))
}

func TestMatrix(t *testing.T) {
	columns := []string{"system", "owner", "local", "shared", "external", "untrusted"}
	rows := []draw.Row{
		{"read", []string{"allow", "allow", "allow", "allow", "allow", "allow"}},
		{"exec", []string{"allow", "allow", "allow", "confirm", "restrict", "restrict"}},
		{"工具", []string{"allow", "", "al\x1b[31mlow"}},
		{"too many", []string{"1", "2", "3", "4", "5", "6", "7"}},
	}
	var out bytes.Buffer
	if err := draw.Matrix(&out, columns, rows, nil); err != nil {
		t.Fatal(err)
	}
	golden(t, "matrix.txt", out.Bytes())

	var painted []string
	style := func(role draw.Role, text string) string {
		if role == "restrict" {
			painted = append(painted, text)
		}
		return text
	}
	var again bytes.Buffer
	if err := draw.Matrix(&again, columns, rows, style); err != nil {
		t.Fatal(err)
	}
	if again.String() != out.String() || len(painted) != 2 {
		t.Errorf("styled matrix painted %v and wrote\n%s\nwant the two restricts painted and the same text", painted, again.String())
	}
}

// deadWriter fails, as a closed pipe does.
type deadWriter struct{ err error }

func (w deadWriter) Write([]byte) (int, error) { return 0, w.err }

func TestWriteErrorsComeBack(t *testing.T) {
	w := deadWriter{errors.New("pipe is closed")}
	g := seedTurn(t)
	for name, err := range map[string]error{
		"Tree": draw.Tree(w, g, nil), "DOT": draw.DOT(w, g), "SVG": draw.SVG(w, g), "Matrix": draw.Matrix(w, []string{"a"}, nil, nil),
	} {
		if !errors.Is(err, w.err) {
			t.Errorf("%s = %v, want the writer's error", name, err)
		}
	}
}

// checkDOT reads the subset of the DOT language we write: one digraph, a statement a
// line, and outside of strings nothing but keywords and punctuation of our own.
func checkDOT(t testing.TB, body string) (nodes, edges int) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if lines[0] != "digraph turn {" || lines[len(lines)-1] != "}" {
		t.Fatalf("DOT starts with %q and ends with %q", lines[0], lines[len(lines)-1])
	}
	for _, l := range lines[1 : len(lines)-1] {
		bare, ok := outsideQuotes(l)
		if !ok || !strings.HasSuffix(bare, ";") || strings.ContainsAny(bare, "{}<>\\&") && !strings.Contains(bare, "Q -> Q [") {
			t.Errorf("statement %q is not one of ours: %q", bare, l)
		}
		switch {
		case strings.HasPrefix(bare, "  Q -> Q [label=Q"):
			edges++
		case strings.HasPrefix(bare, "  Q [label=Q, shape="):
			nodes++
		}
	}
	return nodes, edges
}

// outsideQuotes puts Q for each quoted string; false if one does not end.
func outsideQuotes(l string) (string, bool) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(l); i++ {
		switch c := l[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			if quoted = !quoted; quoted {
				b.WriteByte('Q')
			}
		case !quoted:
			b.WriteByte(c)
		}
	}
	return b.String(), !quoted
}

func TestDOTHasEveryNodeAndEdge(t *testing.T) {
	g := richTurn(t)
	var out bytes.Buffer
	if err := draw.DOT(&out, g); err != nil {
		t.Fatal(err)
	}
	nodes, edges := checkDOT(t, out.String())
	if nodes != len(g.Nodes) || edges != len(g.Edges) {
		t.Errorf("DOT has %d nodes and %d edges, want %d and %d", nodes, edges, len(g.Nodes), len(g.Edges))
	}
}

// FuzzPictures: whatever tools are called and content says, pictures stay what they
// are: well-formed XML with one box per node, DOT statements of our own, and text
// without control characters. Graphs may be nonsense: any kinds, any edges.
func FuzzPictures(f *testing.F) {
	f.Add("exec", `<script>alert("x")</script>`, "a]]>b", uint8(3), uint8(0))
	f.Add(`"];}`, "\x1b[2J\x00\u202e", "tool\\", uint8(200), uint8(1))
	f.Add("&lt;", "'", "\xff\xfe", uint8(7), uint8(2))
	kinds := []graph.NodeKind{graph.NodeInput, graph.NodeSystemPrompt, graph.NodeHistory, graph.NodeLLMCall,
		graph.NodeToolCall, graph.NodeToolResult, graph.NodeOutput, graph.NodePolicyDecision, "nonsense\"<"}
	relations := []graph.Relation{graph.Triggers, graph.Produces, graph.Consumes, graph.DerivesFrom, graph.BlockedBy, "\"<&"}
	f.Fuzz(func(t *testing.T, name, say, word string, shape, seed uint8) {
		g := &graph.Graph{TurnID: name, SessionKey: say, AgentID: word,
			Summary: graph.Summary{ToolsBlocked: []string{name, word}, ExternalSources: []string{say}}}
		for i := range 12 {
			k := int(shape) + i*int(seed+1)
			g.Nodes = append(g.Nodes, graph.Node{ID: fmt.Sprintf("%s-%d", name, i), Kind: kinds[k%len(kinds)], Trust: trust.Level(k % 9), Tool: name,
				ContentPreview: say, Blocked: k%3 == 0, BlockReason: word, Metadata: &graph.Metadata{Effect: []string{"", "allow", "confirm", word}[k%4],
					Kind: word, Rule: name, Reason: say, ApprovalID: word, Model: name, Removed: []string{say}, From: word, Reset: k%11 == 0,
					Verdict: []string{"", "approve", word}[k%3], Approvals: []string{name}, By: say, Before: word}})
			g.Edges = append(g.Edges, graph.Edge{From: fmt.Sprintf("%s-%d", name, i), To: fmt.Sprintf("%s-%d", name, k%14), Relation: relations[k%len(relations)]})
		}
		if p, _ := svgOf(t, g); len(p.titles) != len(g.Nodes)+1 {
			t.Errorf("%d titles for %d nodes", len(p.titles), len(g.Nodes))
		}
		var dot bytes.Buffer
		if err := draw.DOT(&dot, g); err != nil {
			t.Fatal(err)
		}
		if nodes, edges := checkDOT(t, dot.String()); nodes != len(g.Nodes) || edges != len(g.Edges) {
			t.Errorf("DOT has %d nodes and %d edges, want %d and %d", nodes, edges, len(g.Nodes), len(g.Edges))
		}
		tree := treeOf(t, g, nil)
		if got, want := strings.Count(tree, "\n"), len(g.Nodes)+3; got < want || got > want+1 {
			t.Errorf("tree has %d lines, want %d or one more", got, want)
		}
		var table bytes.Buffer
		if err := draw.Matrix(&table, []string{name, say}, []draw.Row{{word, []string{say}}}, nil); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{tree, table.String(), dot.String()} {
			if i := strings.IndexFunc(text, func(r rune) bool { return r < 0x20 && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e }); i >= 0 {
				t.Errorf("control character %q in %q", text[i], text)
			}
		}
	})
}
