package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/waiting"
)

func (e *env) approvalsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "List open questions and answer them; list and end grants; review held writes",
		Args:  cobra.NoArgs,
	}
	var l listing
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return e.listApprovals(cmd.Context(), l) }
	cmd.Flags().BoolVar(&l.whole, "whole", false, "show long calls whole, and not folded")
	cmd.Flags().StringVar(&l.session, "session", "", "only the calls of this session, all of them")
	var open opened
	approve := &cobra.Command{
		Use: "approve ID...", Short: "Allow a held call, or accept a hidden definition",
		Long: `Let the held call through, or accept the hidden definition. A few calls of one session can be
approved at once, all of them or none. What is dangerous, cannot be undone or runs a command is approved one by one.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.answerAll(cmd.Context(), args, true, open)
		},
	}
	approve.Flags().IntVar(&open.minutes, "minutes", 0, "also allow every call of this tool for this many minutes (0: only this call)")
	approve.Flags().IntVar(&open.calls, "calls", 0, "with --minutes: at most this many calls (0: no limit)")
	approve.Flags().BoolVar(&open.task, "task", false, "also allow similar calls until the task ends, as the question says")
	approve.Flags().BoolVar(&open.always, "always", false,
		"also allow what the question says in every session (to end it: tidemark approvals grants)")
	approve.Flags().BoolVar(&open.reads, "reads", false, "also confirm that the tool only reads, until its definition changes")
	flood := ""
	deny := &cobra.Command{
		Use: "deny {ID... | --session NAME}", Short: "Deny a held call, or keep a definition hidden",
		RunE: func(cmd *cobra.Command, args []string) error {
			if (flood == "") == (len(args) == 0) {
				return errors.New("deny: name questions by their ids, or a session with --session")
			}
			if flood != "" {
				return e.denySession(cmd.Context(), flood)
			}
			return e.answerAll(cmd.Context(), args, false, opened{})
		},
	}
	deny.Flags().StringVar(&flood, "session", "", "deny every call of this session that waits")
	cmd.AddCommand(approve, deny, e.watchCommand(), e.grantsCommand(), e.writesCommand())
	return cmd
}

// queue is what people are asked: held calls, and hidden definitions of MCP servers.
type queue struct {
	Approvals   []engine.Question `json:"approvals"`
	Definitions []pins.Notice     `json:"definitions"`
}

// questions asks the running server, or reads the log when there is none.
func (e *env) questions(ctx context.Context) (queue, error) {
	out := queue{[]engine.Question{}, []pins.Notice{}}
	c, err := e.findServer(ctx)
	if err != nil {
		return out, err
	}
	if c != nil {
		err := c.call(ctx, http.MethodGet, "/v1/approvals", nil, &out)
		return out, err
	}
	err = e.withLog(ctx, func(log *installation.Log) error {
		rows, err := log.Sessions(ctx, store.SessionQuery{Limit: store.MaxLimit})
		if err != nil {
			return fmt.Errorf("list sessions: %w", err)
		}
		for _, r := range rows {
			if _, err := log.Monitor.View(ctx, r.Name); err != nil {
				return err
			}
		}
		if out.Approvals, err = log.Monitor.Questions(ctx); err != nil {
			return err
		}
		out.Definitions, err = log.Pins.Notices(ctx)
		return err
	})
	return out, err
}

// listing says what of the open questions is shown, and how.
type listing struct {
	whole   bool
	session string // empty: of all, and of a flood the first few
}

// shown are the calls that are listed, and the floods that they are the first of.
func (l *listing) shown(all []engine.Question) ([]engine.Question, []waiting.Flood) {
	if l.session == "" {
		return waiting.Window(all, len(all)), waiting.Floods(all)
	}
	return slices.DeleteFunc(slices.Clone(all), func(q engine.Question) bool { return q.Session != l.session || !q.Pending() }), nil
}

func (e *env) listApprovals(ctx context.Context, l listing) error {
	all, err := e.questions(ctx)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(all)
	}
	if l.session != "" {
		all.Definitions = nil
	}
	list, floods := l.shown(all.Approvals)
	open := len(all.Definitions) + len(list)
	for _, f := range floods {
		e.printf("%s calls of the session %s wait; the first %d are shown\n",
			e.ui.word("confirm", strconv.Itoa(f.Calls)), text.OneLine(f.Session), waiting.FewCalls)
		e.printf("    tidemark approvals deny --session %s   (all: tidemark approvals --session %[1]s)\n", quoted(f.Session))
	}
	for _, q := range list {
		e.printf("%s  %s in %s (step %d, %s)\n",
			e.ui.word("title", q.ID), e.ui.word("confirm", q.Tool), q.Session, q.Step, e.ui.as(q.Level))
		for _, l := range strings.Split(q.Text(), "\n") {
			e.printf("    %s\n", text.OneLine(l))
		}
		if l.whole {
			e.printf("    %s\n", strings.ReplaceAll("Whole: "+q.Whole(), "\n", "\n    "))
		}
		e.printf("    %s\n", e.ui.word("dim", q.Rule))
		e.printf("    expires in %s   tidemark approvals approve %s\n", time.Until(q.Expires).Round(time.Second), q.ID)
	}
	for _, n := range all.Definitions {
		e.printNotice(&n)
	}
	if open == 0 {
		e.printf("no open questions\n")
	}
	return nil
}

// printNotice shows a question about a definition; what others wrote in it was made harmless where it was made.
func (e *env) printNotice(n *pins.Notice) {
	e.printf("%s  %s\n", e.ui.word("title", n.ID), e.ui.word("confirm", text.OneLine(n.Server+": "+n.Name)))
	e.printf("    %s\n", text.OneLine(n.Prompt()))
	for _, w := range n.Warnings {
		e.printf("    %s %s\n", e.ui.word("warn", "look closely:"), text.OneLine(w))
	}
	for l := range strings.Lines(e.diff(n.Diff)) {
		e.printf("    %s", l)
	}
	e.printf("    tidemark approvals approve %s   (deny: it stays hidden)\n", n.ID)
}

// opened is what an approval lets through besides the call it is about.
type opened struct {
	minutes, calls      int
	task, always, reads bool
}

func (o opened) check() error {
	switch {
	case o.minutes < 0 || o.minutes > 24*60:
		return errors.New("answer: minutes must be 0 to 1440")
	case o.calls < 0 || o.calls > approval.MaxCalls:
		return fmt.Errorf("answer: calls must be 0 to %d", approval.MaxCalls)
	case o.task && o.always, o.reads && (o.task || o.always), (o.task || o.always || o.reads) && (o.minutes > 0 || o.calls > 0):
		return errors.New("answer: use only one of --task, --always, --reads and --minutes")
	case o.calls > 0 && o.minutes == 0:
		return errors.New("answer: --calls goes with --minutes")
	}
	return nil
}

// decisions are the two answers in the words of the API.
var decisions = map[bool]string{true: "approve", false: "deny"}

// answerAll answers one question, or several of one session at once.
func (e *env) answerAll(ctx context.Context, ids []string, approve bool, open opened) error {
	if len(ids) == 1 {
		return e.answer(ctx, ids[0], approve, open)
	}
	if open != (opened{}) {
		return errors.New("answer: --task, --always, --reads, --minutes and --calls need a single question")
	}
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	if c == nil {
		return errors.New("answer several questions: no server is running; start it (tidemark serve), or answer them one by one")
	}
	return e.send(ctx, c, "/v1/approvals", decisions[approve]+" "+strings.Join(ids, " "), map[string]any{
		"ids": ids, "decision": decisions[approve],
	})
}

// denySession refuses every call of a session that waits.
func (e *env) denySession(ctx context.Context, session string) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		body := map[string]any{"session": session, "decision": decisions[false]}
		return e.send(ctx, c, "/v1/approvals", "deny the calls of "+session, body)
	}
	all, err := e.questions(ctx)
	if err != nil {
		return err
	}
	list, _ := (&listing{session: session}).shown(all.Approvals)
	if len(list) == 0 {
		return fmt.Errorf("deny: no call of the session %s waits", session)
	}
	vote := engine.Vote{Session: session, By: whoami(), Via: "cli"}
	for i := range list {
		vote.IDs = append(vote.IDs, list[i].ID)
	}
	return e.answerLogged(ctx, vote)
}

// send gives an answer to the server, and says what it did.
func (e *env) send(ctx context.Context, c *client, path, what string, body map[string]any) error {
	var out map[string]any
	if err := c.call(ctx, http.MethodPost, path, body, &out); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if e.json {
		return e.printJSON(out)
	}
	e.printf("%v\n", out["notice"])
	return nil
}

func (e *env) answer(ctx context.Context, id string, approve bool, open opened) error {
	if err := open.check(); err != nil {
		return err
	}
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		return e.send(ctx, c, "/v1/approvals/"+id, decisions[approve]+" "+id, map[string]any{
			"decision": decisions[approve], "minutes": open.minutes, "calls": open.calls, "task": open.task, "always": open.always,
			"reads": open.reads,
		})
	}
	return e.answerOffline(ctx, id, approve, open)
}

// answerOffline writes the answer into the log itself: no server is running.
func (e *env) answerOffline(ctx context.Context, id string, approve bool, open opened) error {
	if pins.IsNotice(id) {
		return fmt.Errorf("answer %s: no server is running; start it: tidemark serve", id)
	}
	all, err := e.questions(ctx)
	if err != nil {
		return err
	}
	for _, q := range all.Approvals {
		if q.ID == id {
			return e.answerLogged(ctx, engine.Vote{
				Session: q.Session, IDs: []string{id}, Approve: approve,
				For: time.Duration(open.minutes) * time.Minute, Calls: open.calls, Task: open.task, Always: open.always,
				Reads: open.reads, By: whoami(), Via: "cli",
			})
		}
	}
	return fmt.Errorf("answer %s: no open question has this id", id)
}

// answerLogged writes an answer into the log, and says what it did.
func (e *env) answerLogged(ctx context.Context, v engine.Vote) error {
	return e.withWritableLog(ctx, func(log *installation.Log) error {
		out, err := log.Monitor.Answer(ctx, v)
		if err != nil {
			return err
		}
		if e.json {
			return e.printJSON(map[string]any{"resolved": out.IDs, "grant": out.Grant, "notice": out.Notice})
		}
		e.printf("%s\n", out.Notice)
		return nil
	})
}

func (e *env) withWritableLog(ctx context.Context, step func(*installation.Log) error) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	log, err := installation.OpenLogForAnswers(ctx, p)
	if err != nil {
		return err
	}
	return errors.Join(step(log), log.Close())
}

func whoami() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "local user"
}

func (e *env) grantsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grants",
		Short: "List grants (what your approvals still allow), and end them",
		Long: `List what your approvals allow beyond the calls they were about: always, for a task, for some minutes or for a turn.
Each line says what it allows, who gave it, how often and when it was last used, and when it ends.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.listGrants(cmd.Context()) },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "revoke ID", Short: "End a grant before its time", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.revokeGrant(cmd.Context(), args[0]) },
	})
	return cmd
}

type grantRow struct {
	Session string `json:"session"`
	engine.GrantView
}

// grants are those in force: the server's, or the log's where none runs.
func (e *env) grants(ctx context.Context) ([]grantRow, error) {
	c, err := e.findServer(ctx)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return e.loggedGrants(ctx)
	}
	all := []grantRow{}
	for after := ""; ; {
		var page struct {
			Grants []grantRow `json:"grants"`
			Next   string     `json:"next"`
		}
		if err := c.call(ctx, http.MethodGet, "/v1/grants?after="+url.QueryEscape(after), nil, &page); err != nil {
			return nil, fmt.Errorf("list grants: %w", err)
		}
		if all = append(all, page.Grants...); page.Next == "" {
			return all, nil
		}
		after = page.Next
	}
}

func (e *env) loggedGrants(ctx context.Context) ([]grantRow, error) {
	out := []grantRow{}
	err := e.withLog(ctx, func(log *installation.Log) error {
		always, err := log.Monitor.Lasting(ctx)
		if err == nil && len(always) > 0 {
			err = log.CountUses(ctx, always)
		}
		for _, g := range always {
			out = append(out, grantRow{"", g})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = e.eachView(ctx, func(v *engine.View) {
		for _, g := range v.Grants {
			out = append(out, grantRow{v.Session, g})
		}
	})
	return out, err
}

func (e *env) listGrants(ctx context.Context) error {
	all, err := e.grants(ctx)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"grants": all})
	}
	for _, g := range all {
		kind := "until the turn ends in " + text.OneLine(g.Session)
		switch {
		case g.Always:
			kind = e.always(&g)
		case g.Task:
			kind = "for this task, until " + g.Until.UTC().Format("2006-01-02 15:04 UTC") + " at the latest, in " + text.OneLine(g.Session)
		case !g.Turn:
			kind = "until " + g.Until.UTC().Format("2006-01-02 15:04 UTC") + " in " + text.OneLine(g.Session)
		}
		e.printf("%s  %s, by %s\n", e.ui.word("title", g.ID), kind+usedSince(&g), text.OneLine(g.By))
		e.printf("    %s\n", text.OneLine(g.Opens))
		if g.File != "" {
			e.printf("    to end it, take its lines out of %s\n", text.OneLine(g.File))
			continue
		}
		e.printf("    tidemark approvals grants revoke %s\n", g.ID)
	}
	if len(all) == 0 {
		e.printf("no grants in force\n")
	}
	return nil
}

// always says since when something is allowed for good, and when it ends if nothing uses it.
func (e *env) always(g *grantRow) string {
	const day = "2006-01-02"
	out := "always"
	if !g.Given.IsZero() {
		out += ", since " + g.Given.UTC().Format(day)
	}
	if g.Agent != "" {
		out += " for the agent " + text.OneLine(g.Agent)
	}
	if !g.Until.IsZero() {
		out += ", ends " + g.Until.UTC().Format(day)
	}
	return out
}

// usedSince says how often a grant was used, and when last.
func usedSince(g *grantRow) string {
	switch {
	case g.Times == nil:
		return ""
	case *g.Times == 0:
		return ", not used yet"
	case *g.Times == 1:
		return ", used once, " + g.Used.UTC().Format("2006-01-02 15:04 UTC")
	}
	return fmt.Sprintf(", used %d times, last %s", *g.Times, g.Used.UTC().Format("2006-01-02 15:04 UTC"))
}

func (e *env) revokeGrant(ctx context.Context, id string) error {
	all, err := e.grants(ctx)
	if err != nil {
		return err
	}
	for _, g := range all {
		if g.ID != id {
			continue
		}
		c, err := e.findServer(ctx)
		switch {
		case err != nil:
		case c != nil:
			var out map[string]any
			err = c.call(ctx, http.MethodDelete, "/v1/grants/"+url.PathEscape(id)+"?session="+url.QueryEscape(g.Session), nil, &out)
		default:
			err = e.withWritableLog(ctx, func(log *installation.Log) error {
				return log.Monitor.Revoke(ctx, g.Session, id, whoami(), "cli")
			})
		}
		if err != nil {
			return fmt.Errorf("revoke %s: %w", id, err)
		}
		e.printf("ended: %s\n", id)
		return nil
	}
	return fmt.Errorf("revoke %s: no grant in force has this id", id)
}

// quoted is a name that others chose as one word of a command line that people copy.
func quoted(name string) string {
	return "'" + strings.ReplaceAll(text.OneLine(name), "'", `'\''`) + "'"
}
