package shim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/peer"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// A program that reads the owner's words for the server is an agent's own, and hooks of the administrator's fire in it too. Its
// prompts are ours: were they recorded and read like an owner's, each reading would ask for another. So it is started with a word,
// and the server says whether the hook that shows it descends from the process that was given it. Then nothing of it is
// recorded, and it may do nothing either: who takes a reader's place gains no call. The variable without the descent costs its
// owner's words what they count for.

// reader is the word that this process was started with as a reader; "": none.
func (o *Options) reader() string {
	if o.Env == nil {
		return ""
	}
	return o.Env(peer.ReaderVariable)
}

// claims is what a person is told of a session that says to be a reader and is none.
func (o *Options) claims() string {
	if o.reader() == "" {
		return ""
	}
	return peer.ReaderVariable + " is set here, and no reader of Tidemark's was started so: what you say in this session counts as nobody's"
}

// reads answers an event of a reader; nil: it is none, and its event is like any other.
func (a adapter) reads(ctx context.Context, o Options, e *catalogue.Event) *Outcome {
	answers := slices.Contains(a.Answers, e.Tool)
	switch {
	case slices.Contains([]catalogue.Kind{catalogue.Start, catalogue.Prompt, catalogue.Call, catalogue.End}, e.Kind):
	case e.Kind == catalogue.Result && answers:
	default:
		return nil // results and what else comes in are heard, whoever brings them
	}
	s, err := serverFor(ctx, o, e)
	if err != nil {
		return nil // asked again, and told then
	}
	defer s.wire.close()
	asking, stop := context.WithTimeout(ctx, o.Timeout/2)
	defer stop()
	is, err := s.confirms(asking, o.reader(), a.key(e.Session))
	if err != nil || !is {
		return nil
	}
	v := verdict{}
	if e.Kind == catalogue.Call && !answers {
		v.reason = "Tidemark: what reads has no tools"
	}
	out := a.answer(e, v)
	return &out
}

// confirms asks the server whether this process descends from a reader of its.
func (s *server) confirms(ctx context.Context, word, session string) (bool, error) {
	body, err := strictjson.Marshal(map[string]string{"word": word, "session": session})
	if err != nil {
		return false, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/v1/readers/confirm", bytes.NewReader(body))
	if err != nil {
		return false, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	status, raw, err := s.wire.do(req, maxAnswer)
	if err != nil {
		return false, fmt.Errorf("reach server: %w", err)
	}
	var out struct {
		Reader bool `json:"reader"`
	}
	if status != http.StatusOK || strictjson.Unmarshal(raw, &out) != nil {
		return false, errors.New("the server does not know readers")
	}
	return out.Reader, nil
}
