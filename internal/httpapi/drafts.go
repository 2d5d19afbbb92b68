package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/people/policyfile"
	"github.com/tidemark/tidemark/internal/reports/definitions"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/reports/toolusage"
	"github.com/tidemark/tidemark/tool"
)

// The routes of whoever thinks about a policy: try a call, look at tools, and read, check,
// compare and save the text.

func (m *management) draftRoutes() {
	route(m, operation{
		http.MethodPost, "/v1/try", "tryCall",
		"Decide one call in a conversation that is made up; nothing runs, and nothing is recorded",
	}, m.tryCall)
	route(m, operation{
		http.MethodGet, "/v1/tools", "listTools",
		"What each tool is taken for, whether the policy speaks of it, what became of its latest calls, and which MCP servers' definitions of it wait",
	}, m.listTools)
	route(m, operation{
		http.MethodGet, "/v1/tools/history", "toolHistory",
		"How definitions of tools became what they are: when each text was first seen, what it changed, and who accepted it",
	}, m.toolHistory)
	route(m, operation{http.MethodGet, "/v1/policy/text", "readPolicy", "The text of the policy file"}, m.readPolicy)
	route(m, operation{
		http.MethodPut, "/v1/policy/text", "savePolicy",
		"Save a policy and put it in force: where it still says what was read, and for all that is looser with a word for each entry. " +
			"Where approving takes a proof, so does this: the typed secret, and with passkeys the console",
	}, m.savePolicy)
	route(m, operation{http.MethodPost, "/v1/policy/check", "checkPolicy", "Every fault of a policy text, with its place"}, m.checkPolicy)
	route(m, operation{
		http.MethodGet, "/v1/policy/draft", "draftPolicy",
		"The policy text with what a suggestion of the report wants, and what it would have changed; nothing is saved",
	}, m.draftPolicy)
	route(m, operation{
		http.MethodPost, "/v1/policy/compare", "comparePolicy",
		"What a policy text would have changed in recorded sessions, and where it is looser than the one in force",
	}, m.comparePolicy)
}

func (m *management) tryCall(ctx context.Context, in *struct {
	Body struct {
		Tool  string           `json:"tool" minLength:"1"`
		Args  strictjson.Value `json:"args,omitempty" doc:"arguments of the call, an object"`
		Said  []string         `json:"said,omitempty" doc:"what the user said before, a message each"`
		Read  []string         `json:"read,omitempty" doc:"what was read after that and somebody else wrote, a text each"`
		From  string           `json:"from,omitempty" doc:"tool that brought what was read; web_fetch if absent"`
		URL   string           `json:"url,omitempty" doc:"address where that was read"`
		Done  []string         `json:"done,omitempty" doc:"calls that ran before, a tool each, its arguments behind it"`
		At    string           `json:"at,omitempty" doc:"when it is, as RFC 3339 has it; now if absent"`
		Agent string           `json:"agent,omitempty" doc:"agent whose overrides apply"`
		Tools strictjson.Value `json:"tools,omitempty" doc:"definitions of the agent's tools, as OpenAI, Anthropic or MCP write them"`
	}
}) (policyfile.Tried, error) {
	if m.try == nil {
		return policyfile.Tried{}, notFound("this server tries no calls")
	}
	b := &in.Body
	if len(b.Args) == 0 {
		b.Args = strictjson.Value("{}")
	}
	out, err := m.try(ctx, policyfile.Trial{
		Tool: b.Tool, Args: b.Args, Said: b.Said, Read: b.Read, From: b.From, Agent: b.Agent, Tools: b.Tools,
		URL: b.URL, Done: b.Done, At: b.At,
	})
	if errors.Is(err, policyfile.ErrTrial) {
		return out, badRequest(err.Error())
	}
	return out, err
}

type toolRow struct {
	toolusage.Tool
	Waiting []string `json:"waiting" doc:"MCP servers whose definition of it is hidden until a person accepts it"`
}

type toolList struct {
	Policy string    `json:"policy" doc:"version of the policy that says so"`
	Tools  []toolRow `json:"tools"`
}

func (m *management) listTools(ctx context.Context, in *struct {
	Agent string `query:"agent" doc:"agent whose overrides apply"`
}) (toolList, error) {
	set := m.monitor.Policy().For(in.Agent)
	out := toolList{Policy: set.Version(), Tools: []toolRow{}}
	all, err := toolusage.Of(ctx, set, m.log, toolusage.Known{Definitions: m.history, Lasting: m.monitor.Lasting})
	if err != nil {
		return out, err
	}
	waiting := map[string][]string{}
	if m.pins != nil {
		servers, err := m.pins.Servers(ctx)
		if err != nil {
			return out, err
		}
		for _, s := range servers {
			for _, name := range s.Held {
				name = tool.Name(s.Name) + "__" + tool.Name(name) // as calls of it are named
				waiting[name] = append(waiting[name], s.Name)
			}
		}
	}
	for _, t := range all {
		out.Tools = append(out.Tools, toolRow{t, slices.Concat([]string{}, waiting[t.Name])})
	}
	return out, nil
}

type toolHistories struct {
	Definitions []definitions.History `json:"definitions" doc:"those that changed last first"`
}

func (m *management) toolHistory(ctx context.Context, in *struct {
	Tool   string `query:"tool" doc:"only this tool, as policies or its server spell it, with its versions"`
	Server string `query:"server" doc:"only of this MCP server: its name, or NAME@ID where several have it"`
}) (toolHistories, error) {
	read := m.history.All
	if in.Tool != "" {
		read = m.history.Of
	}
	all, err := read(ctx, definitions.Filter{Tool: in.Tool, Server: in.Server})
	return toolHistories{all}, err
}

var errElsewhere = notFound("the policy of this server is managed elsewhere")

type policyText struct {
	File string `json:"file"`
	Text string `json:"text" doc:"empty where there is no file yet: the shipped preset is in force"`
	Seen string `json:"seen" doc:"stands for this text; give it back when saving"`
}

func (m *management) readPolicy(ctx context.Context, _ *struct{}) (policyText, error) {
	if who := callerOf(ctx); who.name != "" && who.role != admin { // it may hold tokens of channels, which answer questions
		return policyText{}, newProblem(http.StatusForbidden, "role", "the text of the file is for admins: it may hold secrets")
	}
	if !m.text.Whole() {
		return policyText{}, errElsewhere
	}
	file, text, err := m.text.Read()
	return policyText{File: file, Text: text, Seen: tool.DigestOf([]byte(text)).String()}, err
}

// draftBody is a policy on its way.
type draftBody struct {
	Body struct {
		Text string `json:"text"`
	}
}

func (m *management) checkPolicy(_ context.Context, in *draftBody) (policyfile.Checked, error) {
	if !m.text.Whole() {
		return policyfile.Checked{}, errElsewhere
	}
	return m.text.Check(in.Body.Text), nil
}

func (m *management) comparePolicy(ctx context.Context, in *draftBody) (policyfile.Comparison, error) {
	if !m.text.Whole() {
		return policyfile.Comparison{}, errElsewhere
	}
	if found := m.text.Check(in.Body.Text); !found.OK {
		return policyfile.Comparison{}, badRequest("body.text: " + found.Rendered)
	}
	return m.text.Compare(ctx, in.Body.Text)
}

type policyDraft struct {
	policyText
	Suggestion report.Suggestion     `json:"suggestion" doc:"what it carries out"`
	Draft      string                `json:"draft" doc:"the text as it would be"`
	Comparison policyfile.Comparison `json:"comparison" doc:"what it would have changed in recorded sessions"`
}

func (m *management) draftPolicy(ctx context.Context, in *struct {
	Suggestion string `query:"suggestion" required:"true" doc:"the id of a suggestion of the report"`
	Days       int    `query:"days" default:"30" minimum:"1" maximum:"3650" doc:"how far that report looks back"`
}) (out policyDraft, err error) {
	if out.policyText, err = m.readPolicy(ctx, nil); err != nil {
		return out, err
	}
	r, err := m.report(ctx, in.Days)
	if err != nil {
		return out, err
	}
	s := r.Suggested(in.Suggestion)
	if s == nil {
		return out, notFound("the report of these days makes no such suggestion, or not any more")
	}
	out.Suggestion = *s
	if out.Draft, err = m.text.Draft(s); errors.Is(err, policyfile.ErrDraft) {
		return out, newProblem(http.StatusConflict, "no-draft", err.Error())
	} else if err != nil {
		return out, err
	}
	out.Comparison, err = m.text.Compare(ctx, out.Draft)
	return out, err
}

type policySaved struct {
	Version string `json:"version"`
	Notice  string `json:"notice"`
}

func (m *management) savePolicy(ctx context.Context, in *struct {
	Body struct {
		Text   string   `json:"text"`
		Seen   string   `json:"seen" doc:"of the text that was read"`
		Agreed []string `json:"agreed,omitempty" doc:"every entry of looser and runs of the comparison"`
		Secret string   `json:"secret,omitempty" doc:"the typed one, where approving takes it"`
	}
}) (policySaved, error) {
	b := &in.Body
	found, err := m.comparePolicy(ctx, &draftBody{Body: struct {
		Text string `json:"text"`
	}{b.Text}})
	if err != nil {
		return policySaved{}, err
	}
	if err := found.Agreed(b.Agreed); err != nil {
		return policySaved{}, newProblem(http.StatusConflict, "looser",
			err.Error()+": compare it, and agree to each entry of looser and runs")
	}
	if err := m.provenBy(ctx, approvalproof.SaidEnrol("save", "policy "+tool.DigestOf([]byte(b.Text)).String()), b.Secret); err != nil {
		return policySaved{}, err
	}
	notice, err := m.text.Save(ctx, b.Seen, b.Text)
	if errors.Is(err, policyfile.ErrStale) {
		return policySaved{}, newProblem(http.StatusConflict, "stale", err.Error())
	}
	if err != nil {
		return policySaved{}, newProblem(http.StatusConflict, "policy-rejected", err.Error())
	}
	return policySaved{Version: m.monitor.Policy().Version(), Notice: notice}, nil
}

// provenBy lets what said says through where nothing is required, or the right secret was typed.
func (m *management) provenBy(ctx context.Context, said, secret string) error {
	if m.wants() == "" {
		return nil
	}
	if m.prove == nil || secret == "" {
		return m.proven()
	}
	err := m.prove(ctx, by(ctx), said, secret)
	if errors.Is(err, engine.ErrProof) {
		return newProblem(http.StatusForbidden, "proof-required", err.Error())
	}
	return err
}
