package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// ErrApprover is returned for an approval by somebody whose approval does not count.
var ErrApprover = errors.New("this approval does not count")

// counts reports whether somebody who opened more than one call would be enough for this one.
func (m *Monitor) counts(x *step, v *Verdict, by string) bool {
	now := time.Unix(0, x.now)
	c := QuestionInfo{Agent: x.entry.State.Agent, Tool: v.Tool, Kind: v.Kind, Asked: now, Now: now, People: v.people()}
	if x.entry.input.Facts != nil && x.entry.facts.Found != nil {
		c.Act = x.entry.facts.Found.Deed.String()
	}
	enough, err := m.approvers.Allows(c, by, nil)
	return err == nil && enough
}

// allowed asks whether a vote that approves counts, and is enough.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) allowed(s *sessionEntry, v *Vote, now int64) (enough bool, err error) {
	enough = true
	for _, id := range v.IDs {
		r, _ := s.State.Book.Request(id)
		q := s.question(r, now)
		ok, err := m.approvers.Allows(q.Info(time.Unix(0, now)), v.By, r.Agreed)
		if err != nil {
			return false, &AnswerError{Err: err, TriesLeft: -1}
		}
		enough = enough && ok
		if few := !ok || len(r.Agreed) > 0; few && (len(v.IDs) > 1 || v.For > 0 || v.Task || v.Always || v.Reads) {
			err := fmt.Errorf("%w: it takes several people, who can only approve this one call, once", ErrApprover)
			return false, &AnswerError{Err: err, TriesLeft: -1}
		}
	}
	return enough, nil
}

// allowedAlone asks whether somebody may release a write by themselves. Several people approve the call's
// own question.
func (m *Monitor) allowedAlone(s *sessionEntry, w *session.Write, by string, now int64) error {
	c := QuestionInfo{Agent: s.State.Agent, Tool: w.Tool, Kind: policy.KindEscalate, People: w.People}
	c.Asked, c.Now = time.Unix(0, w.Time), time.Unix(0, now)
	for _, c.Act = range []string{"create", "change", "tidy"} { // what a write can be
		enough, err := m.approvers.Allows(c, by, nil)
		if err == nil && !enough {
			err = fmt.Errorf("%w: it takes several people, who must each answer the call's own question", ErrApprover)
		}
		if err != nil {
			return &AnswerError{Err: err, TriesLeft: -1}
		}
	}
	return nil
}

// people is how many must approve by the policy's own rules.
func (v *Verdict) people() int {
	d := policy.Decision{Reasons: v.Reasons}
	return d.People()
}

// ErrProof is returned for an approval that lacks the proof it needs.
var ErrProof = errors.New("approving takes a proof that a person does it")

// Asked is a question as a proof names it: by its id, and by the call's exact bytes.
type Asked struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
}

// Said is what a vote agrees to, in one form for whoever signs it and whoever checks: the
// session, the questions with the digests of their calls, for how long (for good, too) and with which
// arguments freed, for how many calls, and the hash of the note.
func (v *Vote) Said(asked []Asked) (string, error) {
	raw, err := strictjson.Marshal(struct {
		Decision  string         `json:"decision"`
		Session   string         `json:"session"`
		Questions []Asked        `json:"questions"`
		Minutes   int64          `json:"minutes"`
		Where     approval.Where `json:"where,omitzero"`
		Calls     int            `json:"calls,omitzero"`
		Task      bool           `json:"task,omitzero"`
		Always    bool           `json:"always,omitzero"`
		Reads     bool           `json:"reads,omitzero"`
		Note      string         `json:"note,omitzero"`
	}{
		map[bool]string{true: "approve", false: "deny"}[v.Approve], v.Session, asked, int64(v.For.Minutes()), v.Where, v.Calls, v.Task,
		v.Always, v.Reads, noteHash(v.Reason),
	})
	if err != nil {
		return "", fmt.Errorf("write what is approved: %w", err)
	}
	return string(raw), nil
}

func noteHash(note string) string {
	if note == "" {
		return ""
	}
	return tool.DigestOf([]byte(note)).String()
}

// provenByChat asks whether the owner's chat is proof enough for what loosens as much as an approval.
func (m *Monitor) provenByChat(s *sessionEntry) error {
	if m.prover == nil {
		return nil
	}
	_, err := m.prover.Prove(&Vote{Session: s.Name, Approve: true, By: "owner", Via: "chat"}, "reset trust in "+s.Name)
	return err
}

// prove asks for the proof of a vote that approves.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) prove(s *sessionEntry, v *Vote) (*event.Proof, error) {
	if m.prover == nil {
		return nil, nil
	}
	asked := make([]Asked, 0, len(v.IDs))
	for _, id := range v.IDs {
		r, _ := s.State.Book.Request(id)
		asked = append(asked, Asked{id, r.Digest.String()})
	}
	said, err := v.Said(asked)
	if err != nil {
		return nil, err
	}
	p, err := m.prover.Prove(v, said)
	if err != nil {
		return nil, &AnswerError{Err: err, TriesLeft: -1}
	}
	return p, nil
}
