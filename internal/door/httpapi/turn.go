package httpapi

import (
	"context"
	"errors"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/strictjson"
	"github.com/tidemark/tidemark/provenance"
	"github.com/tidemark/tidemark/trust"
)

func refOf(c *hook.Context) tidemark.Ref {
	return tidemark.Ref{Session: c.SessionKey, Branch: c.Branch, Turn: c.RunID}
}

// turnOf is the turn as the hook's context describes it.
func turnOf(c *hook.Context) tidemark.Turn {
	from := sourceSession(c)
	unknown := withoutMetadata(c) || from == "" && betweenSessions(c)
	return tidemark.Turn{Ref: refOf(c), Agent: c.AgentID, From: from, Sender: trust.Sender{
		Provider: provider(c), ID: c.SenderID, IsOwner: c.SenderIsOwner && !unknown, Group: c.GroupID,
		SpawnedBy: c.SpawnedBy, Unknown: unknown,
	}}
}

// withoutMetadata reports whether the host says that it cannot tell who speaks.
func withoutMetadata(c *hook.Context) bool { return c.SenderMetadata != nil && !*c.SenderMetadata }

// betweenSessions reports whether another session's words started the turn.
func betweenSessions(c *hook.Context) bool {
	return c.InputProvenance != nil && c.InputProvenance.Kind == "inter_session"
}

// provider is the channel. A turn without one counts as the system's own, so a channel
// id is taken for it where a host names only that.
func provider(c *hook.Context) string {
	if c.MessageProvider != "" {
		return c.MessageProvider
	}
	return c.ChannelID
}

// sourceSession is the session whose words started the turn, if the host names one.
func sourceSession(c *hook.Context) string {
	if !betweenSessions(c) {
		return ""
	}
	return c.InputProvenance.SourceSessionKey
}

// standing is where a context's latest turn stands.
type standing struct {
	open   bool
	sealed bool // the very turn that was asked about went out already
	forked bool // the branch is new, and the session has a main context it may have been forked from
}

func (a *API) standing(ctx context.Context, ref tidemark.Ref) (standing, error) {
	open, err := a.monitor.Open(ctx, ref)
	if err != nil || open {
		return standing{open: open}, err
	}
	v, err := a.monitor.View(ctx, ref.Session)
	if errors.Is(err, tidemark.ErrNotFound) {
		return standing{}, nil
	}
	if err != nil {
		return standing{}, err
	}
	s := standing{forked: ref.Branch != ""}
	main := false
	for _, b := range v.Branches {
		main = main || b.Branch == "" && b.Turn != ""
		if b.Branch == ref.Branch {
			s.forked = false
			s.sealed = ref.Turn != "" && b.Turn == ref.Turn
		}
	}
	s.forked = s.forked && main
	return s, nil
}

// begin opens the turn, or joins it. Words count as the sender's message if the turn
// has none yet; spoken words, which just arrived, count in any case.
func (a *API) begin(ctx context.Context, t tidemark.Turn, words *string, spoken bool) (tidemark.Opening, error) {
	s, err := a.standing(ctx, t.Ref)
	if err != nil {
		return tidemark.Opening{}, err
	}
	if s.sealed {
		return tidemark.Opening{}, tidemark.ErrSealed
	}
	t.Forked, t.Message = s.forked, words
	if s.open && words != nil {
		last, err := a.lastTurn(ctx, t.Ref)
		switch {
		case err != nil:
			return tidemark.Opening{}, err
		case last.fresh && !last.said:
		case spoken && t.Ref.Turn == last.id:
			t.Ref.Turn = "" // said in the middle of a run: a turn of its own, of another name
		case !spoken && (last.fresh || t.Ref.Turn == last.id):
			t.Message = nil
		}
	}
	return a.monitor.Begin(ctx, t)
}

// ensure opens a turn where none is open; the Opening is empty where one was. A sealed
// turn stays sealed: what the host does after its answer went out is for the monitor to
// judge.
func (a *API) ensure(ctx context.Context, c *hook.Context, words func() *string) (tidemark.Opening, error) {
	t := turnOf(c)
	s, err := a.standing(ctx, t.Ref)
	if err != nil || s.open || s.sealed {
		return tidemark.Opening{}, err
	}
	t.Forked = s.forked
	if words != nil {
		t.Message = words()
	}
	return a.monitor.Begin(ctx, t)
}

// recent is how many records at the end of a log are read to see how its open turn
// began: a fresh turn has little behind its beginning.
const recent = 16

// lastTurn is the open turn of a context. Hosts announce one turn in several hooks, and
// its message must count once.
type lastTurn struct {
	id    string
	fresh bool // nothing but its beginning happened yet
	said  bool // its message is known
}

func (a *API) lastTurn(ctx context.Context, ref tidemark.Ref) (lastTurn, error) {
	var last lastTurn
	v, err := a.monitor.View(ctx, ref.Session)
	if err != nil {
		return last, err
	}
	for _, b := range v.Branches {
		if b.Branch == ref.Branch {
			last.id = b.Turn
		}
	}
	for rec, err := range a.feed.Load(ctx, ref.Session, v.Records-min(v.Records, recent)) {
		if err != nil {
			return last, err
		}
		e, err := provenance.FromRecord(rec)
		if err != nil {
			return last, err
		}
		switch {
		case e.Branch != ref.Branch:
		case e.Kind == provenance.TurnBegan:
			last = lastTurn{id: e.Turn, fresh: true, said: e.Began.Message != nil}
		case e.Kind == provenance.ContextSeen:
			last.said = last.said || e.Seen.Content != nil
		case e.Kind == provenance.ResultSeen, e.Kind == provenance.ModelCalled, e.Kind == provenance.CallDecided:
			last.fresh = false
		}
	}
	return last, nil
}

// mark is what the context holds; of one nobody began, the worst.
func (a *API) mark(ctx context.Context, ref tidemark.Ref) (trust.Label, error) {
	v, err := a.monitor.View(ctx, ref.Session)
	if errors.Is(err, tidemark.ErrNotFound) {
		return trust.Label{}, nil
	}
	if err != nil {
		return trust.Label{}, err
	}
	for _, b := range v.Branches {
		if b.Branch == ref.Branch {
			return b.Taint, nil
		}
	}
	return trust.Label{}, nil
}

// message is a chat message as far as we look at it.
type message struct {
	Role    string           `json:"role"`
	Content strictjson.Value `json:"content"`
}

// lastWords is the text the context ends with, if it is a user's and nothing but text. A
// user message that something follows is an old one, and must not speak again; what
// hosts pack into a user message besides text is not the user's.
func lastWords(messages []strictjson.Value) *string {
	for i := len(messages) - 1; i >= 0; i-- {
		var m message
		if strictjson.Unmarshal(messages[i], &m) != nil {
			return nil
		}
		switch m.Role {
		case "system", "developer":
		case "user":
			return plainText(m.Content)
		default:
			return nil
		}
	}
	return nil
}

// plainText is the text of a content that is a string, or a list of text parts alone.
func plainText(content strictjson.Value) *string {
	var text string
	if content.Kind() == '"' {
		if strictjson.Unmarshal(content, &text) != nil {
			return nil
		}
		return &text
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if content.Kind() != '[' || strictjson.Unmarshal(content, &parts) != nil || len(parts) == 0 {
		return nil
	}
	for _, p := range parts {
		if p.Type != "text" || p.Text == nil {
			return nil
		}
		text += *p.Text
	}
	return &text
}
