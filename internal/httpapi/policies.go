package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/base/alarm"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/explain"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

func (m *management) policyRoutes() {
	route(m, operation{http.MethodGet, "/v1/policy", "viewPolicy", "The policy in force"}, m.viewPolicy)
	route(m, operation{
		http.MethodPost, "/v1/policy/reload", "reloadPolicy",
		"Read the policy again; one with faults changes nothing, and where approving takes a proof another policy is saved in the console",
	}, m.reloadPolicy)
	route(m, operation{
		http.MethodGet, "/v1/status", "status",
		"Whether those the monitor asks can be reached, and which hosts are alive",
	}, m.viewStatus)
	route(m, operation{http.MethodGet, "/v1/explain", "explain", "What the policy does with a tool, and why"}, m.explainTool)
	route(m, operation{
		http.MethodGet, "/v1/explain/matrix", "explainMatrix",
		"Every tool the policy knows, at every level",
	}, m.explainMatrix)
}

type policyView struct {
	Version        string   `json:"version"`
	Preset         string   `json:"preset"`
	ApprovalTTL    int64    `json:"approvalTtlSeconds"`
	ApprovalScope  string   `json:"approvalScope"`
	TaintScope     string   `json:"taintScope"`
	MaxIterations  int      `json:"maxIterations" doc:"model calls of a turn; 0: no cap"`
	ConfirmTools   string   `json:"confirmTools" enum:"visible,hidden"`
	TaintNotice    bool     `json:"taintNotice"`
	Footer         bool     `json:"provenanceFooter"`
	Previews       bool     `json:"previews"`
	RecordMessages bool     `json:"recordMessages"`
	Confine        string   `json:"confine" enum:"off,auto,always" doc:"which commands of an agent's own shell run in a box"`
	Tools          []string `json:"tools" doc:"tools it knows by name"`
	Warnings       []string `json:"warnings" doc:"what was corrected or ignored when it was read"`
}

func (m *management) viewPolicy(context.Context, *struct{}) (policyView, error) {
	set := m.monitor.Policy()
	s := set.Settings()
	v := policyView{
		Version: set.Version(), Preset: s.Preset, ApprovalTTL: int64(s.ApprovalTTL / time.Second), ApprovalScope: s.ApprovalScope,
		TaintScope: s.TaintScope, MaxIterations: s.MaxIterations, ConfirmTools: "visible", TaintNotice: s.TaintNotice,
		Footer: s.Footer, Previews: s.Previews, RecordMessages: s.RecordMessages, Confine: s.Confine.String(),
		Tools: set.Tools(), Warnings: []string{},
	}
	if s.HideConfirm {
		v.ConfirmTools = "hidden"
	}
	for _, w := range set.Warnings() {
		v.Warnings = append(v.Warnings, w.Error())
	}
	return v, nil
}

type reloaded struct {
	Version  string   `json:"version"`
	Warnings []string `json:"warnings"`
}

// reloadPolicy shows an administrator what is wrong with the policy, in full.
func (m *management) reloadPolicy(ctx context.Context, _ *struct{}) (reloaded, error) {
	if m.reload == nil {
		return reloaded{}, newProblem(http.StatusConflict, "policy-rejected", "this server's policy cannot be reloaded")
	}
	warnings, err := m.reload(ctx)
	if errors.Is(err, engine.ErrProof) {
		return reloaded{}, newProblem(http.StatusForbidden, "proof-required", err.Error())
	}
	if err != nil {
		return reloaded{}, newProblem(http.StatusConflict, "policy-rejected", err.Error())
	}
	if warnings == nil {
		warnings = []string{}
	}
	return reloaded{Version: m.monitor.Policy().Version(), Warnings: warnings}, nil
}

type statusView struct {
	Version string        `json:"version" doc:"of this server"`
	Started time.Time     `json:"started"`
	Policy  any           `json:"policy,omitempty" doc:"version of the policy in force, and the file it came from"`
	Parts   any           `json:"parts" doc:"everybody the monitor asks, and whether they can be reached"`
	Waiting int64         `json:"waiting" doc:"callers that wait for an answer"`
	Proof   string        `json:"proof,omitzero" enum:"passkey,typed" doc:"what approving takes besides a token; absent: nothing"`
	Hosts   []hostRow     `json:"hosts" doc:"plugins that gave a sign of life since the server started"`
	Alarms  []alarm.Alarm `json:"alarms,omitempty" doc:"what was noticed about hosts and nobody has seen yet"`
	Memory  memoryView    `json:"memory" doc:"what sessions take in memory, and how those came back that were not there"`

	stopState
}

// memoryView is what sessions take in memory, and how those came back that were not there.
type memoryView struct {
	Held    int64  `json:"held" doc:"about how many bytes of memory sessions take"`
	Resumed uint64 `json:"resumed" doc:"conversations that came back from a checkpoint since the start"`
	Rebuilt uint64 `json:"rebuilt" doc:"conversations that were told again from the log since the start, which costs more"`
}

func (m *management) viewStatus(ctx context.Context, _ *struct{}) (statusView, error) {
	v := statusView{
		Version: m.version, Started: m.started.UTC(), Parts: []string{}, Waiting: m.feed.Watching(), Hosts: m.hosts.rows(m.now()),
		Proof: m.wants(), Memory: memoryView{Held: m.monitor.Held()},
	}
	v.Memory.Resumed, v.Memory.Rebuilt = m.monitor.Returns()
	if m.alarms != nil {
		v.Alarms = m.alarms.Open()
	}
	var err error
	if v.Stopped, err = m.monitor.Stopped(ctx); err != nil {
		return v, err
	}
	if m.judges != nil {
		v.Policy = m.judges()
	}
	if m.status != nil {
		v.Parts = m.status(ctx)
	}
	return v, nil
}

// explained is the answer at the asked level, and the mode at every one.
type explained struct {
	explain.Explanation
	Levels   map[string]string `json:"levels"`
	Verifier any               `json:"verifier,omitempty" doc:"whether the external verifier is asked too, and why"`
	Task     *engine.TaskView  `json:"task,omitempty" doc:"constraints of the session's task, where a session is given"`
}

func (m *management) explainTool(ctx context.Context, in *struct {
	Tool    string `query:"tool" required:"true" doc:"the tool's name"`
	Taint   string `query:"taint" default:"untrusted" doc:"trust level of the context"`
	Args    string `query:"args" doc:"arguments of the call, as JSON"`
	Agent   string `query:"agent" doc:"agent whose overrides apply"`
	Session string `query:"session" doc:"session whose task is shown too"`
}) (explained, error) {
	level, err := trust.ParseLevel(in.Taint)
	if err != nil {
		return explained{}, badRequest("query.taint: " + err.Error())
	}
	var args []byte
	if in.Args != "" {
		args = []byte(in.Args)
	}
	set := m.monitor.Policy().For(in.Agent)
	x := explained{Explanation: explain.Tool(set, in.Tool, level, args), Levels: map[string]string{}}
	for _, l := range trust.Levels() {
		x.Levels[l.String()] = explain.Tool(set, in.Tool, l, args).Mode
	}
	if m.covered != nil {
		x.Verifier = m.covered(in.Agent, in.Tool)
	}
	if in.Session != "" {
		if callerOf(ctx).role == agent {
			return explained{}, newProblem(http.StatusForbidden, "forbidden", "query.session: only an approver may look into a session")
		}
		v, err := m.monitor.View(ctx, in.Session)
		if err != nil {
			return explained{}, err
		}
		x.Task = v.Task
	}
	return x, nil
}

type matrixRow struct {
	Tool     string            `json:"tool"`
	Response string            `json:"response" doc:"what its result brings into the context"`
	Modes    map[string]string `json:"modes" doc:"level to mode"`
}

type matrix struct {
	Policy string      `json:"policy"`
	Levels []string    `json:"levels"`
	Tools  []matrixRow `json:"tools"`
}

// anyOther stands for the tools no policy names.
const anyOther = "(any other)"

func (m *management) explainMatrix(_ context.Context, in *struct {
	Agent string `query:"agent" doc:"agent whose overrides apply"`
}) (matrix, error) {
	set := m.monitor.Policy().For(in.Agent)
	out := matrix{Policy: set.Version(), Levels: []string{}, Tools: []matrixRow{}}
	for _, l := range trust.Levels() {
		out.Levels = append(out.Levels, l.String())
	}
	for _, name := range append(set.Tools(), anyOther) {
		out.Tools = append(out.Tools, matrixLine(set, name))
	}
	return out, nil
}

func matrixLine(set *policy.Set, name string) matrixRow {
	r := matrixRow{Tool: name, Modes: map[string]string{}}
	for _, l := range trust.Levels() {
		x := explain.Tool(set, name, l, nil)
		r.Modes[l.String()], r.Response = x.Mode, x.Response.String()
	}
	return r
}
