package quorum_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/people/quorum"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func rules(list ...quorum.Rule) *quorum.Rules {
	return &quorum.Rules{List: list, People: []quorum.Person{
		{Name: "ada", Accounts: []string{"slack:UADA", "telegram:7", "approver"}, Agents: []string{"claude"}},
		{Name: "bob", Accounts: []string{"slack:UBOB"}, Quiet: quorum.Hours{From: 22 * 60, To: 7 * 60, Zone: time.UTC}},
		{Name: "eve", Accounts: []string{"discord:9"}, Agents: []string{"codex"}},
	}}
}

func about(agent, act string) tidemark.Case {
	return tidemark.Case{Agent: agent, Tool: "bank_transfer", Act: act, Kind: "danger", Asked: noon, Now: noon.Add(time.Minute)}
}

// BEY-10: whose approval counts, and how many of them it takes.
func TestWhoseApprovalCounts(t *testing.T) {
	two := quorum.Rule{Acts: []string{"pay"}, People: 2}
	own := quorum.Rule{NotOwn: true}
	both := quorum.Rule{People: 2, Ask: []string{"bob", "eve"}}
	mine := quorum.Rule{People: 2, NotOwn: true}
	ask := quorum.Rule{Agents: []string{"cla*"}, Ask: []string{"bob"}, Then: []quorum.Step{{After: 10 * time.Minute, Ask: []string{"eve"}}}}
	late := about("claude", "pay")
	late.Now = noon.Add(10 * time.Minute)
	tests := map[string]struct {
		rules  *quorum.Rules
		c      tidemark.Case
		by     string
		agreed []string
		enough bool
		fails  bool
	}{
		"without rules anybody decides":              {rules(), about("claude", "pay"), "owner", nil, true, false},
		"a rule about something else":                {rules(two), about("claude", "send"), "owner", nil, true, false},
		"the first of two":                           {rules(two), about("claude", "pay"), "slack:UADA", nil, false, false},
		"the second of two":                          {rules(two), about("claude", "pay"), "slack:UBOB", []string{"slack:UADA"}, true, false},
		"the same person twice":                      {rules(two), about("claude", "pay"), "slack:UADA", []string{"slack:UADA"}, false, true},
		"the same person by another account":         {rules(two), about("claude", "pay"), "telegram:7", []string{"slack:UADA"}, false, true},
		"a second whom nobody knows":                 {rules(two), about("claude", "pay"), "owner", []string{"slack:UADA"}, false, true},
		"one's own agent":                            {rules(own), about("claude", "send"), "telegram:7", nil, false, true},
		"one's own agent, spelled otherwise":         {rules(own), about("Claude", "send"), "telegram:7", nil, false, true},
		"an agent without a name":                    {rules(own), about("", "send"), "telegram:7", nil, false, true},
		"another's agent":                            {rules(own), about("codex", "send"), "telegram:7", nil, true, false},
		"an account of nobody's":                     {rules(own), about("codex", "send"), "admin", nil, false, true},
		"somebody who is asked":                      {rules(ask), about("claude", "pay"), "slack:UBOB", nil, true, false},
		"somebody who is not asked":                  {rules(ask), about("claude", "pay"), "slack:UADA", nil, false, true},
		"somebody who is asked later":                {rules(ask), about("claude", "pay"), "discord:9", nil, false, true},
		"the same, later":                            {rules(ask), late, "discord:9", nil, true, false},
		"the first rule that fits decides":           {rules(ask, two), about("claude", "pay"), "slack:UBOB", nil, true, false},
		"another agent falls through to the next":    {rules(ask, two), about("codex", "pay"), "slack:UBOB", nil, false, false},
		"a token of one's own is the person":         {rules(two), about("claude", "pay"), "approver:bob", []string{"slack:UADA"}, true, false},
		"and the same person by it":                  {rules(two), about("claude", "pay"), "admin:ada", []string{"slack:UADA"}, false, true},
		"a reader's name approves for nobody":        {rules(two), about("claude", "pay"), "reader:bob", []string{"slack:UADA"}, false, true},
		"an earlier yes of one no longer asked":      {rules(both), about("claude", "pay"), "slack:UBOB", []string{"slack:UADA"}, false, false},
		"an earlier yes for what is now one's own":   {rules(mine), about("claude", "pay"), "slack:UBOB", []string{"slack:UADA"}, false, false},
		"an earlier yes of a stranger counts for no": {rules(two), about("claude", "pay"), "slack:UADA", []string{"nobody"}, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			enough, err := tt.rules.Elect(tt.c, tt.by, tt.agreed)
			if enough != tt.enough || (err != nil) != tt.fails || err != nil && !errors.Is(err, tidemark.ErrElector) {
				t.Errorf("got %t, %v; want %t, failing %t", enough, err, tt.enough, tt.fails)
			}
		})
	}
}

// BEY-10: where a question is sent now, and when that changes: by who is asked, by their quiet
// hours, and by how long nobody answered.
func TestWhereAQuestionIsSent(t *testing.T) {
	ask := quorum.Rule{Ask: []string{"bob"}, Then: []quorum.Step{{After: 10 * time.Minute, Ask: []string{"eve"}}}}
	at := func(d time.Duration) tidemark.Case {
		c := about("claude", "pay")
		c.Now = noon.Add(d)
		return c
	}
	night := about("claude", "pay")
	night.Asked, night.Now = noon.Add(11*time.Hour), noon.Add(11*time.Hour)
	tests := map[string]struct {
		rules   *quorum.Rules
		c       tidemark.Case
		channel string
		now     bool
		next    time.Time
	}{
		"without rules everywhere":                        {rules(), at(0), "slack", true, time.Time{}},
		"a channel the file says nothing of":              {rules(), at(0), "webhook", true, time.Time{}},
		"a channel the file says nothing of, with a rule": {rules(ask), at(0), "webhook", false, noon.Add(10 * time.Minute)},
		"where somebody who is asked reads":               {rules(ask), at(0), "slack", true, noon.Add(10 * time.Minute)},
		"where they do not, until somebody else is":       {rules(ask), at(0), "discord", false, noon.Add(10 * time.Minute)},
		"then it is":                             {rules(ask), at(10 * time.Minute), "discord", true, time.Time{}},
		"at night, until somebody else is asked": {rules(ask), night, "slack", false, noon.Add(11*time.Hour + 10*time.Minute)},
		"at night, until the morning":            {rules(quorum.Rule{Ask: []string{"bob"}}), night, "slack", false, noon.Add(19 * time.Hour)},
		"at night, where another is awake":       {rules(), night, "slack", true, time.Time{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if now, next := tt.rules.Pushed(tt.c, tt.channel); now != tt.now || !next.Equal(tt.next) {
				t.Errorf("got %t, again at %v; want %t, %v", now, next, tt.now, tt.next)
			}
		})
	}
}
