package graph_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/graph"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/trust"
)

// PRV-07 PRV-09 SEQ-04 BEY-03 BEY-06 BEY-07
func TestGraphPictures(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{
			name: "the trace of the provenance seed: owner, local, untrusted, then exec is held",
			script: `began owner say=look_this_up
				model
				call c1 read allow
				result c1 read local
				model
				call c2 web_fetch allow
				result c2 web_fetch untrusted
				model
				call c3 exec confirm kind=taint-escalation ask=q1
				sealed`,
			want: `
system (system) mark system
input (owner) mark owner
  triggers llm-1
history (owner) mark owner
llm-1 (owner) mark owner
  consumes system
  consumes history
  produces call-1
call-1 read (owner) mark owner
  produces result-1
result-1 read (local) mark local
llm-2 (local) mark local
  consumes result-1
  derives_from llm-1
  produces call-2
call-2 web_fetch (local) mark local
  produces result-2
result-2 web_fetch (untrusted) mark untrusted
llm-3 (untrusted) mark untrusted
  consumes result-2
  derives_from llm-2
  produces call-3
call-3 exec (untrusted) mark untrusted taint-escalation BLOCKED
  blocked_by decision-1
decision-1 exec (system) mark untrusted taint-escalation
output (untrusted) mark untrusted
  derives_from llm-3
`,
		},
		{
			name: "the graph of the hooks seed: mail and memory in one iteration, then text only",
			script: `began owner
				model
				call a gog allow
				call b vestige_search allow
				result b vestige_search shared
				result a gog external
				model removed=exec,message
				sealed`,
			want: `
system (system) mark system
input (owner) mark owner
  triggers llm-1
history (owner) mark owner
llm-1 (owner) mark owner
  consumes system
  consumes history
  produces call-1
  produces call-2
call-1 gog (owner) mark owner
  produces result-1
call-2 vestige_search (owner) mark owner
  produces result-2
result-2 vestige_search (shared) mark shared
result-1 gog (external) mark external
llm-2 (external) mark external
  consumes result-2
  consumes result-1
  derives_from llm-1
output (external) mark external
  derives_from llm-2
`,
		},
		{
			name: "a host that reports no model calls: calls hang on the input, the output on all content",
			script: `began owner
				call a read allow
				result a read local
				call b exec deny
				sealed`,
			want: `
system (system) mark system
input (owner) mark owner
  triggers call-1
  triggers call-2
history (owner) mark owner
call-1 read (owner) mark owner
  produces result-1
result-1 read (local) mark local
call-2 exec (local) mark local deny BLOCKED
  blocked_by decision-1
decision-1 exec (system) mark local deny
output (local) mark local
  derives_from system
  derives_from input
  derives_from history
  derives_from result-1
`,
		},
		{
			name: "a held call is approved, asked again and runs on the approval",
			script: `began shared
				model
				call a exec confirm kind=escalate ask=q1
				vote q1 approve
				call a exec allow spent=q1
				result a exec local
				sealed`,
			want: `
system (system) mark system
input (shared) mark shared
  triggers llm-1
history (shared) mark shared
llm-1 (shared) mark shared
  consumes system
  consumes history
  produces call-1
  produces call-2
call-1 exec (shared) mark shared confirm BLOCKED
  blocked_by decision-1
  triggers call-2
decision-1 exec (system) mark shared confirm
  triggers decision-2
decision-2 (system) mark shared approve
  triggers decision-3
call-2 exec (shared) mark shared approved
  produces result-2
decision-3 exec (system) mark shared approved
  triggers call-2
result-2 exec (local) mark shared
output (shared) mark shared
  derives_from llm-1
  derives_from result-2
`,
		},
		{
			name: "an answer to an earlier turn's question, a wrong code and a grant hang on the input",
			script: `began owner
				wrong
				vote q0 approve grant=g1
				model
				call a exec allow spent=g1
				sealed`,
			want: `
system (system) mark system
input (owner) mark owner
  triggers decision-1
  triggers decision-2
  triggers llm-1
history (owner) mark owner
decision-1 (system) mark owner failed
decision-2 (system) mark owner approve
  triggers decision-3
llm-1 (owner) mark owner
  consumes system
  consumes history
  produces call-1
call-1 exec (owner) mark owner approved
decision-3 exec (system) mark owner approved
  triggers call-1
output (owner) mark owner
  derives_from llm-1
`,
		},
		{
			name: "the owner's reset is a visible decision and the only way the mark recovers",
			script: `began owner
				model
				call a web_fetch allow
				result a web_fetch untrusted
				reset owner
				model
				sealed`,
			want: `
system (system) mark system
input (owner) mark owner
  triggers llm-1
  triggers decision-1
history (owner) mark owner
llm-1 (owner) mark owner
  consumes system
  consumes history
  produces call-1
call-1 web_fetch (owner) mark owner
  produces result-1
result-1 web_fetch (untrusted) mark untrusted
decision-1 (owner) mark owner reset
llm-2 (owner) mark owner
  consumes result-1
  consumes decision-1
  derives_from llm-1
output (owner) mark owner
  derives_from llm-2
`,
		},
		{
			name: "a census refines the context once and adds only what is news",
			script: `began owner
				census system_prompt::system user_message::owner compacted_history::shared tool_result:web_fetch:untrusted
				census system_prompt::system user_message::owner compacted_history::shared tool_result:web_fetch:untrusted
				model
				census user_message::external system_prompt::local compacted_history::untrusted
				model
				sealed`,
			want: `
system (system) mark system
input (owner) mark owner
  triggers llm-1
history (shared) mark shared
context-1 web_fetch (untrusted) mark untrusted
llm-1 (untrusted) mark untrusted
  consumes system
  consumes history
  consumes context-1
context-2 (external) mark untrusted
context-3 (local) mark untrusted
context-4 (untrusted) mark untrusted
llm-2 (untrusted) mark untrusted
  consumes context-2
  consumes context-3
  consumes context-4
  derives_from llm-1
output (untrusted) mark untrusted
  derives_from llm-2
`,
		},
		{
			name: "a sub-agent starts from its parent's taint and a child's result is named",
			script: `began local label=untrusted parent=main branch=sub
				model
				result - sessions_spawn external from=child-7
				sealed`,
			want: `
system (system) mark system
input (local) mark local
  triggers llm-1
history (untrusted) mark untrusted
llm-1 (untrusted) mark untrusted
  consumes system
  consumes history
result-1 sessions_spawn (external) mark untrusted
output (untrusted) mark untrusted
  derives_from llm-1
  derives_from result-1
`,
		},
		{
			name: "what stops the whole turn, all calls of an answer, or the response is a decision too",
			script: `began owner
				answered block=no_tools_now
				model block=too_deep rule=maxIterations
				sealed block=secret_in_the_answer`,
			want: `
system (system) mark system
input (owner) mark owner
  triggers llm-1
history (owner) mark owner
llm-1 (owner) mark owner blocked BLOCKED
  consumes system
  consumes history
  blocked_by decision-1
decision-1 (system) mark owner deny
llm-2 (owner) mark owner blocked BLOCKED
  derives_from llm-1
  blocked_by decision-2
decision-2 (system) mark owner deny
output (owner) mark owner blocked BLOCKED
  derives_from llm-2
  blocked_by decision-3
decision-3 (system) mark owner deny
`,
		},
		{
			name: "a call whose result nobody reports counts from the next model call on",
			script: `began owner
				model
				call a web_fetch allow expect=untrusted
				model
				sealed`,
			want: `
system (system) mark system
input (owner) mark owner
  triggers llm-1
history (owner) mark owner
llm-1 (owner) mark owner
  consumes system
  consumes history
  produces call-1
call-1 web_fetch (owner) mark owner
llm-2 (untrusted) mark untrusted
  derives_from llm-1
output (untrusted) mark untrusted
  derives_from llm-2
`,
		},
		{
			name: "results find their call by id, then by exact arguments, then by tool; a second one is numbered",
			script: `began owner
				model
				call a read allow args=one
				call b read allow args=two
				result b read local
				result - read local digest=one
				result - read shared
				result x exec local
				began external
				sealed`,
			want: `
system (system) mark system
input (owner) mark owner
  triggers llm-1
history (owner) mark owner
llm-1 (owner) mark owner
  consumes system
  consumes history
  produces call-1
  produces call-2
call-1 read (owner) mark owner
  produces result-1
call-2 read (owner) mark owner
  produces result-2
  produces result-2.2
result-2 read (local) mark local
result-1 read (local) mark local
result-2.2 read (shared) mark shared
result-3 exec (local) mark shared
input-2 (external) mark external
output (external) mark external
  derives_from llm-1
  derives_from result-2
  derives_from result-1
  derives_from result-2.2
  derives_from result-3
  derives_from input-2
`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := graphPicture(graphOf(t, tt.script))
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), got); diff != "" {
				t.Errorf("picture (-want +got):\n%s", diff)
			}
		})
	}
}

// HOOK-11
func TestGraphJSONIsTheSchemaOfTheSeed(t *testing.T) {
	g := graphOf(t, `began owner agent=main provider=discord sender=u1 say=hello
		model name=m1 removed=gateway i=0
		answered calls=web_fetch
		call c1 web_fetch allow i=0
		result c1 web_fetch untrusted source=1 say=page i=0
		model i=1
		call c2 exec confirm kind=taint-escalation ask=q1 rule=taintPolicy.untrusted reason=tainted write=w1 i=1
		sealed say=done`)
	got, err := strictjson.MarshalIndent(g)
	if err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "turn.json", got)

	var back graph.Graph
	if err := strictjson.UnmarshalKnown(got, &back); err != nil {
		t.Fatalf("read the JSON back: %v", err)
	}
	if diff := cmp.Diff(g, &back); diff != "" {
		t.Errorf("round trip (-want +got):\n%s", diff)
	}
}

// HOOK-11
func TestPreviewsAreCutAtAHundredCharacters(t *testing.T) {
	events := scriptTurn(t, `began owner say=x`)
	events[0].Began.Message.Preview = strings.Repeat("ä", 101) + "\xff"
	g, err := graph.Build("s1", "t1", eventSeq(events, nil))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := g.Nodes[1].ContentPreview, strings.Repeat("ä", 100); got != want {
		t.Errorf("preview = %q, want %q", got, want)
	}
}

// PRV-09
func TestASealedTurnTakesNothingMore(t *testing.T) {
	events := scriptTurn(t, `began owner
		call a exec confirm ask=q1
		sealed
		result - web_fetch untrusted
		vote q1 approve
		result - web_fetch untrusted late=1`)
	b := graph.NewBuilder("s1")
	for _, e := range events[:3] {
		if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	sealed := b.Graph()
	for _, e := range events[3:5] {
		if err := b.Add(e); !errors.Is(err, graph.ErrSealed) {
			t.Errorf("Add(%s) after the seal = %v, want ErrSealed", e.Kind, err)
		}
	}
	if err := b.Add(events[5]); err != nil {
		t.Errorf("Add of a late event = %v, want nil", err)
	}
	if diff := cmp.Diff(sealed, b.Graph()); diff != "" {
		t.Errorf("graph changed after the seal (-want +got):\n%s", diff)
	}

	if _, err := graph.Build("s1", "", eventSeq(events[:4], nil)); !errors.Is(err, graph.ErrSealed) {
		t.Errorf("Build of a log with content after the seal = %v, want ErrSealed", err)
	}
	if _, err := graph.Build("s1", "", eventSeq(append(events[:3:3], events[4:]...), nil)); err != nil {
		t.Errorf("Build of a log with an answer after the seal = %v, want nil", err)
	}
}

func TestBuilderRefusesWhatIsNotItsTurn(t *testing.T) {
	b := graph.NewBuilder("s1")
	events := scriptTurn(t, `began owner turn=t1
		began owner turn=t2
		model branch=other turn=t1
		result - web_fetch untrusted turn=t0 late=1
		call a exec confirm ask=q1 turn=t1
		vote q1 deny turn=t9 branch=elsewhere
		vote q2 deny turn=t9 branch=elsewhere`)
	if err := b.Add(events[2]); !errors.Is(err, graph.ErrNoTurn) {
		t.Errorf("Add before the turn began = %v, want ErrNoTurn", err)
	}
	for i, want := range []error{nil, graph.ErrOtherTurn, graph.ErrOtherTurn, nil, nil, nil, graph.ErrOtherTurn} {
		if err := b.Add(events[i]); !errors.Is(err, want) {
			t.Errorf("Add(event %d) = %v, want %v", i, err, want)
		}
	}
	if err := b.Add(event.Event{Kind: event.TurnSealed}); err == nil {
		t.Error("Add of an event without payload = nil, want an error")
	}
	g := b.Graph()
	if got := g.Summary.MaxTaint; got != trust.Untrusted {
		t.Errorf("mark after a late untrusted result of an earlier turn = %s, want untrusted", got)
	}
	if len(g.Nodes) != 6 {
		t.Errorf("nodes = %d, want 6: late events leave none", len(g.Nodes))
	}
}

// PRV-07 BEY-03
func TestBuildFindsTheTurnAndWhatItsBranchCarries(t *testing.T) {
	log := scriptTurn(t, `began owner turn=t1 carry=1
		call a web_fetch allow
		result a web_fetch untrusted
		sealed
		began owner turn=t2 carry=1
		sealed
		began owner turn=t3
		sealed
		began local turn=t4 branch=sub label=shared
		sealed`)
	for turn, want := range map[string]trust.Level{"": trust.Untrusted, "t1": trust.Untrusted, "t2": trust.Untrusted, "t3": trust.Owner, "t4": trust.Shared} {
		g, err := graph.Build("s1", turn, eventSeq(log, nil))
		if err != nil {
			t.Errorf("Build(%q): %v", turn, err)
			continue
		}
		if got := g.Summary.MaxTaint; got != want {
			t.Errorf("maxTaint of turn %q = %s, want %s", turn, got, want)
		}
	}
	carried, _ := graph.Build("s1", "t2", eventSeq(log, nil))
	if m := carried.Nodes[2].Metadata; m == nil || !m.Carried {
		t.Errorf("history of t2 = %+v, want metadata.carried", carried.Nodes[2])
	}
	if _, err := graph.Build("s1", "t9", eventSeq(log, nil)); !errors.Is(err, graph.ErrNoTurn) {
		t.Errorf("Build of an unknown turn = %v, want ErrNoTurn", err)
	}
	broken := errors.New("disk on fire")
	if _, err := graph.Build("s1", "t1", eventSeq(log, broken)); !errors.Is(err, broken) {
		t.Errorf("Build of a broken log = %v, want its error", err)
	}
	if _, err := graph.Build("s1", "t1", eventSeq([]event.Event{{Kind: "nonsense"}}, nil)); err == nil {
		t.Error("Build of an unknown event = nil, want an error")
	}
}

// BEY-07
func TestAResetBetweenTurnsShowsInTheNext(t *testing.T) {
	log := scriptTurn(t, `began owner turn=t1 carry=1
		result - web_fetch untrusted
		sealed
		reset local by=ann
		result - read shared late=1
		reset owner by=bob
		result - read shared late=1
		began external turn=t2 carry=1 label=external parent=main
		census compacted_history::external
		sealed
		reset owner
		began owner turn=t3
		sealed`)
	want := `
decision-1 (local) mark local reset
decision-2 (owner) mark owner reset
system (system) mark owner
input (external) mark external
history (external) mark external
  derives_from decision-1
  derives_from decision-2
output (external) mark external
  derives_from system
  derives_from input
  derives_from history
`
	second, err := graph.Build("s1", "t2", eventSeq(log, nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), graphPicture(second)); diff != "" {
		t.Errorf("picture (-want +got):\n%s", diff)
	}
	checkGraph(t, second)
	if m := second.Nodes[1].Metadata; m.By != "bob" || m.Before != "shared" {
		t.Errorf("second reset = %+v, want it by bob from shared", m)
	}
	third, err := graph.Build("s1", "t3", eventSeq(log, nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := third.Nodes[0].ID; got != "system" {
		t.Errorf("turn with a mark of its own starts with %s, want system: nothing was reset for it", got)
	}
}

func TestSummaryNamesSourcesAndBlockedToolsOnce(t *testing.T) {
	g := graphOf(t, `began external provider=telegram
		model
		call a web_fetch allow
		result a web_fetch untrusted
		result a web_fetch untrusted
		result - - untrusted from=child
		result - read local
		call b exec deny
		call c exec deny
		call d message confirm ask=q
		sealed`)
	want := graph.Summary{MaxTaint: trust.Untrusted, ExternalSources: []string{"telegram", "web_fetch", "child"},
		ToolsBlocked: []string{"exec", "message"}, IterationCount: 1}
	if diff := cmp.Diff(want, g.Summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if g.DurationMs != 1000 || g.Timestamp != 1_700_000_000_100 {
		t.Errorf("timestamp %d, duration %d ms, want 1700000000100 and 1000", g.Timestamp, g.DurationMs)
	}
}

func TestAContextWithoutACensusStillCounts(t *testing.T) {
	events := scriptTurn(t, `began owner parent=main
		census
		model`)
	events[1].Seen.Label.Level = trust.External
	events[1].Seen.Content, events[1].Seen.From = scriptContent("the message"), "child-7"
	g, err := graph.Build("s1", "", eventSeq(events, nil))
	if err != nil {
		t.Fatal(err)
	}
	if in := g.Nodes[1]; in.ContentPreview != "the message" || in.Trust != trust.Owner {
		t.Errorf("input = %+v, want the message that came later", in)
	}
	if past := g.Nodes[2]; past.Trust != trust.External || past.Metadata == nil || past.Metadata.From != "child-7" || past.Metadata.Parent != "main" || g.Nodes[3].Trust != trust.External {
		t.Errorf("history = %+v, model call %s, want both external and the child named", past, g.Nodes[3].Trust)
	}
}

// SEQ-04
func TestEveryOutcomeHasAWordOfItsOwn(t *testing.T) {
	tests := []struct {
		name string
		node graph.Node
		want string
	}{
		{"content has none", graph.Node{}, ""},
		{"a stopped node without a verdict", graph.Node{Blocked: true, Metadata: &graph.Metadata{Model: "m"}}, "blocked"},
		{"allowed", graph.Node{Metadata: &graph.Metadata{Effect: "allow"}}, "allow"},
		{"allowed on an approval", graph.Node{Metadata: &graph.Metadata{Effect: "allow", ApprovalID: "q"}}, "approved"},
		{"held by a rule", graph.Node{Metadata: &graph.Metadata{Effect: "confirm", Kind: "escalate"}}, "confirm"},
		{"held because of taint alone", graph.Node{Metadata: &graph.Metadata{Effect: "confirm", Kind: "taint-escalation"}}, "taint-escalation"},
		{"held for what it does", graph.Node{Metadata: &graph.Metadata{Effect: "confirm", Kind: "danger"}}, "danger"},
		{"refused", graph.Node{Metadata: &graph.Metadata{Effect: "deny"}}, "deny"},
		{"an effect nobody knows is a refusal", graph.Node{Metadata: &graph.Metadata{Effect: "perhaps"}}, "deny"},
		{"a person's answer", graph.Node{Metadata: &graph.Metadata{Verdict: "approve"}}, "approve"},
		{"a reset", graph.Node{Metadata: &graph.Metadata{Reset: true}}, "reset"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.node.Outcome(); got != tt.want {
				t.Errorf("Outcome() = %q, want %q", got, tt.want)
			}
			if got, want := tt.node.IsAnswer(), tt.want == "approve"; got != want {
				t.Errorf("IsAnswer() = %v, want %v", got, want)
			}
		})
	}
}

func TestIterationsAreCountedFromCallsWhereModelCallsAreNotReported(t *testing.T) {
	g := graphOf(t, `began owner
		call a read allow i=1
		call b read allow i=1
		call c read allow i=2`)
	if got := g.Summary.IterationCount; got != 2 {
		t.Errorf("iterations = %d, want 2", got)
	}
	if got := *g.Nodes[5].Iteration; got != 2 {
		t.Errorf("iteration of the last call = %d, want 2", got)
	}
}

func TestASnapshotDoesNotChange(t *testing.T) {
	b := graph.NewBuilder("s1")
	events := scriptTurn(t, `began owner
		model
		answered calls=read
		call a exec deny
		result - web_fetch untrusted
		sealed`)
	var snapshots []*graph.Graph
	var encoded []string
	for _, e := range events {
		if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
		g := b.Graph()
		body, err := strictjson.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		snapshots, encoded = append(snapshots, g), append(encoded, string(body))
	}
	for i, g := range snapshots {
		if body, _ := strictjson.Marshal(g); string(body) != encoded[i] {
			t.Errorf("snapshot after event %d changed:\n%s\nwant\n%s", i, body, encoded[i])
		}
	}
}

// A turn of the live branch must not write into the taint the monitor keeps.
func TestBuilderLeavesTheBranchTaintAlone(t *testing.T) {
	var live session.Taint
	events := scriptTurn(t, `began owner carry=1
		call a web_fetch allow expect=untrusted
		began owner turn=t2 carry=1
		call b exec allow
		sealed`)
	for _, e := range events[:2] {
		live.Apply(&e)
	}
	b := graph.BuilderAfter("s1", &live)
	for _, e := range events[2:] {
		if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.Graph().Summary.MaxTaint; got != trust.Untrusted {
		t.Errorf("mark = %s, want untrusted: an unreported result is owed", got)
	}
	if c, ok := live.Call("a", "web_fetch"); !ok || c.Tool != "web_fetch" {
		t.Errorf("live taint's call = %+v, %v, want the web_fetch call", c, ok)
	}
	if _, ok := live.Call("b", "exec"); ok {
		t.Error("the live taint knows a call that only the builder saw")
	}
}
