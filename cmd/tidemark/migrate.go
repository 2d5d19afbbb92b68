package main

import (
	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/app"
)

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
			report, err := app.Migrate(cmd.Context(), p, progress.step)
			progress.done()
			if err != nil {
				return err
			}
			if e.json {
				return e.printJSON(map[string]any{"ok": true, "store": app.StoreName(p.Store), "report": report})
			}
			e.printf("copied %d records of %d sessions to %s, unbroken\nhead %d:%s\n",
				report.Records, report.Sessions, app.StoreName(p.Store), report.Head.Batch, report.Head.Hash)
			return nil
		},
	}
}
