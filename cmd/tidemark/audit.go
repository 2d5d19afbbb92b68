package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/store"
)

func (e *env) auditCommand() *cobra.Command {
	var q store.EntryQuery
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read the audit log, or verify that nobody changed it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.withLog(cmd.Context(), func(log *app.Log) error {
				rows, err := log.Since(cmd.Context(), q)
				if err != nil {
					return fmt.Errorf("read log: %w", err)
				}
				return e.printRecords(rows)
			})
		},
	}
	cmd.Flags().StringVar(&q.Session, "session", "", "only this session")
	cmd.Flags().StringVar(&q.Kind, "kind", "", "only this kind of record, e.g. call.decided")
	cmd.Flags().Int64Var(&q.After, "after", 0, "only records after this id")
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "how many at most")
	var head string
	verify := &cobra.Command{
		Use:   "verify",
		Short: "Find any edit, removal or reorder of the log",
		Long: `Check every session's hash chain and the ledger over all commits. The head it prints
can be written down elsewhere; --head HEAD then proves that nothing up to it is gone.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.withLog(cmd.Context(), func(log *app.Log) error { return e.verify(cmd, log, head) })
		},
	}
	verify.Flags().StringVar(&head, "head", "", "head noted earlier (COMMIT:HASH); the ledger must still hold it")
	cmd.AddCommand(verify)
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

func (e *env) printRecords(rows []store.Entry) error {
	out := make([]recordJSON, len(rows))
	for i, r := range rows {
		out[i] = recordJSON{r.ID, r.Session, r.Seq, time.Unix(0, r.Time).UTC(), r.Kind, r.Body, r.Hash.String()}
	}
	if e.json {
		return e.printJSON(map[string]any{"records": out})
	}
	for _, r := range out {
		e.printf("%6d %s %s#%d %s %s\n",
			r.ID, e.ui.word("dim", r.Time.Local().Format(time.DateTime)), r.Session, r.Seq, e.ui.word("title", r.Kind), r.Body)
	}
	return nil
}

func (e *env) verify(cmd *cobra.Command, log *app.Log, head string) error {
	progress := newProgress(e.errOut, "verifying")
	report, err := log.Verify(cmd.Context(), progress.step)
	progress.done()
	if err != nil {
		return fmt.Errorf("verify log: %w", err)
	}
	if head != "" {
		ok, err := hasHead(cmd.Context(), log, head)
		if err != nil {
			return fmt.Errorf("verify head: %w", err)
		}
		if !ok {
			report.Breaks = append(report.Breaks, store.Break{
				Problem: "the noted head " + head + " is not in the ledger: records up to it were removed or rewritten",
			})
		}
	}
	if e.json {
		if err := e.printJSON(map[string]any{"ok": report.OK(), "report": report}); err != nil {
			return err
		}
	} else {
		for _, b := range report.Breaks {
			e.printf("%s %s\n", e.ui.word("bad", "broken"), b)
		}
		if report.OK() {
			e.printf("%s %d records in %d sessions, unbroken\nhead %d:%s\n",
				e.ui.word("good", "ok"), report.Records, report.Sessions, report.Head.Batch, report.Head.Hash)
			if log.Proofs > 0 {
				e.printf("proofs of %d approvals good\n", log.Proofs)
			}
		}
	}
	if !report.OK() {
		return errFault
	}
	return nil
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
