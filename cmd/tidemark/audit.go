package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/reports/records"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/reports/timeline"
	"github.com/tidemark/tidemark/store"
)

// auditFlags say which records to print.
type auditFlags struct {
	store.EntryQuery
	follow bool
	more   records.Filter // than session and kind
	from   string
	to     string
}

// filter is all that was asked for.
func (f *auditFlags) filter() records.Filter {
	out := f.more
	out.Session, out.Kind = f.Session, f.Kind
	return out
}

// maxRecords bounds what is printed at once.
const maxRecords = 100_000

func (f *auditFlags) check() (err error) {
	if f.more.From, err = records.Time(f.from, false); err != nil {
		return fmt.Errorf("audit: --from: %w", err)
	}
	if f.more.To, err = records.Time(f.to, true); err != nil {
		return fmt.Errorf("audit: --to: %w", err)
	}
	if f.more != (records.Filter{}) && (f.follow || f.After > 0) {
		return errors.New("audit: --follow and --after know --session and --kind alone")
	}
	if !slices.Contains([]string{"", "allow", "confirm", "deny"}, f.more.Effect) {
		return fmt.Errorf("audit: --effect %q: want allow, confirm or deny", f.more.Effect)
	}
	if f.Limit < 1 || f.Limit > maxRecords {
		return fmt.Errorf("audit: --limit %d: want 1 to %d", f.Limit, maxRecords)
	}
	if f.After < 0 {
		return fmt.Errorf("audit: --after %d: want the id of a record", f.After)
	}
	kinds := kindNames()
	if f.Kind != "" && !slices.Contains(kinds, f.Kind) {
		return fmt.Errorf("audit: --kind: there is no kind %q (there are %s)", f.Kind, strings.Join(kinds, ", "))
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

func (e *env) auditCommand() *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read the audit log, or verify that nobody changed it",
		Long: `Print the audit log, one line per event, newest first; --json has the whole records. With
--follow new ones are printed as they come, until Ctrl-C; with --after they come oldest first,
from there on, for programs that read in pages.

What a call's arguments were is kept where the policy says record: {arguments: redacted}.`,
		Example: `  tidemark audit --kind call.decided
  tidemark audit --follow --session agent:main:main
  tidemark audit --person ada --from 2026-03-01
  tidemark audit --effect deny --tool exec --text example.com`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return e.withLog(cmd.Context(), func(log *app.Log) error { return e.audit(cmd.Context(), log, &f) })
		},
	}
	cmd.Flags().StringVar(&f.Session, "session", "", "only this session")
	cmd.Flags().StringVar(&f.Kind, "kind", "", "only this kind of record, e.g. call.decided")
	cmd.Flags().Int64Var(&f.After, "after", 0, "only records after this id, oldest first")
	cmd.Flags().IntVar(&f.Limit, "limit", 100, "how many at most")
	cmd.Flags().StringVar(&f.more.Tool, "tool", "", "decisions about this tool")
	cmd.Flags().StringVar(&f.more.Effect, "effect", "", "decisions that came out so: allow, confirm or deny")
	cmd.Flags().StringVar(&f.more.Rule, "rule", "", "decisions by rules whose name begins so")
	cmd.Flags().StringVar(&f.more.Person, "person", "", "what this person answered or did: approver:ada, or ada")
	cmd.Flags().StringVar(&f.more.Via, "via", "", "what was answered or done through this door, e.g. console")
	cmd.Flags().StringVar(&f.more.Text, "text", "", "records with this text in them, in any case")
	cmd.Flags().StringVar(&f.from, "from", "", "from this day or time on, e.g. 2026-03-01")
	cmd.Flags().StringVar(&f.to, "to", "", "up to this day or time")
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on with new records as they come, oldest first")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(e.verifyCommand(), e.anchorCommand())
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
}

func (e *env) audit(ctx context.Context, log *app.Log, f *auditFlags) error {
	if f.follow {
		return e.follow(ctx, log, f)
	}
	rows, err := []store.Entry(nil), error(nil)
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
			out[i] = recordOf(&rows[i])
		}
		return e.printJSON(map[string]any{"records": out})
	}
	for i := range rows {
		e.printRecord(&rows[i])
	}
	return nil
}

func recordOf(r *store.Entry) recordJSON {
	return recordJSON{r.ID, r.Session, r.Seq, time.Unix(0, r.Time).UTC(), r.Kind, r.Body, r.Hash.String()}
}

// followEvery is how often the log is looked at for new records.
const followEvery = 300 * time.Millisecond

// follow prints the last records and those that come, until somebody stops it.
func (e *env) follow(ctx context.Context, log *app.Log, f *auditFlags) error {
	rows, err := log.Newest(ctx, f.filter(), f.Limit)
	if f.After > 0 {
		rows, err = nil, nil
	}
	slices.Reverse(rows)
	q := f.EntryQuery
	head, headErr := log.Head(ctx)
	if err := errors.Join(err, headErr); err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	if q.Limit = store.MaxLimit; q.After == 0 {
		q.After = head.Records
	}
	if len(rows) > 0 {
		q.After = max(q.After, rows[len(rows)-1].ID)
	}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		for i := range rows {
			q.After = max(q.After, rows[i].ID)
			if e.json {
				if err := writeLine(e.out, recordOf(&rows[i])); err != nil {
					return err
				}
				continue
			}
			e.printRecord(&rows[i])
		}
		if rows, err = log.Since(ctx, q); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		if len(rows) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// printRecord tells a record in one line: when, where, what came of it, and what it was.
func (e *env) printRecord(r *store.Entry) {
	ev, err := event.FromRecord(r.Record)
	s := timeline.One(&ev)
	if err != nil {
		s = timeline.Step{Title: r.Kind, Reason: "cannot be read: " + err.Error()}
	}
	word, ok := map[string]string{"allow": "allowed", "confirm": "held", "deny": "refused"}[s.Effect]
	if !ok {
		word = r.Kind
	}
	line := fmt.Sprintf("%6d %s %s %s %s", r.ID, e.ui.word("dim", time.Unix(0, r.Time).Local().Format(time.DateTime)),
		report.Line(r.Session), e.ui.word(s.Effect, word), report.Line(s.Title))
	if s.Text != "" {
		line += " " + text.Mark(report.Line(strings.Join(strings.Fields(s.Text), " ")), 120)
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

// held is what was written down elsewhere of the log, to hold it against.
type held struct{ head, anchors, key string }

func (e *env) verifyCommand() *cobra.Command {
	var n held
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Find any edit, removal or reorder of the log",
		Long: `Check every session's hash chain and the ledger over all commits. The head it prints
can be written down elsewhere; --head HEAD then proves that nothing up to it is gone.
So do anchors: those of the file that the policy file names (anchors.file), or of one
that is given, as tidemark audit anchor prints them and a program gets them posted.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.withLog(cmd.Context(), func(log *app.Log) error { return e.verify(cmd, log, n) })
		},
	}
	cmd.Flags().StringVar(&n.head, "head", "", "head noted earlier (COMMIT:HASH); the ledger must still hold it")
	cmd.Flags().StringVar(&n.anchors, "anchors", "", "file of anchors, one after the other; the ledger must still hold them")
	cmd.Flags().StringVar(&n.key, "anchor-key", "", "key that signed them (default: that of the data folder)")
	return cmd
}

func (e *env) anchorCommand() *cobra.Command {
	var key bool
	cmd := &cobra.Command{
		Use:   "anchor",
		Short: "Print a signed note of where the log stands, to be kept elsewhere",
		Long: `Print a checkpoint of the log, as transparency logs have them: a signed note with the number
of commits and the hash of the ledger. Kept where whoever writes the log cannot reach it, it
proves later that nothing up to it was changed (tidemark audit verify --anchors FILE). With
--key print the key by which anybody can check it. anchors in the policy file has it done by itself.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := e.paths()
			if err != nil {
				return err
			}
			if key {
				k, err := app.AnchorKey(p)
				if err == nil {
					e.printf("%s\n", k)
				}
				return err
			}
			note, err := app.Checkpoint(cmd.Context(), p)
			if err == nil {
				e.printf("%s", note)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&key, "key", false, "print the key by which the notes are checked, name+hash+key")
	return cmd
}

func (e *env) verify(cmd *cobra.Command, log *app.Log, n held) error {
	progress := newProgress(e.errOut, "verifying")
	report, err := log.Verify(cmd.Context(), progress.step)
	progress.done()
	if err != nil {
		return fmt.Errorf("verify log: %w", err)
	}
	anchored, err := e.hold(cmd.Context(), log, n, &report)
	if err != nil {
		return err
	}
	if e.json {
		if err := e.printJSON(map[string]any{"ok": report.OK(), "report": report, "anchors": anchored}); err != nil {
			return err
		}
	} else {
		e.printReport(log, report, anchored)
	}
	if !report.OK() {
		return errFault
	}
	return nil
}

// hold adds what does not fit that was noted elsewhere, and says how many anchors there were.
func (e *env) hold(ctx context.Context, log *app.Log, n held, report *store.Report) (anchored int, err error) {
	if n.head != "" {
		ok, err := hasHead(ctx, log, n.head)
		if err != nil {
			return 0, fmt.Errorf("verify head: %w", err)
		}
		if !ok {
			report.Breaks = append(report.Breaks, store.Break{
				Problem: "the noted head " + n.head + " is not in the ledger: records up to it were removed or rewritten",
			})
		}
	}
	p, err := e.paths()
	if err != nil {
		return 0, err
	}
	breaks, anchored, err := app.CheckAnchors(ctx, p, log, n.anchors, n.key)
	if err != nil {
		return 0, fmt.Errorf("verify anchors: %w", err)
	}
	report.Breaks = append(report.Breaks, breaks...)
	return anchored, nil
}

func (e *env) printReport(log *app.Log, report store.Report, anchored int) {
	for _, b := range report.Breaks {
		e.printf("%s %s\n", e.ui.word("bad", "broken"), b)
	}
	if !report.OK() {
		return
	}
	e.printf("%s %d records in %d sessions, unbroken\nhead %d:%s\n",
		e.ui.word("good", "ok"), report.Records, report.Sessions, report.Head.Batch, report.Head.Hash)
	if log.Proofs > 0 {
		e.printf("proofs of %d approvals good\n", log.Proofs)
	}
	if anchored > 0 {
		e.printf("%d anchors hold\n", anchored)
	}
}

// hasHead looks for a head that was noted earlier.
func hasHead(ctx context.Context, log *app.Log, noted string) (bool, error) {
	batch, hash, ok := strings.Cut(noted, ":")
	n, err := strconv.ParseUint(batch, 10, 64)
	if !ok || err != nil {
		return false, fmt.Errorf("%q is not COMMIT:HASH, as audit verify prints it", noted)
	}
	h, err := log.HeadAt(ctx, n)
	if errors.Is(err, tidemark.ErrNotFound) {
		return false, nil
	}
	return h.Hash.String() == hash, err
}
