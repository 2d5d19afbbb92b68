package shim

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/trust"
)

// verdict is what the server said, for the adapter to put in its agent's words.
type verdict struct {
	reason  string // "" passes
	notice  string // for the person
	person  string // of a refusal: what the person is shown and the model is not
	asks    string // the question, where the agent's own dialog is to ask it
	ticket  string // of a refusal: it may run in a box all the same, which this opens
	instead []byte // the agent's own form of running it there
}

// dialog reports whether the agent itself asks its person about a held call.
func (a adapter) dialog(o Options, e *catalogue.Event) bool {
	if a.Dialog == nil || a.Ask == nil || o.Env == nil || o.Sender != "owner" {
		return false
	}
	alone := false
	if a.Alone != nil && o.Installed == a.Name+"@managed" {
		file, only := a.Alone()
		alone = settings.Reader{}.Set(filepath.Join(o.Etc, file), only)
	}
	return a.Dialog(e, catalogue.Setting{Alone: alone, Env: o.Env})
}

// key is the session's name at the server.
func (a adapter) key(session string) string { return a.Name + ":" + session }

// debtor is the context that holds what an event brought. A sub-agent's last words are in
// the conversation it works for.
func (a adapter) debtor(e *catalogue.Event) string {
	if e.Kind == catalogue.Return {
		return a.key(e.Session) + "\x00"
	}
	return a.key(e.Session) + "\x00" + e.Branch
}

// ask turns the event into hooks.
func (a adapter) ask(ctx context.Context, s *server, o Options, e *catalogue.Event) (verdict, error) {
	c := a.context(o, e)
	switch e.Kind {
	case catalogue.Start:
		notice := both(both(a.starting(o, e), a.unsettled(o, e)), o.claims())
		return verdict{notice: notice}, errors.Join(a.started(ctx, s, e, c), a.watched(ctx, s, o, e, c))
	case catalogue.Prompt:
		if why := cmp.Or(a.reopened(o, e), a.refusedHere(o, e)); why != "" {
			return verdict{reason: why}, nil
		}
		return a.prompted(ctx, s, e, c)
	case catalogue.Call:
		if e.Never != "" {
			return verdict{reason: "Tidemark: " + e.Never}, nil
		}
		if why := cmp.Or(a.unhooks(o, e), a.reopened(o, e), a.unprefixed(o, e), a.refusedHere(o, e)); why != "" {
			return verdict{reason: why}, nil
		}
		return a.called(ctx, s, o, e, c)
	case catalogue.Result:
		return verdict{}, a.reported(ctx, s, o, e, c)
	case catalogue.Loaded:
		return verdict{}, census(ctx, s, c, hook.Source{Kind: "instructions", Trust: trust.Local})
	case catalogue.Spawn:
		_, err := s.tell(ctx, &hook.BeforeAgentStart{}, c)
		return verdict{}, err
	case catalogue.Return:
		return verdict{}, a.joined(ctx, s, e, c)
	case catalogue.End:
		return verdict{}, a.ended(ctx, s, o, e, c)
	}
	return verdict{}, errors.New("an event of no kind")
}

// both is two notices as one.
func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ". Tidemark: " + b
}

// context says who acts. Only the person's own prompt, in a session no other started, is
// the owner's; what a sub-agent does is no better than the session it works for.
func (a adapter) context(o Options, e *catalogue.Event) hook.Context {
	c := hook.Context{
		SessionKey: a.key(e.Session), SessionID: e.Session, RunID: e.Turn, Branch: e.Branch,
		AgentID: a.Name, MessageProvider: a.Name, WorkspaceDir: e.Cwd, HostTools: catalogue.HostTools(a.Name),
		ControlTools: catalogue.ControlTools(a.Name), Record: e.Record, RecordSum: e.Sum, Undescribed: true,
	}
	if a.Kept != nil && e.Record == "" && e.Branch == "" && o.Env != nil {
		c.Record = a.Kept(o.Env, e.Session)
	}
	switch {
	case o.Sender != "owner" || e.Speaker == catalogue.Nobody:
		known := false
		c.SenderMetadata = &known
	case e.Parent != "":
		c.SpawnedBy = a.key(e.Parent)
	case e.Branch != "" || e.Speaker == catalogue.Itself:
		c.SpawnedBy = c.SessionKey
	default:
		c.SenderIsOwner, c.Wordless = true, a.Limits.Deaf
	}
	return c
}

// started looks whether a conversation that goes on is one the server knows. What another
// one read cannot be known, so it is taken for the worst. A relay of the agent's MCP servers may have begun
// the session a moment before: then the server knows its name, and none of what was said.
func (a adapter) started(ctx context.Context, s *server, e *catalogue.Event, c hook.Context) error {
	if a.Limits.Kin && e.Parent != "" { // from here on the server knows, even if our note is lost
		if _, err := s.tell(ctx, &hook.BeforeAgentStart{}, c); err != nil {
			return err
		}
	}
	n, err := s.tell(ctx, &hook.LoopIterationStart{}, c)
	if err != nil || !e.Resumed || n.Taint != trust.Untrusted.String() && (!n.WordsUnknown || a.Limits.Deaf) {
		return err
	}
	return census(ctx, s, c, hook.Source{Kind: "compacted_history", Trust: trust.Untrusted})
}

// census reports something that came into the context besides messages and results.
func census(ctx context.Context, s *server, c hook.Context, from hook.Source) error {
	_, err := s.tell(ctx, &hook.ContextAssembled{Sources: []hook.Source{from}}, c)
	return err
}

// prompted tells what was said. What the agent's own program put into the prompt is nobody's words: files that
// were referred to, reports of tasks, messages of others.
func (a adapter) prompted(ctx context.Context, s *server, e *catalogue.Event, c hook.Context) (verdict, error) {
	a.commanded(e)
	p := a.said(e, &c)
	said := &hook.MessageReceived{Content: p.words}
	n, err := s.tell(ctx, said, c)
	if isSealed(err) { // the agent uses the name of a turn again that has ended
		c.RunID = ""
		n, err = s.tell(ctx, said, c)
	}
	if err == nil && p.beside != nil {
		err = census(ctx, s, c, *p.beside)
	}
	if err == nil {
		err = a.referred(ctx, s, e, c, p.files)
	}
	if err != nil {
		return verdict{}, err
	}
	if a.Limits.Kin && e.Speaker == catalogue.Nobody && n.Notice == "" {
		n.Notice = "the start of this session was not seen or not noted, so nothing said in it counts as the owner's; start a new session"
	}
	reason, err := s.begin(ctx, c)
	return verdict{reason: reason, notice: n.Notice}, err
}

func (a adapter) called(ctx context.Context, s *server, o Options, e *catalogue.Event, c hook.Context) (verdict, error) {
	if err := a.settled(ctx, s, o, e, c); err != nil {
		return verdict{}, err
	}
	held := c
	held.Wait = int(o.Wait / time.Second)
	if a.dialog(o, e) { // the person is here: nobody waits for one elsewhere
		held.Wait, held.Dialog = 0, a.Name
	}
	b := a.boxing(o, e)
	held.Boxes = b != nil
	held.Brokers = held.Boxes
	v, err := s.decide(ctx, &hook.BeforeToolCall{ToolName: e.Tool, Params: e.Params, ToolCallID: e.CallID}, held)
	switch {
	case err != nil:
	case a.prefixed(o, e):
		v, err = a.pass(o, e, v)
	case v.ticket != "":
		v.instead = b.run(a, e, v.ticket)
	}
	if err != nil || v.reason != "" && v.instead == nil || !a.Limits.Forgets {
		return v, err
	}
	if spawns(e.Tool) {
		err = await(o.Data, a.debtor(e), errand(e))
	}
	if v.instead != nil { // it has not run, and a result of it now would say that it ran without its box
		return v, errors.Join(err, census(ctx, s, c, hook.Source{Kind: "tool_result", Trust: trust.Untrusted}))
	}
	return v, errors.Join(err, a.returned(ctx, s, e, c))
}

// settled tells the server what came in without a report: a result that it never heard of
// counts as the worst, and of a sub-agent that may have failed what it has read so far.
func (a adapter) settled(ctx context.Context, s *server, o Options, e *catalogue.Event, c hook.Context) error {
	debt, err := owes(o.Data, a.debtor(e))
	if err != nil {
		return err
	}
	if debt {
		worst := hook.Source{Kind: "tool_result", Trust: trust.Untrusted}
		if err := census(ctx, s, c, worst); err != nil {
			return err
		}
		if err := settle(o.Data, a.debtor(e)); err != nil {
			return err
		}
	}
	if !a.Limits.Forgets {
		return nil
	}
	open, err := awaited(o.Data, a.debtor(e))
	if err != nil || len(open) == 0 {
		return err
	}
	return a.joined(ctx, s, e, c)
}

// reported passes a result on. That of a sub-agent is then no longer waited for.
func (a adapter) reported(ctx context.Context, s *server, o Options, e *catalogue.Event, c hook.Context) error {
	a.unboxed(o, e)
	if a.dialog(o, e) {
		c.Dialog = a.Name
	}
	if err := a.returned(ctx, s, e, c); err != nil || !a.Limits.Forgets || !spawns(e.Tool) {
		return err
	}
	return arrived(o.Data, a.debtor(e), errand(e))
}

// ended tells the end of a session, and before it what its sub-agents have read.
func (a adapter) ended(ctx context.Context, s *server, o Options, e *catalogue.Event, c hook.Context) error {
	var err error
	if a.Limits.Forgets {
		err = a.forgotten(ctx, s, o, e, c)
	}
	_, told := s.tell(ctx, &hook.AgentEnd{Success: true}, c)
	if o.EndBox != nil && (a.Rewrite != nil || a.Prefix != nil) {
		o.EndBox(o.Data, c.SessionKey)
	}
	return errors.Join(err, told)
}

// forgotten joins the sub-agents that are still waited for, and waits no longer.
func (a adapter) forgotten(ctx context.Context, s *server, o Options, e *catalogue.Event, c hook.Context) error {
	open, err := awaited(o.Data, a.debtor(e))
	if err != nil || len(open) == 0 {
		return err
	}
	if err := a.joined(ctx, s, e, c); err != nil {
		return err
	}
	return forget(open)
}

// errand is what a call has in common with its result.
func errand(e *catalogue.Event) string { return e.Tool + "\x00" + string(e.Params) }

func (a adapter) returned(ctx context.Context, s *server, e *catalogue.Event, c hook.Context) error {
	if spawns(e.Tool) && !a.Limits.Apart { // it may hold what any branch of the session has read; of sessions the server knows that
		c.InputProvenance = &hook.InputProvenance{Kind: "inter_session", SourceSessionKey: c.SessionKey}
	}
	done := &hook.AfterToolCall{ToolName: e.Tool, Params: e.Params, ToolCallID: e.CallID, Result: e.Result, Error: e.Error}
	_, err := s.tell(ctx, done, c)
	if isSealed(err) { // the server has recorded its taint all the same
		return nil
	}
	return err
}

// joined brings what a sub-agent read to the conversation it works for; its last words go
// there even where no tool result says so.
func (a adapter) joined(ctx context.Context, s *server, e *catalogue.Event, c hook.Context) error {
	if e.Branch == "" && !a.Limits.Apart {
		return nil
	}
	back := &catalogue.Event{Kind: catalogue.Return, Name: e.Name, Session: e.Session,
		Tool: "sessions_spawn", CallID: "sub-agent " + e.Branch}
	up := c
	up.Branch = ""
	return a.returned(ctx, s, back, up)
}
