package console

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
)

// voteOf reads the form of an answer. It is the same form when a key is asked to sign it.
func voteOf(v *visit, q *engine.Question) (engine.Vote, error) {
	f := v.r.PostForm
	vote := engine.Vote{
		Session: q.Session, IDs: []string{q.ID}, By: v.by(), Via: "console", Reason: strings.TrimSpace(f.Get("note")),
		Secret: f.Get("secret"),
	}
	switch f.Get("do") {
	case "approve":
		vote.Approve = true
	case "task": // as the page says: nothing else goes with it
		vote.Approve, vote.Task = true, true
		return vote, nil
	case "reads": // the same
		vote.Approve, vote.Reads = true, true
		return vote, nil
	case "always":
		vote.Approve, vote.Always = true, true
		return vote, nil
	case "deny":
		return vote, nil
	default:
		return vote, say(http.StatusBadRequest, "Say approve or deny.")
	}
	minutes, err := numberOf(f.Get("minutes"), 1440)
	if err != nil {
		return vote, say(http.StatusBadRequest, "The minutes must be a number from 0 to 1440.")
	}
	calls, err := numberOf(f.Get("calls"), approval.MaxCalls)
	if err != nil {
		return vote, say(http.StatusBadRequest, "The calls must be a number from 0 to %d.", approval.MaxCalls)
	}
	if vote.For = time.Duration(minutes) * time.Minute; minutes > 0 {
		vote.Calls = calls
	}
	for name, values := range f {
		if path, ok := strings.CutPrefix(name, "where."); ok && len(values) == 1 && strings.TrimSpace(values[0]) != "" {
			if vote.Where == nil {
				vote.Where = approval.Where{}
			}
			vote.Where[path] = values[0]
		}
	}
	return vote, nil
}

// numberOf reads a number from 0 on; what is not given is 0.
func numberOf(text string, most int) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err == nil && (n < 0 || n > most) {
		err = strconv.ErrRange
	}
	return n, err
}

// answer takes a person's vote. It counts for what the page showed; if the question is
// another by now, nothing is approved.
func (c *Console) answer(v *visit) {
	ctx := v.r.Context()
	q, err := c.find(ctx, v.r.PathValue("id"))
	if err != nil {
		c.wrong(v, err)
		return
	}
	notice, err := c.vote(ctx, v, &q)
	status := http.StatusOK
	if err != nil {
		status, notice = c.explain(ctx, err)
	}
	if again, failed := c.find(ctx, q.ID); failed == nil {
		q = again
	}
	if v.r.Header.Get("Sec-Fetch-Dest") == "empty" {
		c.answered(v, &q, status, notice)
		return
	}
	c.showQuestion(v, &q, status, notice)
}

func (c *Console) vote(ctx context.Context, v *visit, q *engine.Question) (notice string, err error) {
	vote, err := voteOf(v, q)
	if err != nil {
		return "", err
	}
	if !q.Pending() {
		return "", say(http.StatusConflict, "Nothing was changed: it is %s already%s.", q.State, outcome(q))
	}
	if v.r.PostForm.Get("seen") != seen(q) {
		return "", say(http.StatusConflict, "Nothing was changed: the question has changed since you saw it. Read it again.")
	}
	if vote.Approve && v.mayApprove() && keysOf(q) == "d" && c.keys.Required() == approvalproof.None && v.r.PostForm.Get("sure") != "yes" {
		v.sure = true
		return "", say(http.StatusConflict, "Nothing was approved yet: this takes a second step. If you mean it, approve once more.")
	}
	return c.voteFor(ctx, v, vote)
}

// voteFor hands a vote to the monitor, as that of whoever proved it.
func (c *Console) voteFor(ctx context.Context, v *visit, vote engine.Vote) (notice string, err error) {
	if vote.Approve {
		if vote.Proof, err = readProof(v.r.PostForm.Get("proof")); err != nil {
			return "", err
		}
		if err := c.mayApprove(v, vote.Proof); err != nil {
			return "", err
		}
		if vote.Proof != nil { // which the monitor has checked: another's key proves nothing
			v.key = c.keys.OwnerOf(vote.Proof.Key)
			vote.By = v.by()
		}
	}
	out, err := c.monitor.Answer(ctx, vote)
	if err == nil && vote.Approve {
		for range vote.IDs {
			c.hurry.note(c.now())
		}
	}
	return out.Notice, err
}

// mayApprove asks for the role where nothing else proves the person. A proof speaks for
// itself: the monitor has it checked.
func (c *Console) mayApprove(v *visit, p *event.Proof) error {
	if c.keys.Required() != approvalproof.None || v.mayApprove() {
		return nil
	}
	if v.Idle {
		return say(http.StatusForbidden,
			"Nothing was approved: this session was idle for half an hour. Sign in again with tidemark console.")
	}
	return say(http.StatusForbidden,
		"Nothing was approved: this session can only read and deny. Sign in with the approver's token, or enrol a passkey.")
}

// readProof is what a key signed, as the page sends it; nil: nothing was sent.
func readProof(text string) (*event.Proof, error) {
	if text == "" {
		return nil, nil
	}
	var p struct {
		Key           string `json:"key"`
		Nonce         string `json:"nonce"`
		Client        string `json:"client"`
		Authenticator string `json:"authenticator"`
		Signature     string `json:"signature"`
	}
	if err := strictjson.UnmarshalKnown([]byte(text), &p); err != nil {
		return nil, say(http.StatusBadRequest, "Nothing was approved: the answer of the key cannot be read.")
	}
	return &event.Proof{
		Kind: string(approvalproof.Passkey), Key: p.Key, Nonce: p.Nonce, Client: p.Client,
		Authenticator: p.Authenticator, Signature: p.Signature,
	}, nil
}

// challenge hands out what a key is to sign for exactly this answer.
func (c *Console) challenge(v *visit) {
	q, err := c.find(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		c.wrong(v, err)
		return
	}
	vote, err := voteOf(v, &q)
	if err == nil && v.r.PostForm.Get("seen") != seen(&q) {
		err = say(http.StatusConflict, "The question has changed since you saw it. Read it again.")
	}
	if err != nil {
		c.wrong(v, err)
		return
	}
	said, err := vote.Said([]engine.Asked{{ID: q.ID, Digest: q.Digest}})
	if err != nil {
		c.wrong(v, err)
		return
	}
	c.ceremony(v, said)
}

func (c *Console) ceremony(v *visit, said string) {
	out, err := c.keys.Challenge(said, hostName(v.r.Host))
	if err != nil {
		c.wrong(v, err)
		return
	}
	c.json(v, http.StatusOK, out)
}

func (c *Console) json(v *visit, status int, out any) {
	raw, err := strictjson.Marshal(out)
	if err != nil {
		c.wrong(v, err)
		return
	}
	v.w.Header().Set("Content-Type", "application/json")
	pack(v.w, v.r, status, raw)
}

// answered is what a script gets: the card as it is now, and the sentence.
func (c *Console) answered(v *visit, q *engine.Question, status int, notice string) {
	c.json(v, status, map[string]any{"id": q.ID, "state": q.State, "notice": notice, "html": c.card(v, q, false).String()})
}
