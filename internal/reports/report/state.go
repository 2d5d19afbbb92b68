package report

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// stateVersion is of the form in which a Builder is written down. It is another whenever records are counted otherwise, too.
const stateVersion = 2

// state is a Builder as it is written down.
type state struct {
	Version int             `json:"v"`
	Newest  int64           `json:"newest"`
	Floor   int64           `json:"floor"`
	Parts   []statePart     `json:"parts"`
	Open    []stateQuestion `json:"open"`
	Uses    []Use           `json:"uses,omitempty"`
}

type statePart struct {
	From      int64          `json:"from"`
	To        int64          `json:"to"`
	Oldest    int64          `json:"oldest"`
	Newest    int64          `json:"newest"`
	Totals    Totals         `json:"totals"`
	Rows      []stateRow     `json:"rows,omitempty"`
	Audits    []*AuditRow    `json:"audits,omitempty"`
	Items     []*ItemRow     `json:"items,omitempty"`
	Verifiers []*VerifierRow `json:"verifiers,omitempty"`
	Shadows   []*ShadowRow   `json:"shadows,omitempty"`
	Streaks   []stateStreak  `json:"streaks,omitempty"`
}

type stateRow struct {
	Row
	Seen uint64  `json:"seen,omitzero"`
	Kept []int64 `json:"kept,omitempty"`
	Draw uint64  `json:"draw,omitzero"`
}

type stateStreak struct {
	Session string `json:"session"`
	Rule    string `json:"rule"`
	Tool    string `json:"tool"`
	Kind    string `json:"kind,omitzero"`
	Yes     int    `json:"yes,omitzero"`
	Other   int    `json:"other,omitzero"`
}

// stateQuestion is a question that is open, with the places of its part, its row and its block.
type stateQuestion struct {
	Session  string `json:"session"`
	ID       string `json:"id"`
	Part     int    `json:"part"`
	Row      int    `json:"row"`
	Audit    int    `json:"audit"` // -1: it is about no block
	Asked    int64  `json:"asked"`
	Ends     int64  `json:"ends"`
	Approved bool   `json:"approved,omitzero"`
}

// State is the Builder written down, the same bytes for the same counts.
func (b *Builder) State() ([]byte, error) {
	out := state{Version: stateVersion, Newest: b.newest, Floor: b.floor, Parts: []statePart{}, Open: []stateQuestion{}}
	out.Uses = b.keptUses()
	parts, rows, audits := map[*part]int{}, map[*row]int{}, map[*AuditRow]int{nil: -1}
	for i, p := range b.parts {
		parts[p] = i
		for j, r := range p.rows.list {
			rows[r] = j
		}
		for j, r := range p.audits.list {
			audits[r] = j
		}
		out.Parts = append(out.Parts, p.state())
	}
	for session, list := range b.open {
		for id, q := range list {
			at := stateQuestion{session, id, parts[q.in], rows[q.row], audits[q.audit], q.asked, q.ends, q.approved}
			out.Open = append(out.Open, at)
		}
	}
	slices.SortFunc(out.Open, func(x, y stateQuestion) int {
		return cmp.Or(cmp.Compare(x.Session, y.Session), cmp.Compare(x.ID, y.ID))
	})
	return strictjson.Marshal(out)
}

func (p *part) state() statePart {
	out := statePart{
		From: p.from, To: p.to, Oldest: p.oldest, Newest: p.newest, Totals: p.totals,
		Audits: p.audits.list, Items: p.items.list, Verifiers: p.verifiers.list, Shadows: p.shadows.list,
	}
	for _, r := range p.rows.list {
		out.Rows = append(out.Rows, stateRow{r.Row, r.answers.seen, r.answers.kept, r.answers.draw})
	}
	for k, s := range p.streaks {
		out.Streaks = append(out.Streaks, stateStreak{k.session, k.row.rule, k.row.tool, k.row.kind, s.yes, s.other})
	}
	slices.SortFunc(out.Streaks, func(x, y stateStreak) int {
		return cmp.Or(cmp.Compare(x.Session, y.Session), cmp.Compare(x.Rule, y.Rule),
			cmp.Compare(x.Tool, y.Tool), cmp.Compare(x.Kind, y.Kind))
	})
	return out
}

// errState is for what no Builder has written down.
var errState = errors.New("counts of a report: not in a form that this program writes")

// Resume is the Builder that was written down.
func Resume(raw []byte) (*Builder, error) {
	var in state
	if err := strictjson.UnmarshalKnown(raw, &in); err != nil {
		return nil, fmt.Errorf("counts of a report: %w", err)
	}
	if in.Version != stateVersion {
		return nil, errState
	}
	b := New()
	b.newest, b.floor = in.Newest, in.Floor
	for i := range in.Parts {
		p := in.Parts[i].part()
		if p.from >= p.to || i > 0 && p.from < in.Parts[i-1].To {
			return nil, errState
		}
		b.parts = append(b.parts, p)
	}
	for i := range in.Uses {
		b.uses[in.Uses[i].ID] = &in.Uses[i]
	}
	for i := range in.Open {
		if err := b.reopen(&in.Open[i]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *Builder) reopen(s *stateQuestion) error {
	if s.Part < 0 || s.Part >= len(b.parts) {
		return errState
	}
	p := b.parts[s.Part]
	if s.Row < 0 || s.Row >= len(p.rows.list) || s.Audit < -1 || s.Audit >= len(p.audits.list) || b.open[s.Session][s.ID] != nil {
		return errState
	}
	q := &question{in: p, row: p.rows.list[s.Row], asked: s.Asked, ends: s.Ends, approved: s.Approved}
	if s.Audit >= 0 {
		q.audit = p.audits.list[s.Audit]
	}
	if b.open[s.Session] == nil {
		b.open[s.Session] = map[string]*question{}
	}
	b.open[s.Session][s.ID] = q
	b.waiting++
	return nil
}

func (s *statePart) part() *part {
	p := newPart(s.From, s.To)
	p.oldest, p.newest, p.totals = s.Oldest, s.Newest, s.Totals
	for _, r := range s.Rows {
		p.rows.put(&row{r.Row, sample{r.Seen, r.Kept, r.Draw}})
	}
	p.audits.putAll(s.Audits)
	p.items.putAll(s.Items)
	p.verifiers.putAll(s.Verifiers)
	p.shadows.putAll(s.Shadows)
	for _, k := range s.Streaks {
		p.streaks[streakKey{k.Session, rowKey{k.Rule, k.Tool, k.Kind}}] = &streak{k.Yes, k.Other}
	}
	return p
}
