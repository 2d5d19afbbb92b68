package policies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/people/policyfile"
	"github.com/tidemark/tidemark/internal/reports/learn"
	"github.com/tidemark/tidemark/internal/reports/policyedit"
	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// File is the policy as a text, for the console and the API.
func (k *Keeper) File() policyfile.PolicyFile {
	return policyfile.PolicyFile{
		Read: k.readPolicyText, Check: k.checkPolicyText, Compare: k.comparePolicy, Draft: k.draftPolicy, Save: k.savePolicy,
	}
}

// draftPolicy is the file with what a suggestion wants, if it still fits.
func (k *Keeper) draftPolicy(s *report.Suggestion) (string, error) {
	file, src, err := policyFile(k.Paths())
	if err != nil {
		return "", err
	}
	out, err := policyedit.Of(file, src, k.Monitor.Policy(), s)
	if err == nil && !CheckText(file, out).OK {
		err = fmt.Errorf("%w: %s", policyedit.ErrByHand, s.Change)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", policyfile.ErrDraft, err)
	}
	return string(out), nil
}

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

func (k *Keeper) readPolicyText() (file, text string, err error) {
	file, src, err := policyFile(k.Paths())
	return file, string(src), err
}

func (k *Keeper) checkPolicyText(text string) policyfile.Checked {
	return CheckText(k.Paths().Config, []byte(text))
}

// CheckText finds every fault of a policy text; file is what it is called in them.
func CheckText(file string, text []byte) policyfile.Checked {
	cfg, faults := config.Parse(file, text, os.LookupEnv)
	out := policyfile.Checked{OK: faults.Err() == nil, Faults: []policyfile.Fault{}}
	if len(faults) > 0 {
		out.Rendered = faults.Render(text)
	}
	for _, f := range faults {
		out.Faults = append(out.Faults, policyfile.Fault{
			Line: f.Pos.Line, Col: f.Pos.Col, Severity: f.Severity.String(), Message: f.Message, Hint: f.Hint,
		})
	}
	if out.OK {
		out.Version = cfg.Policy.Version()
	}
	return out
}

// maxCompared bounds how many recorded sessions a policy is held against, and for how long.
const (
	maxCompared  = 500
	compareLimit = 20 * time.Second
)

// comparePolicy replays what is recorded under the policy in force and under another.
func (k *Keeper) comparePolicy(ctx context.Context, text string) (policyfile.Comparison, error) {
	cfg, faults := config.Parse(k.Paths().Config, []byte(text), os.LookupEnv)
	if faults.Err() != nil {
		return policyfile.Comparison{}, faults.Err()
	}
	select { // one at a time: it takes a whole processor
	case k.comparing <- struct{}{}:
		defer func() { <-k.comparing }()
	case <-ctx.Done():
		return policyfile.Comparison{}, ctx.Err()
	}
	c := comparison{before: k.Monitor.Policy(), after: cfg.Policy}
	c.Runs, c.Rest, c.Looser = []string{}, []string{}, append(looser(c.before, c.after), looserSections(k.start, cfg)...)
	limited, cancel := context.WithTimeout(ctx, compareLimit)
	defer cancel()
	query := store.SessionQuery{Limit: 100}
	for c.Sessions < maxCompared {
		page, err := k.Log.Sessions(ctx, query)
		if err != nil {
			return policyfile.Comparison{}, fmt.Errorf("read sessions: %w", err)
		}
		for _, s := range page {
			query.After = s.Name
			if limited.Err() != nil {
				c.Partial = true
				return c.Comparison, ctx.Err()
			}
			c.session(ctx, k, s.Name)
		}
		if len(page) < query.Limit {
			return c.Comparison, nil
		}
	}
	c.Partial = true
	return c.Comparison, nil
}

// looser are the places where a policy says less strictly what happens to a tool.
func looser(before, after *policy.Set) []string {
	tools := append(before.Tools(), after.Tools()...)
	slices.Sort(tools)
	out := append([]string{}, learn.Standing(before, after)...)
	for _, name := range append([]string{""}, slices.Compact(tools)...) {
		grid := learn.Grid{}
		if name != "" {
			grid.Tools = []string{name}
		}
		if _, err := grid.Compare(before, after); err != nil && !slices.Contains(out, err.Error()) {
			out = append(out, err.Error())
		}
	}
	return out
}

// comparison counts what differs.
type comparison struct {
	policyfile.Comparison
	before, after *policy.Set
}

// session replays one session under both.
func (c *comparison) session(ctx context.Context, k *Keeper, name string) {
	c.Sessions++
	run, err := replay.FromLog(name, k.Log.Load(ctx, name, 0), k.Monitor.Arguments)
	if err != nil {
		c.Failed++
		return
	}
	was, err := replay.Play(ctx, c.before, replay.Person{}, &run)
	if err != nil {
		c.Failed++
		return
	}
	now, err := replay.Play(ctx, c.after, replay.Person{}, &run)
	if err != nil || len(now) != len(was) {
		c.Failed++
		return
	}
	for i := range was {
		c.Calls++
		switch {
		case was[i].Unkept:
			c.Unjudged++
		case was[i].Redacted:
			c.Redacted++
		}
		c.call(name, &was[i], &now[i])
	}
}

func (c *comparison) call(session string, was, now *replay.Decision) {
	if was.Decision == now.Decision {
		return
	}
	text := fmt.Sprintf("%s, call %d: %s was %s and would be %s (%s)", session, was.Step+1, was.Tool, was.Decision,
		now.Decision, now.Rule)
	switch {
	case now.Decision == replay.Ask:
		c.More++
	case was.Decision == replay.Ask:
		c.Fewer++
	}
	if now.Decision == replay.Deny {
		c.Denied++
	}
	if now.Decision == replay.Allow {
		c.Runs = append(c.Runs, text)
		return
	}
	c.Rest = append(c.Rest, text)
}

// savePolicy writes the file where it still says what the person saw, keeps it as it was, and
// puts the very text in force that was given: whoever writes the file meanwhile puts nothing in force.
func (k *Keeper) savePolicy(ctx context.Context, before, text string) (string, error) {
	file, src, err := policyFile(k.Paths())
	if err != nil {
		return "", err
	}
	if tool.DigestOf(src).String() != before {
		return "", policyfile.ErrStale
	}
	cfg, faults := config.Parse(file, []byte(text), os.LookupEnv)
	if faults.Err() != nil {
		return "", faults.Err()
	}
	undo, kept, err := k.swapPolicy(file, src, []byte(text))
	if err != nil {
		return "", err
	}
	warnings, err := k.enforce(cfg, faults)
	if err != nil {
		return "", errors.Join(err, undo())
	}
	k.Tell(ctx)
	notice := "Saved and in force. " + kept
	if len(warnings) > 0 {
		notice += ". " + strings.Join(warnings, "; ")
	}
	return notice, nil
}

// swapPolicy puts a text in the place of the policy file, or makes the first one.
func (k *Keeper) swapPolicy(file string, src, text []byte) (undo func() error, kept string, err error) {
	if k.Paths().Config == "" {
		if err := datafolder.WriteNew(file, text, 0o600); err != nil {
			return nil, "", fmt.Errorf("write policy: %w", err)
		}
		return func() error { return os.Remove(file) }, "It is the first policy file here: " + file, nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, "", fmt.Errorf("read policy: %w", err)
	}
	mode := info.Mode().Perm()
	backup := file + "." + time.Now().UTC().Format("20060102T150405.000000000Z") + ".bak"
	if err := datafolder.WriteNew(backup, src, mode); err != nil {
		return nil, "", fmt.Errorf("keep the file as it was: %w", err)
	}
	if err := datafolder.Replace(file, text, mode); err != nil {
		return nil, "", fmt.Errorf("write policy: %w", err)
	}
	return func() error { return datafolder.Replace(file, src, mode) }, "The file as it was is beside it: " + backup, nil
}
