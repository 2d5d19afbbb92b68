package policies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/policyfile"
	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// Try decides one call by the policy in force.
func (k *Keeper) Try(ctx context.Context, t policyfile.Trial) (policyfile.Tried, error) {
	return Try(ctx, k.Monitor.Policy(), t)
}

// Try decides one call in a conversation of its own, which is forgotten: the same path as every
// other decision.
func Try(ctx context.Context, set *policy.Set, t policyfile.Trial) (policyfile.Tried, error) {
	args := tool.NewArgs(t.Args)
	if _, err := args.Fields(); err != nil {
		return policyfile.Tried{}, fmt.Errorf("%w: the arguments are no JSON object: %w", policyfile.ErrTrial, err)
	}
	run := replay.Run{ID: "try", HostTools: catalogue.HostTools(t.Agent), ControlTools: catalogue.ControlTools(t.Agent)}
	t.Tool, t.Args = catalogue.AtHook(t.Agent, t.Tool, t.Args) // as its hook would tell of it
	t.From, _ = catalogue.AtHook(t.Agent, t.From, []byte("{}"))
	if len(t.Tools) > 0 {
		var err error
		if run.Tools, err = replay.Definitions(t.Tools); err != nil {
			return policyfile.Tried{}, fmt.Errorf("%w: the definitions of tools: %w", policyfile.ErrTrial, err)
		}
	}
	for i := range t.Said {
		run.Events = append(run.Events, replay.Event{Said: &replay.Said{Text: &t.Said[i], Sender: replay.Owner()}})
	}
	if len(t.Said) == 0 {
		run.Events = append(run.Events, replay.Event{Said: &replay.Said{Sender: replay.Owner()}})
	}
	if err := before(&run, &t); err != nil {
		return policyfile.Tried{}, err
	}
	person := replay.Person{Agent: t.Agent, Now: time.Now()}
	if t.At != "" {
		var err error
		if person.Now, err = time.Parse(time.RFC3339, t.At); err != nil {
			return policyfile.Tried{}, fmt.Errorf("%w: %q is no time: write it as 2026-03-01T22:30:00+01:00", policyfile.ErrTrial, t.At)
		}
	}
	run.Events = append(run.Events, replay.Event{Call: &replay.Call{Tool: t.Tool, Args: t.Args}})
	decisions, err := replay.Play(ctx, set, person, &run)
	if err != nil {
		return policyfile.Tried{}, err
	}
	if len(decisions) == 0 {
		return policyfile.Tried{}, errors.New("nothing was decided")
	}
	d := decisions[len(decisions)-1]
	return policyfile.Tried{
		Tool: d.Tool, Decision: d.Decision, Rule: d.Rule, Reason: d.Reason, Warrant: d.Warrant, Shown: d.Shown, Taint: d.Taint,
		Item: d.Item,
	}, nil
}

// before is what ran before the call that is tried, and what was read.
func before(run *replay.Run, t *policyfile.Trial) error {
	add := func(name, args, content string) {
		c := &replay.Call{Tool: name, Args: []byte(args), Answer: replay.Yes}
		run.Events = append(run.Events, replay.Event{Call: c}, replay.Event{Result: &replay.Result{Of: c, Content: []byte(content)}})
	}
	for _, done := range t.Done {
		name, rest, _ := strings.Cut(strings.TrimSpace(done), " ")
		rest = cmp.Or(strings.TrimSpace(rest), "{}")
		args := tool.NewArgs([]byte(rest))
		if _, err := args.Fields(); err != nil || name == "" {
			return fmt.Errorf("%w: %q is no tool with arguments: write 'TOOL {\"name\":\"value\"}'", policyfile.ErrTrial, done)
		}
		name, sent := catalogue.AtHook(t.Agent, name, []byte(rest))
		add(name, string(sent), `{"ok":true}`)
	}
	where, err := strictjson.Marshal(struct {
		URL string `json:"url,omitempty"`
	}{t.URL})
	if err != nil {
		return err
	}
	for _, text := range t.Read {
		add(cmp.Or(t.From, "web_fetch"), string(where), text)
	}
	return nil
}
