package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/store/backup"
)

func (e *env) backupCommand() *cobra.Command {
	var secrets bool
	cmd := &cobra.Command{
		Use:   "backup FOLDER",
		Short: "Copy the log and the policy into a new folder, beside a running server or without one",
		Long: `Copy the log as it is at one moment, the policy file and what was read in definitions into a
new folder, and check every hash chain of the copy. A server may run and write meanwhile.

With --secrets the tokens and words.key are copied too: keep such a backup as you keep the data
folder. Without words.key a restored server does not recognise earlier values, and asks about them
once more.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := e.paths()
			if err != nil {
				return err
			}
			c, err := backup.Backup(cmd.Context(), p, args[0], secrets)
			return e.printCopied("backed up to", c, err)
		},
	}
	cmd.Flags().BoolVar(&secrets, "secrets", false, "copy the tokens and the key of the log's hashes too")
	return cmd
}

func (e *env) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "restore FOLDER",
		Short: "Put a backup in the place of what the data folder holds",
		Long: `Check a backup, and put it in the place of what the data folder holds. No server may run on
it. The log that is there is moved aside into a folder of its own, never removed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.restore(cmd.Context(), args[0]) },
	}
}

func (e *env) restore(ctx context.Context, folder string) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	c, err := backup.Restore(ctx, p, folder, time.Now())
	return e.printCopied("restored from", c, err)
}

func (e *env) printCopied(what string, c backup.Copied, err error) error {
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(c)
	}
	e.printf("%s %s: %s\n%d records in %d sessions, unbroken; head %d:%s\n", what, c.Folder, strings.Join(c.Files, ", "),
		c.Report.Records, c.Report.Sessions, c.Report.Head.Batch, c.Report.Head.Hash)
	if c.Kept != "" {
		e.printf("what was there before is in %s\n", c.Kept)
	}
	return nil
}

func (e *env) migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate --store postgres://...",
		Short: "Copy the log of a data folder into an empty PostgreSQL database",
		Long: `Copy the log in the data folder into PostgreSQL, with its chains and its ledger as they are, and check
both: they end in the same head. No server may run on the data folder; its file stays as it is. Then start the
server with the same --store.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := e.paths()
			if err != nil {
				return err
			}
			progress := newProgress(e.errOut, "verifying")
			report, err := backup.Migrate(cmd.Context(), p, progress.step)
			progress.done()
			if err != nil {
				return err
			}
			if e.json {
				return e.printJSON(map[string]any{"ok": true, "store": installation.StoreName(p.Store), "report": report})
			}
			e.printf("copied %d records of %d sessions to %s, unbroken\nhead %d:%s\n",
				report.Records, report.Sessions, installation.StoreName(p.Store), report.Head.Batch, report.Head.Hash)
			return nil
		},
	}
}
