package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/store"
)

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
that is given, as tidemark log anchor prints them and a program gets them posted.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.withLog(cmd.Context(), func(log *installation.Log) error { return e.verify(cmd, log, n) })
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
proves later that nothing up to it was changed (tidemark log verify --anchors FILE). With
--key print the key by which anybody can check it. anchors in the policy file has it done by itself.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := e.paths()
			if err != nil {
				return err
			}
			if key {
				k, err := installation.AnchorKey(p)
				if err == nil {
					e.printf("%s\n", k)
				}
				return err
			}
			note, err := installation.Checkpoint(cmd.Context(), p)
			if err == nil {
				e.printf("%s", note)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&key, "key", false, "print the key by which the notes are checked, name+hash+key")
	return cmd
}

func (e *env) verify(cmd *cobra.Command, log *installation.Log, n held) error {
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
func (e *env) hold(ctx context.Context, log *installation.Log, n held, report *store.Report) (anchored int, err error) {
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
	breaks, anchored, err := installation.CheckAnchors(ctx, p, log, n.anchors, n.key)
	if err != nil {
		return 0, fmt.Errorf("verify anchors: %w", err)
	}
	report.Breaks = append(report.Breaks, breaks...)
	return anchored, nil
}

func (e *env) printReport(log *installation.Log, report store.Report, anchored int) {
	for _, b := range report.Breaks {
		e.printf("%s %s\n", e.ui.word("bad", "broken"), b)
	}
	if !report.OK() {
		return
	}
	e.printf("%s %d records in %d sessions, unbroken\nhead %d:%s\n",
		e.ui.word("good", "ok"), report.Records, report.Sessions, report.Head.Batch, report.Head.Hash)
	if p := report.Pruned; !p.IsZero() {
		e.printf("pruned %d records in %d sessions, %d bytes: %s\n", p.Records, p.Sessions, p.Bytes, prunedOf(p))
	}
	if log.Proofs > 0 {
		e.printf("proofs of %d approvals good\n", log.Proofs)
	}
	if anchored > 0 {
		e.printf("%d anchors hold\n", anchored)
	}
}

// hasHead looks for a head that was noted earlier.
func hasHead(ctx context.Context, log *installation.Log, noted string) (bool, error) {
	batch, hash, ok := strings.Cut(noted, ":")
	n, err := strconv.ParseUint(batch, 10, 64)
	if !ok || err != nil {
		return false, fmt.Errorf("%q is not COMMIT:HASH, as tidemark log verify prints it", noted)
	}
	h, err := log.HeadAt(ctx, n)
	if errors.Is(err, engine.ErrNotFound) {
		return false, nil
	}
	return h.Hash.String() == hash, err
}
