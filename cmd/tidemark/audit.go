package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/reports/recordsearch"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/reports/timeline"
	"github.com/tidemark/tidemark/internal/store"
)

// auditFlags say which records to print.
type auditFlags struct {
	store.EntryQuery
	follow bool
	more   recordsearch.Filter // than session and kind
	from   string
	since  string
	to     string
}

// filter is all that was asked for.
func (f *auditFlags) filter() recordsearch.Filter {
	out := f.more
	out.Session, out.Kind = f.Session, f.Kind
	return out
}

// maxRecords bounds what is printed at once.
const maxRecords = 100_000

// ago is the time that a span of hours, minutes or days before now began.
func ago(text string, now time.Time) (time.Time, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 100_000 {
			return now.AddDate(0, 0, -n), true
		}
	}
	d, err := time.ParseDuration(text)
	return now.Add(-d), err == nil && d > 0
}

func (f *auditFlags) check() (err error) {
	if f.since != "" && f.from != "" {
		return errors.New("log: --since and --from both say where to begin: give one")
	}
	if at, ok := ago(f.since, time.Now()); ok {
		f.from = at.UTC().Format(time.RFC3339)
	} else if f.since != "" {
		f.from = f.since
	}
	if f.more.From, err = recordsearch.Time(f.from, false); err != nil {
		return fmt.Errorf("log: --from: %w", err)
	}
	if f.more.To, err = recordsearch.Time(f.to, true); err != nil {
		return fmt.Errorf("log: --to: %w", err)
	}
	if f.more != (recordsearch.Filter{}) && (f.follow || f.After > 0) {
		return errors.New("log: with --follow or --after the only filters are --session and --kind")
	}
	if f.more.Effect == "ask" {
		f.more.Effect = "confirm" // as records have it
	}
	if !slices.Contains([]string{"", "allow", "confine", "confirm", "deny"}, f.more.Effect) {
		return fmt.Errorf("log: --effect %q: want allow, ask, confine or deny", f.more.Effect)
	}
	if f.Limit < 1 || f.Limit > maxRecords {
		return fmt.Errorf("log: --limit %d: want 1 to %d", f.Limit, maxRecords)
	}
	if f.After < 0 {
		return fmt.Errorf("log: --after %d: want the id of a record", f.After)
	}
	kinds := kindNames()
	if f.Kind != "" && !slices.Contains(kinds, f.Kind) {
		return fmt.Errorf("log: --kind: there is no kind %q (there are %s)", f.Kind, strings.Join(kinds, ", "))
	}
	return nil
}

func kindNames() []string {
	var out []string
	for _, k := range event.Kinds() {
		out = append(out, string(k))
	}
	return out
}

// flags are those of what is looked for.
func (f *auditFlags) flags(fl *pflag.FlagSet) {
	fl.StringVar(&f.Session, "session", "", "only this session")
	fl.StringVar(&f.Kind, "kind", "", "only this kind of record, e.g. call.decided")
	fl.StringVar(&f.more.Tool, "tool", "", "decisions about this tool")
	fl.StringVar(&f.more.Effect, "effect", "", "only decisions with this result: allow, ask, confine (in a box) or deny")
	fl.StringVar(&f.more.Rule, "rule", "", "only decisions by rules whose name begins with this")
	fl.StringVar(&f.more.Person, "person", "", "what this person answered or did: approver:ada, or ada")
	fl.StringVar(&f.more.Via, "via", "", "what was answered or done through this door, e.g. console")
	fl.StringVar(&f.more.Text, "text", "", "records with this text in them, in any case")
	fl.StringVar(&f.from, "from", "", "from this day or time on, e.g. 2026-03-01")
	fl.StringVar(&f.since, "since", "", "only the last 90m, 24h or 7d; or a day or time, as in --from")
	fl.StringVar(&f.to, "to", "", "up to this day or time")
}

func (e *env) logCommand() *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Read the audit log, verify that nobody changed it, keep it and copy it",
		Long: `Print the audit log, one line per event, newest first; --json has the whole records. With
--follow new ones are printed as they come, until Ctrl-C; with --after they come oldest first,
from there on, for programs that read in pages. Where a server runs it is asked; without one,
or with --store, the log itself is read.

Of each call it says what it did, to whom and to what: arguments are kept without secrets and contents of files, sealed with
the key of the data folder, unless the policy says record: {arguments: none}.`,
		Example: `  tidemark log --kind call.decided
  tidemark log --follow --session agent:main:main
  tidemark log --person ada --from 2026-03-01
  tidemark log --effect deny --tool exec --text example.com`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return e.withAudit(cmd.Context(), func(log auditLog) error { return e.audit(cmd.Context(), log, &f) })
		},
	}
	f.flags(cmd.Flags())
	cmd.Flags().Int64Var(&f.After, "after", 0, "only records after this id, oldest first")
	cmd.Flags().IntVar(&f.Limit, "limit", 100, "how many at most")
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on with new records as they come, oldest first")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(e.graphCommand(), e.verifyCommand(), e.anchorCommand(), e.exportCommand(), e.pruneCommand(), e.holdCommand(),
		e.backupCommand(), e.restoreCommand(), e.migrateCommand())
	return cmd
}

type recordJSON struct {
	ID      int64            `json:"id"`
	Session string           `json:"session"`
	Seq     uint64           `json:"seq"`
	Time    time.Time        `json:"time"`
	Kind    string           `json:"kind"`
	Body    strictjson.Value `json:"body"`
	Hash    string           `json:"hash"`
	Args    string           `json:"args,omitzero"`
}

func (e *env) audit(ctx context.Context, log auditLog, f *auditFlags) error {
	if f.follow {
		return e.follow(ctx, log, f)
	}
	var rows []store.Entry
	var err error
	if f.After > 0 {
		rows, err = log.Oldest(ctx, f.EntryQuery)
	} else {
		rows, err = log.Newest(ctx, f.filter(), f.Limit)
	}
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	if e.json {
		out := make([]recordJSON, len(rows))
		for i := range rows {
			out[i] = recordOf(log, &rows[i])
		}
		return e.printJSON(map[string]any{"records": out})
	}
	for i := range rows {
		e.printRecord(log, &rows[i])
	}
	return nil
}

func recordOf(log auditLog, r *store.Entry) recordJSON {
	args := recordsearch.Sealed(*r, log.Arguments)
	return recordJSON{r.ID, r.Session, r.Seq, time.Unix(0, r.Time).UTC(), r.Kind, r.Body, r.Hash.String(), args}
}

// followEvery is how often the log is looked at for new records.
const followEvery = 300 * time.Millisecond

// follow prints the last records and those that come, until somebody stops it.
func (e *env) follow(ctx context.Context, log auditLog, f *auditFlags) error {
	// The head first: what comes between the two is among the last records or after them, and not lost.
	head, err := log.Head(ctx)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	q, rows := f.EntryQuery, []store.Entry(nil)
	if q.Limit = store.MaxLimit; q.After == 0 {
		q.After = head.Records
		if rows, err = log.Newest(ctx, f.filter(), f.Limit); err != nil {
			return fmt.Errorf("read log: %w", err)
		}
	}
	slices.Reverse(rows)
	return e.lookAgain(ctx, &q, e.goOn(ctx, log, &q, rows))
}

// lostError is why a log that is followed cannot be read at the moment.
type lostError struct{ cause error }

func (l *lostError) Error() string { return "read log: " + l.cause.Error() }

func (l *lostError) Unwrap() error { return l.cause }

// lookAgain goes on where a server was lost: at the one that took its place, or in the log itself. Between the two there may
// be neither for a while, and then why is said, once.
func (e *env) lookAgain(ctx context.Context, q *store.EntryQuery, err error) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for told := ""; ; {
		var gone *lostError
		if !errors.As(err, &gone) || ctx.Err() != nil {
			return err
		}
		if why := gone.Error(); why != told {
			_, _ = fmt.Fprintf(e.errOut, "%s; looking for it again\n", why)
			told = why
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		found := false
		err = e.withAudit(ctx, func(log auditLog) error {
			found = true
			return e.goOn(ctx, log, q, nil)
		})
		if err != nil && !found {
			err = &lostError{err}
		}
	}
}

// goOn prints records and then those that come after; q says where it is.
func (e *env) goOn(ctx context.Context, log auditLog, q *store.EntryQuery, rows []store.Entry) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		for i := range rows {
			q.After = max(q.After, rows[i].ID)
			if err := e.tellRecord(log, &rows[i]); err != nil {
				return err
			}
		}
		var err error
		rows, err = log.Since(ctx, *q)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case lost(log, err):
			return &lostError{err}
		case err != nil:
			return fmt.Errorf("read log: %w", err)
		case len(rows) > 0:
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// tellRecord prints one record of a log that is followed.
func (e *env) tellRecord(log auditLog, r *store.Entry) error {
	if e.json {
		return writeLine(e.out, recordOf(log, r))
	}
	e.printRecord(log, r)
	return nil
}

// outcomes are what came of calls, in words.
var outcomes = map[string]string{"allow": "allowed", "confine": "boxed", "confirm": "asked", "deny": "denied"}

// maxSaid is how many characters a line tells of what was done or said.
const maxSaid = 200

// printRecord tells a record in one line: when, where, what came of it, and what it was.
func (e *env) printRecord(log auditLog, r *store.Entry) {
	ev, err := event.FromRecord(r.Record)
	if ev.Decided != nil {
		ev.Decided.Args = log.Arguments(r.Session, ev.Decided.Args)
	}
	s := timeline.One(&ev)
	if err != nil {
		s = timeline.Step{Title: r.Kind, Reason: "cannot be read: " + err.Error()}
	}
	word, ok := outcomes[s.Effect]
	if !ok {
		word = r.Kind
	}
	line := fmt.Sprintf("%6d %s %s %s %s", r.ID, e.ui.word("dim", time.Unix(0, r.Time).Local().Format(time.DateTime)),
		report.Line(r.Session), e.ui.word(s.Effect, word), report.Line(s.Title))
	if said := cmp.Or(s.Did, s.Text); said != "" {
		line += " " + text.Mark(report.Line(strings.Join(strings.Fields(said), " ")), maxSaid)
	}
	if s.Effect == "confirm" || s.Effect == "deny" {
		line += "  (" + report.Line(s.Rule)
		if s.Reason != "" {
			line += ": " + report.Line(s.Reason)
		}
		line += ")"
	} else if s.Reason != "" {
		line += "  (" + report.Line(s.Reason) + ")"
	}
	e.printf("%s\n", line)
}

// auditLog is where records are read: at a running server, or in the file.
type auditLog interface {
	Newest(ctx context.Context, f recordsearch.Filter, most int) ([]store.Entry, error)
	Oldest(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
	Head(ctx context.Context) (store.Head, error)
	Arguments(session, kept string) string // of a call of a record that was read
}

var (
	_ auditLog = (*installation.Log)(nil)
	_ auditLog = (*serverLog)(nil)
)

// withAudit reads at the server that runs on the data folder, or where none does, or a database is named, in the
// log itself.
func (e *env) withAudit(ctx context.Context, step func(auditLog) error) error {
	if e.store == "" {
		c, err := e.findServer(ctx)
		if err != nil {
			return err
		}
		if c != nil {
			return step(&serverLog{c: c, opened: map[string]string{}})
		}
	}
	return e.withLog(ctx, func(log *installation.Log) error { return step(log) })
}

// serverLog reads the log through the route of a running server.
type serverLog struct {
	c      *client
	opened map[string]string // arguments, as the server opened them, by what is kept
}

// Arguments implements auditLog.
func (s *serverLog) Arguments(_, kept string) string {
	if !strings.HasPrefix(kept, event.SealedMark) {
		return kept
	}
	return s.opened[kept]
}

// pageOfRecords is what the route answers.
type pageOfRecords struct {
	Records []recordJSON `json:"records"`
	Next    int64        `json:"next"`
}

// page asks for one page.
func (s *serverLog) page(ctx context.Context, q url.Values) ([]store.Entry, int64, error) {
	var p pageOfRecords
	if err := s.c.call(ctx, http.MethodGet, "/v1/audit?"+q.Encode(), nil, &p); err != nil {
		return nil, 0, err
	}
	out := make([]store.Entry, len(p.Records))
	for i, r := range p.Records {
		hash, err := hex.DecodeString(r.Hash)
		if err != nil || len(hash) != len(audit.Hash{}) {
			return nil, 0, fmt.Errorf("read answer: record %d has no hash", r.ID)
		}
		s.remember(&r)
		out[i] = store.Entry{ID: r.ID, Record: audit.Record{
			Session: r.Session, Seq: r.Seq, Time: r.Time.UnixNano(), Kind: r.Kind, Body: r.Body, Hash: audit.Hash(hash),
		}}
	}
	return out, p.Next, nil
}

// remember notes what the server opened.
func (s *serverLog) remember(r *recordJSON) {
	ev, err := event.FromRecord(audit.Record{Kind: r.Kind, Body: r.Body})
	if r.Args != "" && err == nil && ev.Decided != nil {
		s.opened[ev.Decided.Args] = r.Args
	}
}

// Newest implements auditLog.
func (s *serverLog) Newest(ctx context.Context, f recordsearch.Filter, most int) (out []store.Entry, err error) {
	q := url.Values{"order": {"newest"}}
	for name, value := range map[string]string{
		"session": f.Session, "kind": f.Kind, "tool": f.Tool, "effect": f.Effect, "rule": f.Rule, "person": f.Person, "via": f.Via,
		"text": f.Text,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, at := range map[string]time.Time{"from": f.From, "to": f.To} {
		if !at.IsZero() {
			q.Set(name, at.Format(time.RFC3339Nano))
		}
	}
	for {
		q.Set("limit", strconv.Itoa(min(most-len(out), store.MaxLimit)))
		page, next, err := s.page(ctx, q)
		if err != nil {
			return nil, err
		}
		if out = append(out, page...); next == 0 || len(out) >= most {
			return out, nil
		}
		q.Set("before", strconv.FormatInt(next, 10))
	}
}

// Since implements auditLog.
func (s *serverLog) Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error) {
	in := url.Values{"after": {strconv.FormatInt(q.After, 10)}, "limit": {strconv.Itoa(store.Page(q.Limit))}}
	if q.Session != "" {
		in.Set("session", q.Session)
	}
	if q.Kind != "" {
		in.Set("kind", q.Kind)
	}
	page, _, err := s.page(ctx, in)
	return page, err
}

// Oldest implements auditLog.
func (s *serverLog) Oldest(ctx context.Context, q store.EntryQuery) ([]store.Entry, error) {
	return installation.Oldest(ctx, s, q)
}

// Head implements auditLog. Of it only how many records there are is told.
func (s *serverLog) Head(ctx context.Context) (store.Head, error) {
	var h struct {
		Batch   uint64 `json:"batch"`
		Records int64  `json:"records"`
	}
	err := s.c.call(ctx, http.MethodGet, "/v1/audit/head", nil, &h)
	return store.Head{Batch: h.Batch, Records: h.Records}, err
}

// lost reports whether a server that was read from is not there any more. One that stops refuses with a status of 500
// and more what it was asked before it closes its door.
func lost(log auditLog, err error) bool {
	if _, remote := log.(*serverLog); !remote || err == nil {
		return false
	}
	var no *refused
	return !errors.As(err, &no) || no.Status >= http.StatusInternalServerError
}

// prunedOf is how many records lost what.
func prunedOf(p store.Pruned) string {
	var out []string
	for _, what := range event.PruneKinds() {
		if n := p.What[what]; n > 0 {
			out = append(out, fmt.Sprintf("%s of %d", what, n))
		}
	}
	return strings.Join(out, ", ")
}
