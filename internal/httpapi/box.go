package httpapi

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// What runs commands in a box asks here whether it may, and tells how they ended. It stands on the agent's machine and comes
// with the agent's token; what opens a box is the ticket.

func (m *management) boxRoutes() {
	route(m, operation{http.MethodPost, "/v1/box/redeem", "redeemBox", "Use up the ticket of a command that runs in a box"}, m.redeemBox)
	route(m, operation{http.MethodPost, "/v1/box/ended", "endBox", "Tell how a command in a box ended"}, m.endBox)
	route(m, operation{http.MethodPost, "/v1/box/ask", "askBox", "Ask for something outside that a command in a box wants"}, m.askBox)
	route(m, operation{http.MethodPost, "/v1/box/written", "writtenBox", "What allowed calls of file tools leave"}, m.writtenBox)
}

type redeemInput struct {
	Body struct {
		Ticket  string `json:"ticket" doc:"as before_tool_call gave it"`
		Command string `json:"command_sha256" doc:"SHA-256 of the command line, in hexadecimal digits"`
		PID     int    `json:"pid,omitempty" doc:"process that will run it, by its own account" minimum:"0"`
	}
}

type redeemed struct {
	Session   string     `json:"session" doc:"the conversation whose box it runs in"`
	Call      string     `json:"call" doc:"the host's id of the call; may be empty"`
	Step      uint64     `json:"step" doc:"which call of the session it is"`
	Workspace string     `json:"workspace" doc:"the folder that is worked on, as the host named it"`
	Settings  policy.Box `json:"settings" doc:"what the box shows beyond what every box does"`
	Leaves    bool       `json:"leaves" doc:"a plain command that leaves the machine: it is run by the broker, and nowhere else"`
	Covered   bool       `json:"covered" doc:"and what the owner said covers it; else it is asked for, with what it would carry"`
	Temp      []string   `json:"temp,omitempty" doc:"what calls of the session put below /tmp outside the box: it has copies"`
	Ordered   []string   `json:"ordered,omitempty" doc:"of a line of several: its parts that leave and that are covered, by SHA-256"`
	Lists     []string   `json:"lists,omitempty" doc:"of it, or its parts, by SHA-256: what installs from a list that the owner ordered"`
	Taint     string     `json:"taint" doc:"level of the least trusted thing in the context when it was decided"`
}

// sha256Length is that of a SHA-256 in hexadecimal digits.
const sha256Length = 64

func (m *management) redeemBox(ctx context.Context, in *redeemInput) (redeemed, error) {
	if _, err := hex.DecodeString(in.Body.Command); err != nil || len(in.Body.Command) != sha256Length {
		return redeemed{}, badRequest("body.command_sha256: a SHA-256 in 64 hexadecimal digits is wanted")
	}
	b, err := m.monitor.RedeemBox(ctx, in.Body.Ticket, in.Body.Command, in.Body.PID)
	if err != nil {
		return redeemed{}, err
	}
	session, ok := ofMachine(callerOf(ctx).machine, b.Session)
	if !ok {
		return redeemed{}, newProblem(http.StatusForbidden, "agent", "this box is of another machine's session")
	}
	out := redeemed{
		Session: session, Call: b.Call, Step: b.Step, Workspace: b.Workspace, Settings: b.Settings, Taint: b.Taint.String(),
		Leaves: b.Leaves, Covered: b.Covered, Ordered: b.Ordered, Temp: b.Temp, Lists: b.Lists,
	}
	for _, list := range []*[]string{
		&out.Settings.Write, &out.Settings.Read, &out.Settings.Hide, &out.Settings.Guard, &out.Settings.Hosts,
	} {
		if *list == nil {
			*list = []string{}
		}
	}
	if out.Settings.Ports == nil {
		out.Settings.Ports = []int{}
	}
	return out, nil
}

type endInput struct {
	Body struct {
		Ticket string           `json:"ticket" doc:"that was redeemed"`
		Exit   int              `json:"exit" doc:"the command's exit code; 128 and a number for a signal"`
		Report strictjson.Value `json:"report,omitempty" doc:"what the box kept from happening: text, or an object; at most 4 KB are kept"`

		Refused string `json:"refused,omitempty" doc:"the refusal by which the broker began nothing of it; empty: it may have"`
	}
}

type ended struct {
	Recorded bool `json:"recorded" doc:"it is in the log"`
}

func (m *management) endBox(ctx context.Context, in *endInput) (ended, error) {
	report := string(in.Body.Report)
	if text := plainText(in.Body.Report); text != nil {
		report = *text
	}
	var err error
	if in.Body.Refused != "" {
		err = m.monitor.RefuseBox(ctx, in.Body.Ticket, in.Body.Refused, report)
	} else {
		err = m.monitor.EndBox(ctx, in.Body.Ticket, in.Body.Exit, report)
	}
	if err != nil {
		return ended{}, err
	}
	return ended{Recorded: true}, nil
}

type askInput struct {
	Body struct {
		Ticket string       `json:"ticket" doc:"that was redeemed for the command, which runs"`
		Wants  event.Wanted `json:"wants" doc:"a verb and a place, and what a person must know of it"`
		Adds   *boxAdds     `json:"adds,omitempty" doc:"what a push would add over there: judged, and kept nowhere"`
		Wait   int          `json:"wait,omitempty" doc:"seconds to wait for a person's answer" minimum:"0" maximum:"60"`
	}
}

// boxAdds is what a command would add outside.
type boxAdds struct {
	Ordered bool       `json:"ordered,omitempty" doc:"the owner ordered it: asked about only where something speaks against what it adds"`
	Whole   bool       `json:"whole,omitempty" doc:"texts is all of it; else a part is no text, or is too much"`
	Texts   []boxAdded `json:"texts" doc:"what is written of commits, and the lines that they add"`
}

type boxAdded struct {
	Path string `json:"path" doc:"the file, or what else it stands in"`
	Text string `json:"text" doc:"what would be added"`
}

// adds is that as the monitor judges it.
func (in *askInput) adds() *engine.Adds {
	a := in.Body.Adds
	if a == nil {
		return nil
	}
	out := &engine.Adds{Ordered: a.Ordered, Whole: a.Whole}
	for _, t := range a.Texts {
		out.Texts = append(out.Texts, engine.Added(t))
	}
	return out
}

// boxAnswer is what is answered to a box. The zero value refuses.
type boxAnswer struct {
	Allow bool   `json:"allow" doc:"it may, until the command has ended"`
	Open  bool   `json:"open" doc:"a person was asked and has not answered: ask again to wait on"`
	Why   string `json:"why" doc:"of a refusal, in words for whoever reads the command's output"`
	No    bool   `json:"no,omitempty" doc:"of a refusal: a person said no"`
}

// askBox has it decided whether a command in a box may have something outside it. It decides nothing itself.
func (m *management) askBox(ctx context.Context, in *askInput) (boxAnswer, error) {
	wants, ref, call, err := m.monitor.Want(ctx, in.Body.Ticket, in.Body.Wants, in.adds())
	if errors.Is(err, engine.ErrWanted) {
		return boxAnswer{}, badRequest(err.Error())
	}
	if err != nil {
		return boxAnswer{}, err
	}
	v, err := m.waiter.Decide(ctx, ref, call, time.Duration(in.Body.Wait)*time.Second, wants)
	if err != nil {
		return boxAnswer{}, err
	}
	m.metrics.decided(v.Effect.String(), v.Kind)
	switch {
	case v.Allowed():
		return openBox(v.Permit, call)
	case v.Held != nil:
		if in.Body.Wait == 0 { // until it comes back to wait, nobody does
			m.monitor.Await(v.Held.ID)()
		}
		return boxAnswer{Open: true}, nil
	}
	return boxAnswer{Why: refusalOf(&v), No: v.Rule == "owner-denied" && !v.Late}, nil
}

type writtenInput struct {
	Body struct {
		Ticket string `json:"ticket" doc:"that was redeemed for a command of the session, which may have ended"`
	}
}

// written is what calls of the host's own file tools leave, the latest last.
type written struct {
	Files []writtenFile `json:"files" doc:"since the server was started, the latest last; 512 KB at most"`
}

type writtenFile struct {
	Step  uint64        `json:"step" doc:"which call of the session it is"`
	Path  string        `json:"path" doc:"of the file, whole"`
	Whole bool          `json:"whole,omitempty" doc:"it holds text afterwards"`
	Text  string        `json:"text,omitempty" doc:"what it holds"`
	Edits []writtenEdit `json:"edits,omitempty" doc:"else what is replaced in it, one after the other"`
}

type writtenEdit struct {
	Old string `json:"old" doc:"what stands there, once"`
	New string `json:"new" doc:"what comes in its place"`
	All bool   `json:"all,omitempty" doc:"wherever it stands"`
}

// writtenBox says what was ordered, so that a box does not put it aside.
func (m *management) writtenBox(ctx context.Context, in *writtenInput) (written, error) {
	list, err := m.monitor.Written(ctx, in.Body.Ticket)
	if err != nil {
		return written{}, err
	}
	out := written{Files: []writtenFile{}}
	for _, w := range list {
		f := writtenFile{Step: w.Step, Path: w.Path, Whole: w.Whole, Text: w.Text}
		for _, e := range w.Edits {
			f.Edits = append(f.Edits, writtenEdit(e))
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}

// openBox is the only answer that lets a command in a box have something: it uses up the permit for exactly that.
func openBox(permit *engine.Permit, call tool.Call) (boxAnswer, error) {
	if err := permit.Redeem(call); err != nil {
		return boxAnswer{}, err
	}
	return boxAnswer{Allow: true}, nil
}

// refusalOf is why something was refused, in few words. The model reads it: nothing in it names who answered, or a code.
func refusalOf(v *engine.Verdict) string {
	switch {
	case v.Late:
		return "nobody answered in time"
	case v.Rule == "owner-denied":
		return "the owner said no"
	case len(v.Reasons) > 0 && v.Rule != engine.RuleWanted:
		return text.Seen(v.Reasons[0].Text)
	}
	return "it is not allowed"
}

// tellClosed tells whoever reads the server's log, and the user, that a session was closed: a host that does not run a command
// where it is told to is not stopped by what we say to it next.
func (a *API) tellClosed(ctx context.Context, ref engine.Ref, n *note) error {
	why, err := a.monitor.Closed(ctx, ref)
	if err != nil || why == "" {
		return err
	}
	n.Closed, n.Notice = why, "This session is closed to acts: "+why+"."
	a.logger.LogAttrs(ctx, slog.LevelWarn, "session closed to acts", slog.String("session", ref.Session), slog.String("reason", why))
	return nil
}
