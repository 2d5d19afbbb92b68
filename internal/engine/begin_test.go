package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// PRV-04
func TestATurnIsClassifiedByTheFirstRowThatFits(t *testing.T) {
	tests := []struct {
		name   string
		sender trust.Sender
		want   trust.Level
		rule   string
	}{
		{"no channel is the system", trust.Sender{}, trust.System, "no-message-provider"},
		{"a spawned agent is local", trust.Sender{Provider: "discord", SpawnedBy: "parent"}, trust.Local, "spawned"},
		{"a spawned agent without a channel is local too", trust.Sender{SpawnedBy: "parent"}, trust.Local, "spawned"},
		{"a spawned agent is never the owner", trust.Sender{Provider: "discord", ID: "1", IsOwner: true, SpawnedBy: "parent"}, trust.Local, "spawned"},
		{"the owner alone is the owner", owner(), trust.Owner, "owner-dm"},
		{"the owner in a group is shared", trust.Sender{Provider: "slack", ID: "1", IsOwner: true, Group: "eng"}, trust.Shared, "owner-group"},
		{"somebody known is external", stranger(), trust.External, "known-sender"},
		{"nothing known is untrusted", trust.Sender{Provider: "webhook"}, trust.Untrusted, "unknown-sender"},
		{"a host without metadata is untrusted", trust.Sender{Unknown: true}, trust.Untrusted, "without-sender-metadata"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, "")
			open := w.begin(engine.Turn{Ref: main("s"), Sender: tt.sender})
			if open.Level != tt.want || open.Rule != tt.rule || open.Taint.Level != tt.want {
				t.Errorf("got %s by %s, context %s; want %s by %s", open.Level, open.Rule, open.Taint.Level, tt.want, tt.rule)
			}
			if got := w.events("s")[0].Began; got.Level != tt.want || got.Rule != tt.rule || got.Sender != tt.sender {
				t.Errorf("recorded: got %+v", got)
			}
		})
	}
}

// PRV-05
func TestTheChannelTableOfTheSeed(t *testing.T) {
	dm := func(p string) trust.Sender { return trust.Sender{Provider: p, ID: "1", IsOwner: true} }
	group := func(p string) trust.Sender {
		return trust.Sender{Provider: p, ID: "1", IsOwner: true, Group: "g"}
	}
	other := func(p, g string) trust.Sender { return trust.Sender{Provider: p, ID: "2", Group: g} }
	tests := []struct {
		channel, scenario string
		sender            trust.Sender
		want              trust.Level
	}{
		{"Discord DM", "owner", dm("discord"), trust.Owner},
		{"Discord DM", "non-owner", other("discord", ""), trust.External},
		{"Discord server", "owner in #general", group("discord"), trust.Shared},
		{"Discord server", "non-owner in #general", other("discord", "g"), trust.External},
		{"Slack DM", "owner", dm("slack"), trust.Owner},
		{"Slack channel", "owner in #eng-general", group("slack"), trust.Shared},
		{"Slack channel", "non-owner", other("slack", "g"), trust.External},
		{"Telegram DM", "owner", dm("telegram"), trust.Owner},
		{"Telegram group", "owner", group("telegram"), trust.Shared},
		{"Telegram group", "anyone else", other("telegram", "g"), trust.External},
		{"Signal DM", "owner", dm("signal"), trust.Owner},
		{"Cron job", "scheduled task", trust.Sender{}, trust.System},
		{"Heartbeat", "periodic check", trust.Sender{}, trust.System},
		{"Sub-agent", "sessions_spawn task", trust.Sender{Provider: "discord", SpawnedBy: "agent:main:main"}, trust.Local},
		{"Webhook", "external trigger", trust.Sender{Provider: "webhook"}, trust.Untrusted},
	}
	for _, tt := range tests {
		t.Run(tt.channel+" "+tt.scenario, func(t *testing.T) {
			w := newWorld(t, "")
			if got := w.begin(engine.Turn{Ref: main("s"), Sender: tt.sender}).Taint.Level; got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// PRV-06
func TestAHostWithoutSenderMetadataGetsTheConfiguredLevel(t *testing.T) {
	for file, want := range map[string]trust.Level{
		"": trust.Untrusted,
		"classification: {withoutSenderMetadata: owner}":  trust.Owner,
		"classification: {withoutSenderMetadata: shared}": trust.Shared,
	} {
		w := newWorld(t, byLevels+file)
		sender := trust.Sender{Unknown: true, Provider: "discord", ID: "1", IsOwner: true} // what such a host says counts for nothing
		if got := w.begin(engine.Turn{Ref: main("s"), Sender: sender}).Taint.Level; got != want {
			t.Errorf("%q: got %s, want %s", file, got, want)
		}
		w.taints("s")
		v := w.want(policy.Confirm, main("s"), call("deploy", `{}`))
		message := ".approve deploy " + v.Held.Code
		if open := w.begin(engine.Turn{Ref: main("s"), Sender: sender, Message: &message}); open.Command != "" {
			t.Errorf("%q: a message of nobody in particular approved a call", file)
		}
	}
}

func TestOneTurnAnnouncedInSeveralHooksIsOneTurn(t *testing.T) {
	w := newWorld(t, "")
	ref := engine.Ref{Session: "s", Turn: "run-1"}
	hello := "hello"
	first := w.begin(engine.Turn{Ref: ref, Sender: owner()})
	second := w.begin(engine.Turn{Ref: ref, Sender: owner(), Message: &hello})
	third := w.begin(engine.Turn{Ref: ref, Sender: owner(), Items: []event.Item{{Kind: "tool_result", Tool: "web_fetch", Trust: trust.Untrusted}}})
	if first.Continued || !second.Continued || !third.Continued || first.Turn != "run-1" || second.Turn != "run-1" || third.Turn != "run-1" {
		t.Errorf("got %+v, %+v, %+v; want one turn, continued twice", first, second, third)
	}
	if third.Taint.Level != trust.Untrusted {
		t.Errorf("after the census: got %s, want untrusted", third.Taint.Level)
	}
	again := w.begin(engine.Turn{Ref: ref, Sender: owner()})
	if n := len(w.events("s")); !again.Continued || n != 3 {
		t.Errorf("a hook that adds nothing: got continued %v and %d records, want 3", again.Continued, n)
	}
	w.tools(ref)
	if mid := w.begin(engine.Turn{Ref: ref, Sender: owner()}); !mid.Continued {
		t.Error("a hook of the running turn by its name began another turn")
	}
}

func TestAMessageFoundInTheContextCountsOnce(t *testing.T) {
	w := newWorld(t, "")
	ref, message := engine.Ref{Session: "s", Turn: "run-1"}, "hello"
	said := engine.Turn{Ref: ref, Sender: owner(), Message: &message}
	found := said
	found.Found = true
	w.begin(said)
	w.tools(ref)
	if open := w.begin(found); !open.Continued || count(w.events("s"), event.TurnBegan) != 1 {
		t.Errorf("got %+v, want the turn that has this message", open)
	}
	if open := w.begin(said); open.Continued || open.Turn == "run-1" {
		t.Errorf("said again in the middle of the run: got %+v, want a turn of its own", open)
	}
	w.end(main("s"))
	w.begin(engine.Turn{Ref: engine.Ref{Session: "t", Turn: "run-1"}, Sender: owner()})
	w.end(main("t"))
	if _, err := w.Begin(t.Context(), engine.Turn{Ref: engine.Ref{Session: "t", Turn: "run-1"}, Sender: owner()}); !errors.Is(err, engine.ErrSealed) {
		t.Errorf("beginning a sealed turn: got %v, want ErrSealed", err)
	}
}

func TestASecondMessageIsAnotherTurn(t *testing.T) {
	w := newWorld(t, "")
	one, two := "one", "two"
	w.begin(engine.Turn{Ref: main("s"), Sender: owner()})
	w.begin(engine.Turn{Ref: main("s"), Sender: owner(), Message: &one}) // joins: the first hook had no message
	if open := w.begin(engine.Turn{Ref: main("s"), Sender: stranger(), Message: &two}); open.Continued || open.Turn != "turn-2" || open.Taint.Level != trust.External {
		t.Errorf("got %+v, want a turn of its own, external", open)
	}
	if got := count(w.events("s"), event.TurnBegan); got != 2 {
		t.Errorf("got %d turns, want 2", got)
	}
}

func TestAHookOfAnotherSenderLowersTheFreshTurn(t *testing.T) {
	w := newWorld(t, "")
	w.begin(engine.Turn{Ref: main("s"), Sender: owner()})
	words := "me too"
	open := w.begin(engine.Turn{Ref: main("s"), Sender: stranger(), Message: &words})
	if !open.Continued || open.Taint.Level != trust.External {
		t.Errorf("got %+v, want the same turn, external now", open)
	}
}

func TestACallNobodyAnnouncedIsUntrusted(t *testing.T) {
	w := newWorld(t, byLevels)
	v := w.want(policy.Confirm, main("s"), call("deploy", `{}`))
	if v.Taint.Level != trust.Untrusted {
		t.Errorf("got %s, want untrusted: nobody began this session", v.Taint.Level)
	}
	if got := w.events("s"); got[0].Kind != event.TurnBegan || got[0].Began.Rule != "not-begun" {
		t.Errorf("got %v, want a turn recorded as never begun", kinds(got))
	}
	w.ownerSays("t", "hi")
	w.end(main("t"))
	v = w.want(policy.Allow, main("t"), call("deploy", `{}`))
	if v.Taint.Level != trust.Owner {
		t.Errorf("after a turn: got %s, want the mark the context has", v.Taint.Level)
	}
	branch := engine.Ref{Session: "t", Branch: "nobody"}
	if v := w.want(policy.Confirm, branch, call("deploy", `{}`)); v.Taint.Level != trust.Untrusted {
		t.Errorf("in a branch nobody began: got %s, want untrusted", v.Taint.Level)
	}
}

func TestTheLogHoldsNoSecretsOfAMessage(t *testing.T) {
	for file, kept := range map[string]bool{"": true, "record: {messages: false, previews: false}": false} {
		w := newWorld(t, file)
		w.ownerSays("s", "use ghp_abcdefghijklmnopqrstuvwxyz to log in")
		got := w.events("s")[0].Began.Message
		want := ""
		if kept {
			want = "use [REDACTED] to log in"
		}
		if got.Text != want || got.Preview != want || got.Bytes != 44 || got.Hash != tool.DigestOf([]byte("use ghp_abcdefghijklmnopqrstuvwxyz to log in")) {
			t.Errorf("%q: got %+v, want %q", file, got, want)
		}
	}
}

// HOOK-03
func TestACensusLowersTheContextAndIsEvidence(t *testing.T) {
	w := newWorld(t, "")
	items := []event.Item{{Kind: "system_prompt", Trust: trust.System}, {Kind: "tool_result", Tool: "Web-Fetch", Trust: trust.Untrusted, Index: 4}}
	open := w.begin(engine.Turn{Ref: main("s"), Sender: owner(), Items: items})
	if got := engine.Evidence(open.Taint); open.Taint.Level != trust.Untrusted || got != "web_fetch at step 0 [untrusted]" {
		t.Errorf("got %s because of %q", open.Taint.Level, got)
	}
}

// BEY-06
func TestTheTurnOfASubAgentsResultSaysSo(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("child", "go")
	w.runs(main("child"), call("vestige_search", `{}`), "x")
	group := trust.Sender{Provider: "slack", ID: "1", IsOwner: true, Group: "eng"}
	open := w.begin(engine.Turn{Ref: main("s"), Sender: group, From: "child"})
	if got := engine.Evidence(open.Taint); !strings.Contains(got, "sub agent (“slack eng 1”) [shared]") || !strings.Contains(got, "vestige_search") {
		t.Errorf("got %q, want the sub-agent and what it read", got)
	}
}

func TestTheAgentsOwnPolicyHolds(t *testing.T) {
	w := newWorld(t, "agents: {careful: {toolOverrides: {exec: {'*': hide}}}}")
	w.begin(engine.Turn{Ref: main("s"), Agent: "careful", Sender: owner()})
	w.want(policy.Deny, main("s"), call("exec", `{}`))
	w.begin(engine.Turn{Ref: main("t"), Agent: "other", Sender: owner()})
	w.want(policy.Allow, main("t"), call("exec", `{}`))
	if got := w.view("s").Agent; got != "careful" {
		t.Errorf("got agent %q", got)
	}
	w.begin(engine.Turn{Ref: main("s"), Sender: owner()}) // a later hook that names no agent
	w.want(policy.Deny, main("s"), call("exec", `{}`))
}
