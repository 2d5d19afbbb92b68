package httpapi

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/handles"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// heldNote is what a host shows its model instead of a result that is kept from it.
type heldNote struct {
	Shown string `json:"shown" doc:"for the model; it names the handle, tidemark:rN"`
}

// hold observes a result, and keeps it from the agent where its host asks for that. Whoever cannot prove that the session is theirs could
// have anything kept out of it.
func (a *API) hold(ctx context.Context, o engine.Observation, wanted bool) (*heldNote, trust.Label, error) {
	ok, err := a.proven(ctx, o.Ref)
	if err != nil {
		return nil, trust.Label{}, err
	}
	if ok && !wanted {
		label, err := a.monitor.Returned(ctx, o, blockText(o.Result.Content))
		return nil, label, sealed(err)
	}
	if !wanted || !ok || a.kept == nil || o.From != "" {
		label, err := a.observe(ctx, o)
		return nil, label, err
	}
	shown, label, err := a.kept.Hold(ctx, o, true)
	if err != nil || shown == "" {
		return nil, label, sealed(err)
	}
	return &heldNote{shown}, label, nil
}

// errOthers is why somebody gets nothing of what is kept in a session.
var errOthers = errors.New("what is kept in a session is for the program that the session is of")

// ownTool answers a call of one of the tools by which agents get something of what is kept; nil: it is any other.
func (a *API) ownTool(ctx context.Context, call tool.Call, c *hook.Context) (*toolCallAnswer, error) {
	if a.kept == nil || !handles.IsTool(call.Name) {
		return nil, nil
	}
	ok, err := a.proven(ctx, refOf(c))
	if err != nil {
		return nil, err
	}
	answer := &handles.Answer{Text: "Nothing came out: " + errOthers.Error() + ".", Failed: true}
	if ok {
		if answer, err = a.kept.Answer(ctx, refOf(c), call.Name, call.Args); err != nil {
			return nil, err
		}
	}
	mark, err := a.monitor.Taint(ctx, refOf(c))
	if err != nil {
		return nil, err
	}
	n := contextNote(mark)
	n.Answer = answer
	return &toolCallAnswer{reason: answer.Text, note: n}, nil
}

// expand puts into a call what its handles stand for, and returns that; nil: nothing.
func (a *API) expand(ctx context.Context, call *tool.Call, c *hook.Context) ([]engine.Kept, error) {
	more, kept, err := a.kept.Expand(refOf(c).Session, *call)
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	ok, err := a.proven(ctx, refOf(c))
	if err == nil && !ok {
		err = errOthers
	}
	if err != nil {
		return nil, err
	}
	*call = more
	return kept, nil
}

// blockText are the words of a result that a model reads: of blocks of text their text, else all of it. Claude Code puts the names of
// the tools that a sub-agent used before what it says; they are its own.
func blockText(content []byte) string {
	if words, ok := ofChild(content); ok {
		return words
	}
	var whole struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Used []string `json:"toolsUsed"`
	}
	if strictjson.Unmarshal(content, &whole) != nil || len(whole.Content) == 0 {
		return string(content)
	}
	used := "<tools-used-before-summary>" + strings.Join(whole.Used, ", ") + "</tools-used-before-summary>"
	plain := !slices.ContainsFunc(whole.Used, func(name string) bool { return !builtInName.MatchString(name) })
	out := ""
	for i, b := range whole.Content {
		switch {
		case b.Type != "text":
			return ""
		case i == 0 && plain && strings.TrimSpace(b.Text) == used:
		default:
			out += b.Text
		}
	}
	return out
}

// builtInName is what tools of the program itself are called: one word, which says nothing.
var builtInName = regexp.MustCompile(`^[A-Z][A-Za-z]{1,15}$`)

// ofChild are the words of a sub-agent of a framework, beside which the SDKs put its session, and nothing else.
func ofChild(content []byte) (words string, ok bool) {
	var members map[string]strictjson.Value
	if strictjson.Unmarshal(content, &members) != nil || len(members) != 2 || members["childSessionKey"].Kind() != '"' {
		return "", false
	}
	return words, strictjson.Unmarshal(members["content"], &words) == nil
}
