package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/app"
)

func (e *env) exportCommand() *cobra.Command {
	f := auditFlags{}
	f.Limit = maxRecords
	var format, file string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write records of the log as JSON lines or Parquet, for analysis elsewhere",
		Long: `Write the records that fit, oldest first, as lines of JSON (jsonl) or as a Parquet file, with a column for session, time,
kind, tool, effect, rule, trust level and person, and the whole record as JSON in body. What is sealed in the log
is not exported, nor are keys and codes. A server may run beside it.`,
		Example: `  tidemark export --out records.jsonl --from 2026-03-01
  tidemark export --format parquet --out decisions.parquet --kind call.decided`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if file == "" && format == "parquet" {
				return errors.New("export: a Parquet file needs a name (--out)")
			}
			return e.withLog(cmd.Context(), func(log *app.Log) error {
				filter := f.filter()
				progress := newProgress(e.errOut, "exporting")
				n, err := app.Export(cmd.Context(), log, &filter, format, file, e.out, progress.step)
				progress.done()
				if err != nil || file == "" {
					return err
				}
				if e.json {
					return e.printJSON(map[string]any{"ok": true, "file": file, "records": n})
				}
				e.printf("wrote %d records to %s\n", n, file)
				return nil
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&format, "format", "jsonl", "how it is written: "+strings.Join(app.ExportFormats(), " or "))
	fl.StringVarP(&file, "out", "o", "", "file to write, which must not exist (default: standard output)")
	f.flags(fl)
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(app.ExportFormats(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
