package scenario_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/test/scenario"
	"github.com/tidemark/tidemark/tool"
)

// hookAgent is the agent whose hooks tell stories: Claude Code, which sees prompts, calls
// and results.
const (
	hookAgent = "claude"
	hooksName = "hooks-" + hookAgent
)

// hooksDoor is the program that Claude Code starts at its hooks, in front of a real server.
// What may run is what the agent makes of the exit code; what hooks are not told is read
// from the log, and both must agree.
type hooksDoor struct {
	http   *httpDoor // the server, as hosts and people reach it
	world  *scenario.World
	window scenario.Window
	data   string // the server's data folder
	talks  map[place]*hooked
}

var (
	_ scenario.Door   = (*hooksDoor)(nil)
	_ scenario.Window = (*hooksDoor)(nil)
	_ scenario.Namer  = (*hooksDoor)(nil)
	_ io.Closer       = (*hooksDoor)(nil)
)

// hooked is a conversation in the agent.
type hooked struct {
	sender string // of the prompts: owner or unknown
	from   string // where the story's sender speaks; the agent knows its terminal only
	sealed bool   // the story's turn is over; the agent's is not before the next prompt
	lost   bool   // something happened that hooks cannot tell
	seen   uint64 // records of the log that were looked at
}

// hooksRig keeps the agent's conversations over a restart of the server.
func hooksRig(*scenario.Scenario) scenario.Rig {
	talks := map[place]*hooked{}
	return scenario.Rig{Store: openWatched, Door: func(w *scenario.World) (scenario.Door, error) { return openHooks(w, talks) }}
}

func openHooks(w *scenario.World, talks map[place]*hooked) (*hooksDoor, error) {
	inner, err := scenario.OpenEngine(w)
	if err != nil {
		return nil, err
	}
	window, ok := inner.(scenario.Window)
	if !ok {
		return nil, fmt.Errorf("engine is a %T", inner)
	}
	door, err := openHTTP(w)
	if err != nil {
		return nil, err
	}
	d := &hooksDoor{http: door.(*httpDoor), world: w, window: window, talks: talks}
	if d.data, err = os.MkdirTemp("", "tidemark-hooks-"); err != nil {
		return nil, errors.Join(err, d.http.Close())
	}
	tokens := map[string]string{"agent": d.http.tokens.Agent, "approver": d.http.tokens.Approver, "admin": d.http.tokens.Admin}
	err = errors.Join(d.leave("tokens.json", tokens), d.leave("server.json", map[string]any{"url": d.http.server.URL, "pid": 1}))
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// leave writes what a server leaves in its data folder for hooks to find.
func (d *hooksDoor) leave(name string, v any) error {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.data, name), raw, 0o600)
}

// Close stops the server and removes its folder.
func (d *hooksDoor) Close() error { return errors.Join(d.http.Close(), os.RemoveAll(d.data)) }

// Key implements scenario.Namer: the agent stands before the names of its sessions.
func (*hooksDoor) Key(session string) string { return hookAgent + ":" + session }

func (d *hooksDoor) ref(ref engine.Ref) engine.Ref {
	ref.Session = d.Key(ref.Session)
	return ref
}

// talk is the conversation of a context, or ErrUnseen where it cannot be told.
func (d *hooksDoor) talk(ref engine.Ref) (*hooked, error) {
	c := d.talks[place{ref.Session, ref.Branch}]
	if c == nil || c.lost {
		return nil, scenario.ErrUnseen
	}
	return c, nil
}

// printed is what the agent got to read of an answer.
type printed struct {
	code     int
	out, err string
}

// start runs the program at a hook. The payload is Claude Code's own.
func (d *hooksDoor) start(ctx context.Context, c *hooked, ref engine.Ref, event string, more map[string]any) (printed, error) {
	payload := map[string]any{
		"session_id": ref.Session, "transcript_path": "/home/user/.claude/projects/-home-user-work/" + ref.Session + ".jsonl",
		"cwd": "/home/user/work", "permission_mode": "bypassPermissions", "hook_event_name": event,
	}
	if ref.Turn != "" {
		payload["prompt_id"] = ref.Turn
	}
	for k, v := range more {
		payload[k] = v
	}
	body, err := strictjson.Marshal(payload)
	if err != nil {
		return printed{}, err
	}
	var out, errOut bytes.Buffer
	args := []string{"--agent", hookAgent, "--data", d.data, "--sender", c.sender, "--timeout", "1m"}
	code := shim.Main(ctx, args, bytes.NewReader(body), &out, &errOut)
	return printed{code, out.String(), strings.TrimSuffix(errOut.String(), "\n")}, nil
}

// must is start for what the agent goes on after.
func (d *hooksDoor) must(ctx context.Context, c *hooked, ref engine.Ref, event string, more map[string]any) (printed, error) {
	s, err := d.start(ctx, c, ref, event, more)
	if err == nil && (s.code != 0 || s.err != "") {
		err = fmt.Errorf("%s: exit code %d: %s", event, s.code, s.err)
	}
	return s, err
}

// events are the records of the conversation's session since the last look.
func (d *hooksDoor) events(ctx context.Context, c *hooked, ref engine.Ref) ([]event.Event, error) {
	out, err := recorded(ctx, d.world.Store, d.Key(ref.Session), c.seen)
	c.seen += uint64(len(out))
	return out, err
}

func (d *hooksDoor) taint(ctx context.Context, ref engine.Ref) (string, error) {
	l, err := d.world.Monitor.Taint(ctx, d.ref(ref))
	return l.Level.String(), err
}

// prompted reports whether hooks can tell such a turn: a prompt is the person's at the
// terminal, or nobody's.
func prompted(t engine.Turn) bool {
	s := t.Sender
	if t.Message == nil && s.ID != "" || t.Forked || t.Ref.Branch != "" || t.From != "" || len(t.Items) > 0 ||
		t.Agent != "" || s.Group != "" || s.SpawnedBy != "" || s.Provider == "" {
		return false
	}
	return s.IsOwner != s.Unknown || !s.IsOwner && s.ID == ""
}

// commands reports whether a prompt is a chat command of the owner's: this door takes none.
func commands(t engine.Turn) bool {
	if t.Message == nil || !t.Sender.IsOwner {
		return false
	}
	cmd, err := approval.ParseCommand(*t.Message)
	return err != nil || cmd.Verb != approval.None
}

// Begin submits a prompt.
func (d *hooksDoor) Begin(ctx context.Context, t engine.Turn) (scenario.Outcome, error) {
	at := place{t.Ref.Session, t.Ref.Branch}
	c := d.talks[at]
	if c == nil {
		c = &hooked{}
		d.talks[at] = c
	}
	if c.lost = c.lost || !prompted(t) || commands(t); c.lost {
		return scenario.Outcome{}, scenario.ErrUnseen
	}
	c.sealed, c.sender, c.from = false, "unknown", t.Sender.Provider
	if t.Sender.IsOwner {
		c.sender = "owner"
	}
	words := "{}" // what starts an agent where the story does not say it
	if t.Message != nil {
		words = *t.Message
	}
	s, err := d.must(ctx, c, t.Ref, "UserPromptSubmit", map[string]any{"prompt": words})
	if err != nil {
		return scenario.Outcome{}, err
	}
	o := scenario.Outcome{}
	if o.Notice, err = besidePrompt(s.out); err != nil {
		return o, err
	}
	events, err := d.events(ctx, c, t.Ref)
	if err != nil {
		return o, err
	}
	for _, e := range events {
		if e.Kind == event.TurnBegan {
			began(&o, e.Began, words)
		}
	}
	o.Taint, err = d.taint(ctx, t.Ref)
	return o, err
}

// besidePrompt is the notice that the agent puts beside the prompt.
func besidePrompt(out string) (string, error) {
	if out == "" {
		return "", nil
	}
	var reply struct {
		Output struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := strictjson.Unmarshal([]byte(out), &reply); err != nil {
		return "", fmt.Errorf("read %q: %w", out, err)
	}
	if reply.Output.Event != "UserPromptSubmit" {
		return "", fmt.Errorf("the answer to a prompt is %q", out)
	}
	return strings.TrimPrefix(reply.Output.Context, "Tidemark: "), nil
}

// Model is no step of hooks.
func (*hooksDoor) Model(context.Context, engine.ModelCall) (scenario.Outcome, error) {
	return scenario.Outcome{}, scenario.ErrUnseen
}

// denied takes a refusal that is said in JSON, so that the person is shown more than the model,
// for what the agent takes it for: the same as exit code 2 with that reason.
func (p printed) denied() (printed, error) {
	if p.code != 0 || p.out == "" {
		return p, nil
	}
	var said struct {
		Person string `json:"systemMessage"`
		Own    struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if err := strictjson.Unmarshal([]byte(p.out), &said); err != nil {
		return p, err
	}
	if said.Own.Decision != "deny" {
		return p, nil
	}
	if said.Person == "" {
		return p, fmt.Errorf("a held call shows the person nothing: %s", p.out)
	}
	return printed{code: 2, err: said.Own.Reason}, nil
}

// Call is a tool that is about to run: exit code 2 with a reason holds it, and so does a denial in
// JSON; silence lets it run.
func (d *hooksDoor) Call(ctx context.Context, ref engine.Ref, call tool.Call) (scenario.Outcome, error) {
	c, err := d.talk(ref)
	if err != nil {
		return scenario.Outcome{}, err
	}
	fields, ok, err := toolFields(call)
	if err != nil {
		return scenario.Outcome{}, err
	}
	if c.lost = !ok; c.lost || c.sealed {
		return scenario.Outcome{}, scenario.ErrUnseen
	}
	mark, err := d.world.Monitor.Taint(ctx, d.ref(ref))
	if err != nil {
		return scenario.Outcome{}, err
	}
	s, err := d.start(ctx, c, ref, "PreToolUse", fields)
	if err != nil {
		return scenario.Outcome{}, err
	}
	events, err := d.events(ctx, c, ref)
	if err != nil {
		return scenario.Outcome{}, err
	}
	at := slices.IndexFunc(events, func(e event.Event) bool { return e.Kind == event.CallDecided && e.Decided.CallID == call.ID })
	if at < 0 {
		return scenario.Outcome{}, fmt.Errorf("nothing was decided about %s, and the agent got %+v", call.Name, s)
	}
	v := events[at].Decided
	s, err = s.denied()
	if err != nil {
		return scenario.Outcome{}, err
	}
	held := s.code == 2 && s.err != ""
	if held != (v.Effect != "allow") || !held && (s.code != 0 || s.out != "") {
		return scenario.Outcome{}, fmt.Errorf("the agent got %+v, the verdict is %s", s, v.Effect)
	}
	if !held {
		s.err = "" // a notice for the person
	}
	r := ruled{by: v, mark: mark}
	o, err := r.outcome(ctx, d.world.Monitor, d.Key(ref.Session), s.err)
	o.Evidence, o.Text = c.plain(o.Evidence), c.plain(o.Text)
	if v.Effect == "confirm" {
		o.Code = "untold " + o.Question // the owner answers elsewhere
	}
	return o, err
}

// plain names the story's sender where the agent stands.
func (c *hooked) plain(text string) string {
	return strings.ReplaceAll(plain(text), "message ("+hookAgent+")", "message ("+c.from+")")
}

// Result is a tool that ran, or failed.
func (d *hooksDoor) Result(ctx context.Context, r engine.Observation) (scenario.Outcome, error) {
	c, err := d.talk(r.Ref)
	if err != nil {
		return scenario.Outcome{}, err
	}
	fields, ok, err := toolFields(tool.Call{ID: r.Result.CallID, Name: r.Result.Name, Args: r.Result.Args})
	if err != nil {
		return scenario.Outcome{}, err
	}
	if c.lost = !ok || r.From != ""; c.lost {
		return scenario.Outcome{}, scenario.ErrUnseen
	}
	name := "PostToolUse"
	if r.Result.Error {
		name, fields["error"] = "PostToolUseFailure", string(r.Result.Content)
	} else {
		fields["tool_response"] = string(r.Result.Content)
	}
	if _, err := d.must(ctx, c, r.Ref, name, fields); err != nil {
		return scenario.Outcome{}, err
	}
	events, err := d.events(ctx, c, r.Ref)
	if err != nil {
		return scenario.Outcome{}, err
	}
	if c.sealed { // it counts, and for the agent it is no late one
		return scenario.Outcome{}, scenario.ErrUnseen
	}
	var o scenario.Outcome
	for _, e := range events {
		if e.Kind == event.ResultSeen {
			o.Level = e.Seen.Label.Level.String()
		}
	}
	o.Taint, err = d.taint(ctx, r.Ref)
	return o, err
}

// End is not told: some agents go on after the end of a turn.
func (d *hooksDoor) End(_ context.Context, end engine.Ending) (scenario.Outcome, error) {
	if c, err := d.talk(end.Ref); err == nil {
		c.sealed = true
	}
	return scenario.Outcome{}, scenario.ErrUnseen
}

// State looks at the context the monitor keeps for the conversation.
func (d *hooksDoor) State(ctx context.Context, ref engine.Ref) (scenario.Outcome, error) {
	c, err := d.talk(ref)
	if err != nil || c.sealed { // the story's is closed
		return scenario.Outcome{}, scenario.ErrUnseen
	}
	return d.window.State(ctx, d.ref(ref))
}

// Picture is another than the story's: hooks do not see when the model is asked.
func (*hooksDoor) Picture(context.Context, string, string) (string, error) {
	return "", scenario.ErrUnseen
}
