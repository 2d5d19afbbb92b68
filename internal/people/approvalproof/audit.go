package approvalproof

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

// Log is what an audit of the proofs reads.
type Log interface {
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
}

// Audit checks the proof of every approval in a log, years later if need be: that it is of a
// key which was enrolled then, over exactly the call that was asked about. It returns what is
// wrong and how many signatures are good.
func Audit(ctx context.Context, log Log) (breaks []store.Break, good int, err error) {
	people, err := read(ctx, log, event.PersonActed)
	if err != nil {
		return nil, 0, err
	}
	answers, err := read(ctx, log, event.Answered)
	if err != nil || len(people) == 0 {
		return nil, 0, err
	}
	c := &check{log: log, asked: map[string]map[string]string{}}
	for i, p := 0, 0; i < len(answers); i++ {
		for p < len(people) && people[p].id < answers[i].id {
			c.state.Apply(&people[p].Event)
			p++
		}
		problem, signed, err := c.answer(ctx, &answers[i])
		if err != nil {
			return nil, 0, err
		}
		if problem != "" {
			breaks = append(breaks, store.Break{Session: answers[i].session, Seq: answers[i].seq, Problem: problem})
		} else if signed {
			good++
		}
	}
	return breaks, good, nil
}

type entry struct {
	event.Event
	id      int64
	session string
	seq     uint64
}

// read is every record of a kind, in the order they were written.
func read(ctx context.Context, log Log, kind event.Kind) ([]entry, error) {
	var out []entry
	for e, err := range each(ctx, log, store.EntryQuery{Kind: string(kind)}) {
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func each(ctx context.Context, log Log, q store.EntryQuery) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		for q.Limit = store.MaxLimit; ; {
			page, err := log.Since(ctx, q)
			if err != nil {
				yield(entry{}, fmt.Errorf("read log: %w", err))
				return
			}
			for _, r := range page {
				q.After = r.ID
				e, err := event.FromRecord(r.Record)
				if err != nil {
					continue // the chain's own check names it
				}
				if !yield(entry{e, r.ID, r.Session, r.Seq}, nil) {
					return
				}
			}
			if len(page) < store.MaxLimit {
				return
			}
		}
	}
}

// check is how far the audit got.
type check struct {
	log   Log
	state State
	asked map[string]map[string]string // session to its questions' digests
}

// answer checks one answer; problem is empty for a good one.
func (c *check) answer(ctx context.Context, e *entry) (problem string, signed bool, err error) {
	a := e.Answer
	switch p := a.Proof; {
	case a.Verdict != "approve" && a.Verdict != event.Agree:
		return "", false, nil
	case p == nil && len(c.state.Keys) > 0:
		return "approved without the proof that was required then", false, nil
	case p != nil && p.Kind == string(Typed) && len(c.state.Keys) > 0:
		return "approved by a typed secret where a key was required", false, nil
	case p == nil, p.Kind != string(Passkey):
		return "", false, nil
	}
	key := c.state.key(a.Proof.Key)
	if key == nil || key.Public != a.Proof.Public || key.Site != a.Proof.Site {
		return "its proof is of a key that was not enrolled then", false, nil
	}
	digests, err := c.digests(ctx, e.session)
	if err != nil {
		return "", false, err
	}
	if !covers(a, saidBy(e, digests), a.Proof.Said) {
		return "its proof is over something else than what was approved", false, nil
	}
	if err := verify(a.Proof, origin(a.Proof)); err != nil {
		return "its proof does not hold: " + err.Error(), false, nil //nolint:nilerr // that it does not hold is what was asked
	}
	return "", true, nil
}

// said is what a proof says it is over.
type said struct {
	Decision  string            `json:"decision"`
	Session   string            `json:"session"`
	Questions []engine.Asked    `json:"questions"`
	Minutes   int64             `json:"minutes"`
	Where     map[string]string `json:"where,omitzero"`
	Calls     int               `json:"calls,omitzero"`
	Task      bool              `json:"task,omitzero"`
	Always    bool              `json:"always,omitzero"`
	Reads     bool              `json:"reads,omitzero"`
	Note      string            `json:"note,omitzero"`
}

// saidBy is what the answer in the log did.
func saidBy(e *entry, digests map[string]string) said {
	out := said{Decision: e.Answer.Verdict, Session: e.session}
	if out.Decision == event.Agree { // one of several people said yes
		out.Decision = "approve"
	}
	for _, id := range e.Answer.IDs {
		out.Questions = append(out.Questions, engine.Asked{ID: id, Digest: digests[id]})
	}
	out.Always, out.Reads = strings.HasPrefix(e.Answer.Lasting, "always-"), strings.HasPrefix(e.Answer.Lasting, "reads-")
	if g := e.Answer.Grant; g != nil && g.Task { // how many calls it opens is not the person's to say
		out.Task = true
	} else if g != nil {
		out.Where, out.Calls = g.Where, g.Calls
		if !g.Turn {
			out.Minutes = (g.Until - e.Time) / int64(60e9)
		}
	}
	return out
}

// covers compares what was done with what was signed. Minutes that opened nothing, because
// the call is dangerous by itself, are no more than was signed.
func covers(a *event.Answer, done said, signed string) bool {
	var s said
	if err := strictjson.UnmarshalKnown([]byte(signed), &s); err != nil {
		return false
	}
	fits := s.Decision == done.Decision && s.Session == done.Session && slices.Equal(s.Questions, done.Questions) &&
		s.Always == done.Always && s.Reads == done.Reads
	if a.Grant == nil {
		return fits
	}
	return fits && s.Task == done.Task && s.Minutes == done.Minutes && s.Calls == done.Calls && maps.Equal(s.Where, done.Where)
}

// digests are those of the calls a session asked about.
func (c *check) digests(ctx context.Context, session string) (map[string]string, error) {
	if known, ok := c.asked[session]; ok {
		return known, nil
	}
	out := map[string]string{}
	for e, err := range each(ctx, c.log, store.EntryQuery{Session: session, Kind: string(event.CallDecided)}) {
		if err != nil {
			return nil, err
		}
		if e.Decided.Ask != nil {
			out[e.Decided.Ask.ID] = e.Decided.Digest.String()
		}
	}
	c.asked[session] = out
	return out, nil
}

// origin is where the proof says it was given: the port may be another by now, the site is
// the key's and was checked then.
func origin(p *event.Proof) []string {
	var out []string
	if parsed, err := assertion(p); err == nil {
		out = append(out, parsed.Response.CollectedClientData.Origin)
	}
	return out
}
