package report_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/report"
)

var update = flag.Bool("update", false, "rewrite golden files")

// poll asks n questions of a rule, one per session, and answers the first yes with yes
// and the next no with no.
func (l *log) poll(rule, tool, kind string, n, yes, no int) {
	l.t.Helper()
	for i := range n {
		session := fmt.Sprintf("%s %s %d", rule, tool, i)
		id := l.ask(session, 0, rule, tool, kind)
		switch {
		case i < yes:
			l.answer(session, 10, "approve", id)
			l.spend(session, 11, rule, tool, id)
		case i < yes+no:
			l.answer(session, 20, "deny", id)
		default:
			l.decided(session, 1000, event.Decided{Tool: "read", Effect: "allow", Rule: "x"})
		}
	}
}

// CAU-11
func TestSuggestionsAreCautious(t *testing.T) {
	const widens, narrows = true, false
	tests := []struct {
		name     string
		log      func(l *log)
		kind     string // "" for none
		text     string // begins so
		evidence string
		widens   bool
	}{
		{"a rule that always gets a yes", func(l *log) { l.poll("taintPolicy.shared", "exec", "taint-escalation", 10, 10, 0) },
			"allow", "consider toolOverrides.exec.shared: allow;", "asked 10 times: 10 yes, 0 no, 0 expired", widens},
		{"one of twenty expired", func(l *log) { l.poll("toolOverrides.exec.shared", "exec", "", 20, 19, 0) },
			"allow", "consider toolOverrides.exec.shared: allow;", "asked 20 times: 19 yes, 0 no, 1 expired", widens},
		{"an agent's rule", func(l *log) { l.poll("agents.intern.taintPolicy.owner", "exec", "", 10, 10, 0) },
			"allow", "consider agents.intern.toolOverrides.exec.owner: allow;", "asked 10 times: 10 yes, 0 no, 0 expired", widens},
		{"a rule of the file", func(l *log) { l.poll("rules.ask", "deploy", "escalate", 10, 10, 0) },
			"allow", "consider effect: allow for deploy in rules.ask;", "asked 10 times: 10 yes, 0 no, 0 expired", widens},
		{"the default", func(l *log) { l.poll("defaultEffect", "deploy", "escalate", 10, 10, 0) },
			"allow", "consider a rule with tools: [deploy] and effect: allow in rules;", "asked 10 times: 10 yes, 0 no, 0 expired", widens},
		{"not asked often enough", func(l *log) { l.poll("taintPolicy.shared", "exec", "", 9, 9, 0) }, "", "", "", false},
		{"two of twenty expired", func(l *log) { l.poll("taintPolicy.shared", "exec", "", 20, 18, 0) }, "", "", "", false},
		{"a single no", func(l *log) { l.poll("taintPolicy.shared", "exec", "", 40, 39, 1) }, "", "", "", false},
		{"content from outside", func(l *log) { l.poll("taintPolicy.external", "exec", "taint-escalation", 40, 40, 0) }, "", "", "", false},
		{"a key for all levels", func(l *log) { l.poll("toolOverrides.exec.*", "exec", "", 40, 40, 0) }, "", "", "", false},
		{"a sequence of calls", func(l *log) { l.poll("taint-escalation", "exec", "taint-escalation", 40, 40, 0) }, "", "", "", false},
		{"the lethal trifecta", func(l *log) { l.poll("lethal-trifecta", "exec", "taint-escalation", 40, 40, 0) }, "", "", "", false},
		{"a rule that denies too", func(l *log) {
			l.poll("rules.ask", "exec", "escalate", 10, 10, 0)
			l.decided("d", 0, event.Decided{Tool: "exec", Effect: "deny", Rule: "rules.ask", Kind: "escalate"})
		}, "", "", "", false},
		{"a rule nobody says yes to", func(l *log) { l.poll("taintPolicy.external", "exec", "taint-escalation", 10, 0, 6) },
			"restrict", "consider toolOverrides.exec.external: hide;", "asked 10 times: 0 yes, 6 no, 4 expired", narrows},
		{"a rule of the file nobody says yes to", func(l *log) { l.poll("rules.ask", "exec", "escalate", 10, 0, 10) },
			"restrict", "consider effect: deny for exec in rules.ask;", "asked 10 times: 0 yes, 10 no, 0 expired", narrows},
		{"a trifecta nobody says yes to", func(l *log) { l.poll("lethal-trifecta", "post", "taint-escalation", 10, 0, 10) },
			"restrict", "consider lethalTrifecta: hide;", "asked 10 times: 0 yes, 10 no, 0 expired", narrows},
		{"a rule without a key of its own", func(l *log) { l.poll("agents.x", "exec", "", 10, 0, 10) }, "", "", "", false},
		{"questions that expire", func(l *log) { l.poll("taint-escalation", "exec", "", 10, 2, 2) },
			"ttl", "raise approvalTtlSeconds,", "6 of 10 questions expired", false},
		{"the same question all session", func(l *log) { l.streak(5, "approve") },
			"grant", "answer with a grant, for example .approve exec <code> 15:", "asked 5 times: 5 yes, 0 no, 0 expired", false},
		{"the same question, and a no", func(l *log) { l.streak(5, "approve"); l.streak(1, "deny") }, "", "", "", false},
		{"a source whose blocks are overridden", func(l *log) { l.blocks(10, 8) },
			"caution-off", "consider caution.tools.web_fetch: false,", "stopped 10 calls after web_fetch, a person approved 8 of them", widens},
		{"a source whose blocks often stand", func(l *log) { l.blocks(10, 7) }, "", "", "", false},
		{"an auditor that fails", func(l *log) { l.audits(10, 3) }, "auditor", "raise auditor.timeoutMs,", "no answer to 3 of 10 audits", false},
		{"an auditor that fails now and then", func(l *log) { l.audits(10, 2) }, "", "", "", false},
		{"a verifier that fails", func(l *log) { l.rulings(10, 3) }, "verifier", "look at the verifier", "no answer to 3 of 10 calls", false},
		{"a verifier that fails now and then", func(l *log) { l.rulings(10, 2) }, "", "", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &log{t: t}
			tt.log(l)
			got := l.report(report.Options{}).Suggestions
			if tt.kind == "" {
				if len(got) > 0 {
					t.Errorf("got %+v, want none", got)
				}
				return
			}
			if len(got) != 1 || got[0].Kind != tt.kind || !strings.HasPrefix(got[0].Text, tt.text) || got[0].Evidence != tt.evidence || got[0].Widens != tt.widens {
				t.Errorf("got %+v\nwant %s %q because %q, widens %v", got, tt.kind, tt.text, tt.evidence, tt.widens)
			}
			if len(got) == 1 && tt.widens != strings.Contains(got[0].Text, "This widens") {
				t.Errorf("the text does not say whether it widens: %s", got[0].Text)
			}
		})
	}
}

func (l *log) streak(n int, verdict string) {
	for range n {
		second := float64(10 * l.asks)
		id := l.ask("one session", second, "taintPolicy.external", "exec", "taint-escalation")
		l.answer("one session", second+5, verdict, id)
	}
}

func (l *log) blocks(n, approved int) {
	for i := range n {
		session, id := fmt.Sprintf("b%d", i), fmt.Sprintf("ask-b%d", i)
		l.decided(session, 0, event.Decided{
			Tool: "message", Effect: "confirm", Rule: "caution.web_fetch", Kind: "intent-block", Ask: &event.Ask{ID: id, Expires: at(120)},
			Opinion: &event.Opinion{Kind: "caution", Answer: "inconsistent", Source: "web_fetch", Settled: "block"},
		})
		verdict := "approve"
		if i >= approved {
			verdict = "deny"
		}
		l.answer(session, 3, verdict, id)
	}
}

func (l *log) audits(n, failed int) {
	for i := range n {
		o := &event.Opinion{Kind: "caution", Answer: "consistent", Source: "web_fetch", Settled: "allow"}
		if i < failed {
			o = &event.Opinion{Kind: "caution", Answer: "unsure", Source: "web_fetch", Settled: "warn", Failed: "timeout"}
		}
		l.decided("s", float64(i), event.Decided{Tool: "write", Effect: "allow", Rule: "x", Opinion: o})
	}
}

func (l *log) rulings(n, failed int) {
	for i := range n {
		l.decided("s", float64(i), event.Decided{Tool: "write", Effect: "allow", Rule: "x", Ruling: &event.Ruling{Allow: true, By: "webhook", Failed: i < failed}})
	}
}

func story(t *testing.T) report.Report {
	l := &log{t: t}
	l.poll("taintPolicy.shared", "exec", "taint-escalation", 12, 12, 0)
	l.poll("rules.ask-before-deploying-anything-at-all", "deploy_to_production", "escalate", 10, 3, 2)
	l.poll("taintPolicy.external", "message", "taint-escalation", 11, 0, 9)
	l.blocks(10, 9)
	l.audits(6, 5)
	l.rulings(4, 1)
	l.decided("z", 0, event.Decided{Tool: "evil\x1b[31m\u202etool", Effect: "deny", Rule: "policies.no-exec"})
	return l.report(report.Options{})
}

// CAU-11
func TestRenderIsAReadablePage(t *testing.T) {
	for _, width := range []int{60, 100} {
		var b strings.Builder
		if err := story(t).Render(&b, width, false); err != nil {
			t.Fatal(err)
		}
		file := fmt.Sprintf("testdata/report-%d.txt", width)
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

func TestRenderStaysInItsPlace(t *testing.T) {
	var plain, coloured strings.Builder
	r := story(t)
	if err := r.Render(&plain, 0, false); err != nil {
		t.Fatal(err)
	}
	if err := r.Render(&coloured, 0, true); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(plain.String(), "\x1b\u202e") {
		t.Errorf("a name got a terminal sequence through:\n%q", plain.String())
	}
	for line := range strings.Lines(plain.String()) {
		if n := lipgloss.Width(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	if !strings.Contains(coloured.String(), "\x1b[") || strings.Contains(coloured.String(), "\x1b[31m\u202e") {
		t.Errorf("the coloured page has no colour, or that of a name:\n%q", coloured.String())
	}
	var empty strings.Builder
	if err := (report.Report{}).Render(&empty, 80, false); err != nil || !strings.HasPrefix(empty.String(), "Report  no records") {
		t.Errorf("an empty report: got %v and\n%s", err, empty.String())
	}
}

func TestAnswerTimesReadWell(t *testing.T) {
	for seconds, want := range map[float64]string{0.25: "0.2s", 59: "59.0s", 80: "1m20s", 3600: "1h0m", 7300: "2h2m"} {
		l := &log{t: t}
		l.decided("s", 0, event.Decided{Tool: "exec", Effect: "confirm", Rule: "agents.x", Ask: &event.Ask{ID: "ask-1", Expires: at(1e6)}})
		l.add("s", seconds, event.Event{Kind: event.Answered, Answer: &event.Answer{IDs: []string{"ask-1"}, Verdict: "approve", Grant: &event.Grant{ID: "grant-1"}}})
		var b strings.Builder
		if err := l.report(report.Options{}).Render(&b, 100, false); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "  "+want+"  ") || !strings.Contains(b.String(), "1 made, 0 revoked; 0 wrong codes") {
			t.Errorf("%v seconds: want %s in\n%s", seconds, want, b.String())
		}
	}
}
