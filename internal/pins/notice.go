package pins

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
)

// Notice is a question about one hidden definition, for those who answer questions about calls. It
// stands until a person has answered it, or the server offers something else.
type Notice struct {
	ID     string    `json:"id" doc:"stands for exactly this definition: another one is another question"`
	Server string    `json:"server"`
	On     string    `json:"on" doc:"the id of the server"`
	Asked  time.Time `json:"asked"`
	HeldView
}

// Prompt is the question in a sentence.
func (n *Notice) Prompt() string {
	const prompt = "The MCP server %s offers %s, which is hidden from agents because %s. Accept it as it is now?"
	return fmt.Sprintf(prompt, n.Server, n.Name, n.Why)
}

// Text is what a person reads before they answer: what to look at, and the difference.
func (n *Notice) Text() string {
	var b strings.Builder
	for _, w := range n.Warnings {
		b.WriteString("look closely: " + w + "\n")
	}
	return b.String() + n.Diff
}

// noticePrefix tells these questions from those about calls.
const noticePrefix = "def-"

// IsNotice reports whether an id is that of a question about a definition.
func IsNotice(id string) bool { return strings.HasPrefix(id, noticePrefix) }

func noticeID(s *Known, p event.Pin) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q %s %s", s.ID, p.Name, p.Hash, p.Rest))
	return noticePrefix + hex.EncodeToString(sum[:8])
}

// Notices are the questions that are open, oldest first. What nobody can accept is no question, and what a
// person wants to stay hidden is none any more.
func (k *Keeper) Notices(ctx context.Context) ([]Notice, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx); err != nil {
		return nil, err
	}
	out := []Notice{}
	for _, s := range k.state.Servers {
		if len(s.Held) == 0 || k.opts.Mode == Off {
			continue
		}
		v, err := k.review(s, "")
		if err != nil {
			return nil, err
		}
		for i, p := range s.held() { // in the order of the review
			if item := v.Items[i]; item.Usable && !s.Denied[p.Name] {
				at := time.Unix(0, s.Asked[p.Name]).UTC()
				out = append(out, Notice{ID: noticeID(s, p), Server: s.Server, On: s.ID, Asked: at, HeldView: item})
			}
		}
	}
	slices.SortFunc(out, func(a, b Notice) int { return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

// Said is a person's answer to a Notice.
type Said struct {
	ID     string
	Accept bool
	By     string
	Via    string
	Note   string
}

// Say takes a person's answer, and says of what it was. A no changes nothing for agents: the definition
// stays hidden, and a person can still accept it.
func (k *Keeper) Say(ctx context.Context, said Said) (name string, err error) {
	if said.By == "" || said.Via == "" {
		return "", errors.New("answer for definitions: nobody says who does")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	err = k.record(ctx, func() ([]event.Pins, error) {
		s, p, ok := k.asked(said.ID)
		if !ok {
			const over = "nobody asks this any more: it was answered, or the server offers something else by now"
			return nil, fmt.Errorf("%w: %s", engine.ErrNotFound, over)
		}
		name = title(p.Name)
		out := event.Pins{Act: denied, ID: s.ID, Server: s.Server, At: s.At, By: said.By, Via: said.Via, Note: said.Note}
		if said.Accept {
			if err := k.usable(s, p); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrUnfit, err)
			}
			out.Act = accepted
		}
		p.Why = ""
		out.Items = []event.Pin{p}
		return []event.Pins{out}, nil
	})
	return name, err
}

// Outcome is what an answer did, for the person who gave it.
func Outcome(name string, accept bool) string {
	if accept {
		return name + " is accepted as it was shown; agents see it from now on"
	}
	return name + " stays hidden"
}

// asked is the definition that an open question is about.
// Preconditions: mu is held.
func (k *Keeper) asked(id string) (*Known, event.Pin, bool) {
	for _, s := range k.state.Servers {
		for _, p := range s.Held {
			if !s.Denied[p.Name] && noticeID(s, p) == id {
				return s, p, true
			}
		}
	}
	return nil, event.Pin{}, false
}
