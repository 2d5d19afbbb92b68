package quorum_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/quorum"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func rules(list ...quorum.Rule) *quorum.Rules {
	return &quorum.Rules{List: list, People: []quorum.Person{
		{Name: "ada", Accounts: []string{"slack:UADA", "telegram:7", "approver"}, Agents: []string{"claude"}},
		{Name: "bob", Accounts: []string{"slack:UBOB"}, Quiet: quorum.Hours{From: 22 * 60, To: 7 * 60, Zone: time.UTC}},
		{Name: "eve", Accounts: []string{"discord:9"}, Agents: []string{"codex"}},
		{Name: "joe", Accounts: []string{"approver:joe@example.com"}},
	}}
}

func about(agent, act string) engine.QuestionInfo {
	return engine.QuestionInfo{Agent: agent, Tool: "bank_transfer", Act: act, Kind: "danger", Asked: noon, Now: noon.Add(time.Minute)}
}

// BEY-10: whose approval counts, and how many of them it takes.
func TestWhoseApprovalCounts(t *testing.T) {
	two := quorum.Rule{Acts: []string{"pay"}, People: 2}
	own := quorum.Rule{NotOwn: true}
	both := quorum.Rule{People: 2, Ask: []string{"bob", "eve"}}
	mine := quorum.Rule{People: 2, NotOwn: true}
	apart := quorum.Rule{People: 2, Apart: true}
	three := quorum.Rule{People: 3, Apart: true}
	ask := quorum.Rule{Agents: []string{"cla*"}, Ask: []string{"bob"}, Then: []quorum.Step{{After: 10 * time.Minute, Ask: []string{"eve"}}}}
	late := about("claude", "pay")
	late.Now = noon.Add(10 * time.Minute)
	tests := map[string]struct {
		rules  *quorum.Rules
		c      engine.QuestionInfo
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

		"two tokens that one administrator may have made": {rules(apart), about("x", "pay"), "approver:bob", []string{"approver:ada"}, false, true},
		"the token of a role beside such a token":         {rules(apart), about("x", "pay"), "approver", []string{"admin:bob"}, false, true},
		"a token and a chat":                              {rules(apart), about("x", "pay"), "slack:UBOB", []string{"approver:ada"}, true, false},
		"a chat and a token":                              {rules(apart), about("x", "pay"), "approver:ada", []string{"slack:UBOB"}, true, false},
		"two chats":                                       {rules(apart), about("x", "pay"), "discord:9", []string{"slack:UBOB"}, true, false},
		"a token and a provider":                          {rules(apart), about("x", "pay"), "approver:joe@example.com", []string{"admin:ada"}, true, false},
		"of two tokens of before one counts":              {rules(three), about("x", "pay"), "slack:UBOB", []string{"approver:ada", "approver:eve"}, false, false},
		"one token and two chats":                         {rules(three), about("x", "pay"), "discord:9", []string{"approver:ada", "slack:UBOB"}, true, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			enough, err := tt.rules.Allows(tt.c, tt.by, tt.agreed)
			if enough != tt.enough || (err != nil) != tt.fails || err != nil && !errors.Is(err, engine.ErrApprover) {
				t.Errorf("got %t, %v; want %t, failing %t", enough, err, tt.enough, tt.fails)
			}
		})
	}
}

// BEY-10: where a question is sent now, and when that changes: by who is asked, by their quiet
// hours, and by how long nobody answered.
func TestWhereAQuestionIsSent(t *testing.T) {
	ask := quorum.Rule{Ask: []string{"bob"}, Then: []quorum.Step{{After: 10 * time.Minute, Ask: []string{"eve"}}}}
	at := func(d time.Duration) engine.QuestionInfo {
		c := about("claude", "pay")
		c.Now = noon.Add(d)
		return c
	}
	night := about("claude", "pay")
	night.Asked, night.Now = noon.Add(11*time.Hour), noon.Add(11*time.Hour)
	tests := map[string]struct {
		rules   *quorum.Rules
		c       engine.QuestionInfo
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

// BEY-10: whether one person is told now: by who is asked, by their quiet hours, and by how long nobody answered.
func TestWhoIsTold(t *testing.T) {
	ask := quorum.Rule{Ask: []string{"bob"}, Then: []quorum.Step{{After: 10 * time.Minute, Ask: []string{"eve"}}}}
	day := about("claude", "pay")
	later, night := day, day
	later.Now = noon.Add(10 * time.Minute)
	night.Now = noon.Add(11 * time.Hour)
	night.Asked = night.Now
	for name, tt := range map[string]struct {
		rules   *quorum.Rules
		c       engine.QuestionInfo
		account string
		now     bool
		next    time.Time
	}{
		"without rules everybody":               {rules(), day, "approver", true, time.Time{}},
		"and somebody the file does not name":   {rules(), day, "reader:max", true, time.Time{}},
		"one who is asked":                      {rules(ask), day, "approver:bob", true, time.Time{}},
		"one who is asked later":                {rules(ask), day, "admin:eve", false, noon.Add(10 * time.Minute)},
		"the same, later":                       {rules(ask), later, "admin:eve", true, time.Time{}},
		"one who is not asked":                  {rules(ask), later, "approver:joe@example.com", false, time.Time{}},
		"one whom nobody knows, with a rule":    {rules(ask), later, "admin", false, time.Time{}},
		"one who sleeps, without rules":         {rules(), night, "approver:bob", false, noon.Add(19 * time.Hour)},
		"one who sleeps, and is asked":          {rules(ask), night, "slack:UBOB", false, noon.Add(19 * time.Hour)},
		"one who is awake while another sleeps": {rules(), night, "discord:9", true, time.Time{}},
	} {
		if now, next := tt.rules.Reaches(tt.c, tt.account); now != tt.now || !next.Equal(tt.next) {
			t.Errorf("%s: got %t, again at %v; want %t, %v", name, now, next, tt.now, tt.next)
		}
	}
}

// What lets people approve who could not, or fewer of them, or sends them less, is found; what is stricter is not.
func TestWhatIsLooser(t *testing.T) {
	base := quorum.Rule{Acts: []string{"pay"}, People: 2, NotOwn: true, Apart: true, Ask: []string{"ada", "bob"},
		Then: []quorum.Step{{After: 10 * time.Minute, Ask: []string{"eve"}}}}
	with := func(change func(*quorum.Rule)) *quorum.Rules {
		next := base
		change(&next)
		return rules(next)
	}
	people := func(change func(p *quorum.Person)) *quorum.Rules {
		next := rules(base)
		change(&next.People[1])
		return next
	}
	quiet := func(from, to int, zone *time.Location) *quorum.Rules {
		return people(func(p *quorum.Person) { p.Quiet = quorum.Hours{From: from * 60, To: to * 60, Zone: zone} })
	}
	for name, tt := range map[string]struct {
		before, after *quorum.Rules
		want          string // what an entry says; empty: none is looser
	}{
		"the same":                           {rules(base), rules(base), ""},
		"the first rules there are":          {rules(), rules(base), ""},
		"a further rule at the end":          {rules(base), rules(base, quorum.Rule{People: 2}), ""},
		"a rule before it":                   {rules(base), rules(quorum.Rule{}, base), "rule 1 would apply to other questions"},
		"a rule that is gone":                {rules(base), rules(), "rule 1 would be gone"},
		"about less":                         {rules(base), with(func(r *quorum.Rule) { r.Tools = []string{"x"} }), "apply to other questions"},
		"one person":                         {rules(base), with(func(r *quorum.Rule) { r.People = 0 }), "took 2 people and would take 1"},
		"three people":                       {rules(base), with(func(r *quorum.Rule) { r.People = 3 }), ""},
		"one's own agents":                   {rules(base), with(func(r *quorum.Rule) { r.NotOwn = false }), "agents of their own"},
		"not apart":                          {rules(base), with(func(r *quorum.Rule) { r.Apart = false }), "one administrator made"},
		"everybody":                          {rules(base), with(func(r *quorum.Rule) { r.Ask, r.Then = nil, nil }), "everybody could approve"},
		"one more":                           {rules(base), with(func(r *quorum.Rule) { r.Ask = []string{"ada", "bob", "joe"} }), "joe could approve too"},
		"one fewer":                          {rules(base), with(func(r *quorum.Rule) { r.Ask = []string{"ada"} }), ""},
		"at once":                            {rules(base), with(func(r *quorum.Rule) { r.Ask = []string{"ada", "bob", "eve"} }), "eve could approve earlier"},
		"earlier":                            {rules(base), with(func(r *quorum.Rule) { r.Then = []quorum.Step{{After: time.Minute, Ask: []string{"eve"}}} }), "eve could approve earlier"},
		"later":                              {rules(base), with(func(r *quorum.Rule) { r.Then = []quorum.Step{{After: time.Hour, Ask: []string{"eve"}}} }), ""},
		"from the start only some":           {rules(quorum.Rule{}), rules(quorum.Rule{Ask: []string{"ada"}}), ""},
		"a further account":                  {rules(base), people(func(p *quorum.Person) { p.Accounts = append(p.Accounts, "slack:UX") }), "slack:UX could approve as bob"},
		"an account fewer":                   {rules(base), people(func(p *quorum.Person) { p.Accounts = nil }), ""},
		"another person":                     {rules(base), people(func(p *quorum.Person) { p.Name = "max" }), "max would be added"},
		"an agent that is nobody's any more": {rules(base), func() *quorum.Rules { r := rules(base); r.People[0].Agents = nil; return r }(), "claude would no longer be an agent of ada"},
		"longer quiet hours":                 {rules(base), quiet(21, 7, time.UTC), "bob would get no messages"},
		"shorter quiet hours":                {rules(base), quiet(23, 6, time.UTC), ""},
		"quiet hours by day":                 {rules(base), quiet(9, 17, time.UTC), "bob would get no messages"},
		"quiet hours elsewhere":              {rules(base), quiet(22, 7, time.FixedZone("there", 3600)), "bob would get no messages"},
		"no quiet hours":                     {rules(base), quiet(0, 0, nil), ""},
		"quiet hours without rules":          {rules(), func() *quorum.Rules { r := quiet(9, 17, time.UTC); r.List = nil; return r }(), "bob would get no messages"},
	} {
		got := quorum.Looser(tt.before, tt.after)
		if tt.want == "" && len(got) > 0 || tt.want != "" && !strings.Contains(strings.Join(got, "; "), tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
