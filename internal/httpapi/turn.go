package httpapi

import (
	"context"
	"errors"
	"slices"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/trust"
)

func refOf(c *hook.Context) engine.Ref {
	return engine.Ref{Session: c.SessionKey, Branch: c.Branch, Turn: c.RunID}
}

// turnOf is the turn as the hook's context describes it. Who speaks is the host's word; a
// chat command takes the owner's own credential, which the agent's token is not.
func turnOf(ctx context.Context, c *hook.Context) engine.Turn {
	from := sourceSession(c)
	unknown := withoutMetadata(c) || from == "" && betweenSessions(c)
	t := engine.Turn{Ref: refOf(c), Agent: c.AgentID, From: from, Plain: !vouched(ctx), Sender: trust.Sender{
		Provider: provider(c), ID: c.SenderID, IsOwner: c.SenderIsOwner && !unknown, Group: c.GroupID,
		SpawnedBy: c.SpawnedBy, Unknown: unknown,
	}}
	t.UserUnheard, t.HostTools, t.ControlTools = c.Wordless && t.Sender.IsOwner, c.HostTools, c.ControlTools
	t.Undescribed = c.Undescribed
	if c.ParentBranch != nil {
		t.Forked, t.Parent = true, *c.ParentBranch
	}
	return t
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

// ensure opens a turn where none is open and the host said who speaks; the Opening is empty where one was. A sealed
// turn stays sealed: what the host does after its answer went out is for the monitor to
// judge.
func (a *API) ensure(ctx context.Context, c *hook.Context, words func() *string) (engine.Opening, *helloNote, error) {
	t := turnOf(ctx, c)
	at, err := a.monitor.Standing(ctx, t.Ref)
	if err != nil {
		return engine.Opening{}, nil, err
	}
	if at.Open {
		return engine.Opening{}, nil, a.owns(ctx, &t, &at)
	}
	if !identified(c) {
		return engine.Opening{}, nil, nil
	}
	if words != nil {
		t.Message, t.Found = words(), true
	} else if g := greetingOf(ctx); !at.Begun && !t.UserUnheard && t.Plain && (g == nil || g.process == "") {
		// Somebody says they are the owner, and nobody has said a word. The hook of an agent whose process is known may: its
		// settings are looked at before the first message.
		t.Sender.IsOwner, t.Sender.Unknown = false, t.Sender.IsOwner
	}
	opening, hello, err := a.begin(ctx, t)
	if errors.Is(err, engine.ErrSealed) {
		return engine.Opening{}, nil, nil
	}
	return opening, hello, err
}

// owns takes up what a host says of its own and its control tools in the middle of a turn: an adapter knows a tool for the framework's
// own when it is offered or called, and says who speaks with their words alone. Who cannot prove that the session is theirs says nothing
// by it, as at the beginning of a turn.
func (a *API) owns(ctx context.Context, t *engine.Turn, at *engine.Standing) error {
	told := func(said, known []string) bool { return said != nil && !slices.Equal(said, known) }
	if !told(t.ControlTools, at.ControlTools) && !told(t.HostTools, at.HostTools) {
		return nil
	}
	if c := a.claim(ctx, at.Holder); !at.Holder.Nobody() && !c.Proves(at.Holder) && c.Over != at.Holder {
		return nil
	}
	said := engine.Turn{Ref: t.Ref, Agent: t.Agent, Plain: t.Plain, HostTools: t.HostTools, ControlTools: t.ControlTools}
	said.Ref.Turn = at.Turn
	_, _, err := a.begin(ctx, said)
	return err
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
