package main

import (
	"cmp"
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/store/retention"
)

func (e *env) pruneCommand() *cobra.Command {
	var r retention.Request
	limits := map[string]*string{}
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove what the log no longer needs to keep",
		Long: `Take out of the log what is older than you want it, or more than you want to keep: what was read (content), arguments
of calls, texts (previews), and of sessions that have ended everything but a skeleton (events). Without a limit
those of the section retention in the policy file count; with one, it alone. A limit is an age, a size or both: 30d,
2GB, 30d,2GB.

Hash chains stay whole: records keep their hashes, and a record says what was taken out; tidemark log
verify checks both. What is held (tidemark log hold) is left as it is, and named. Where judgement would need what is gone, it
asks. It may run beside a server.

--person takes out everything of every session that somebody spoke in, whatever its age, and the keys of what was
sealed there: their id, or provider:id.`,
		Example: `  tidemark log prune --dry-run
  tidemark log prune --content 30d --events 400d
  tidemark log prune --person telegram:4711 --why "asked to be forgotten"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := e.paths()
			if err != nil {
				return err
			}
			if r.Limits, err = parseLimits(limits); err != nil {
				return err
			}
			r.Now, r.By = time.Now(), cmp.Or(r.By, caller())
			progress := newProgress(e.errOut, "pruning")
			r.Progress = progress.step
			out, err := installation.Prune(cmd.Context(), p, r)
			progress.done()
			return e.printPruned(out, err, r.Person)
		},
	}
	fl := cmd.Flags()
	for what, of := range map[string]string{
		event.PruneContent: "what was read, which judgement needs of sessions that go on", event.PruneArguments: "arguments of calls",
		event.PrunePreviews: "texts of messages and results",
		event.PruneEvents:   "of sessions that ended so long ago, everything but a skeleton",
	} {
		limits[what] = fl.String(what, "", "how old or how much may be: "+of)
	}
	fl.BoolVarP(&r.Dry, "dry-run", "n", false, "print what would be removed, and change nothing")
	fl.StringVar(&r.Session, "session", "", "this session alone")
	fl.StringVar(&r.Person, "person", "", "forget a person: remove every session they spoke in")
	fl.StringVar(&r.Why, "why", "", "the reason, for the record")
	fl.StringVar(&r.By, "by", "", "who you are, for the record (default: your user name)")
	return cmd
}

// caller is who runs the command.
func caller() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "somebody at the command line"
}

// parseLimits reads limits as they are written on the command line.
func parseLimits(given map[string]*string) (retention.Limits, error) {
	var out retention.Limits
	for what, text := range given {
		if *text == "" {
			continue
		}
		var l retention.Limit
		for part := range strings.SplitSeq(*text, ",") {
			if err := parseLimit(strings.TrimSpace(part), &l); err != nil {
				return nil, fmt.Errorf("prune: --%s %q: %w", what, *text, err)
			}
		}
		if out == nil {
			out = retention.Limits{}
		}
		out[what] = l
	}
	return out, nil
}

// units are what sizes and ages are given in; the first that fits the end of a text counts.
var units = []struct {
	name  string
	bytes int64
	age   time.Duration
}{
	{"GB", 1 << 30, 0}, {"MB", 1 << 20, 0}, {"KB", 1 << 10, 0},
	{"d", 0, 24 * time.Hour}, {"h", 0, time.Hour},
}

func parseLimit(text string, l *retention.Limit) error {
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil || n < 0 || n == 0 && u.bytes > 0 {
			break
		}
		if n == 0 {
			l.Age = 1 // whatever is older than this moment: none would mean no limit
			return nil
		}
		if u.bytes > 0 {
			l.Bytes = n * u.bytes
		} else {
			l.Age = time.Duration(n) * u.age
		}
		return nil
	}
	return fmt.Errorf("%q is neither an age (30d, 12h) nor a size (500MB, 2GB)", text)
}

func (e *env) printPruned(out retention.Result, err error, person string) error {
	if err != nil {
		return err
	}
	if e.json {
		if err := e.printJSON(map[string]any{"ok": person == "" || len(out.Held) == 0, "pruned": out}); err != nil {
			return err
		}
	} else {
		verb := "took"
		if out.Dry {
			verb = "would take"
		}
		e.printf("%s %d bytes out of %d records in %d sessions\n", verb, out.Bytes, out.Records, out.Sessions)
		for _, what := range event.PruneKinds() {
			if n := out.What[what]; n > 0 {
				e.printf("  %-10s %d records\n", what, n)
			}
		}
		for _, h := range out.Held {
			e.printf("%s session %s: %s is held by %s\n", e.ui.word("warn", "left"), report.Line(h.Session), report.Line(h.Hold.String()),
				report.Line(said(h.Hold)))
		}
	}
	if person != "" && len(out.Held) > 0 {
		return errFault // they are not forgotten everywhere
	}
	return nil
}

// said is who holds something, and why.
func said(h retention.Hold) string {
	if h.Why == "" {
		return h.By
	}
	return h.By + " (" + h.Why + ")"
}

func (e *env) holdCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hold",
		Short: "Keep sessions from being pruned: a legal hold",
		Long: `List what is held, or hold a session, or all in which a person took part: nothing of it is pruned, by hand or by the
server, until it is released. Each is a record of the log.`,
		Example: `  tidemark log hold
  tidemark log hold add --session agent:main:main --why "case 12"
  tidemark log hold release --person telegram:4711`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := e.paths()
			if err != nil {
				return err
			}
			holds, err := installation.Holds(cmd.Context(), p)
			if err != nil {
				return err
			}
			if e.json {
				return e.printJSON(map[string]any{"holds": append([]retention.Hold{}, holds...)})
			}
			for _, h := range holds {
				e.printf("%s since %s by %s\n", report.Line(h.String()), h.Since.Local().Format(time.DateTime), report.Line(said(h)))
			}
			if len(holds) == 0 {
				e.printf("nothing is held\n")
			}
			return nil
		},
	}
	cmd.AddCommand(e.holdChange("add", "Hold a session, or all in which a person took part", false))
	cmd.AddCommand(e.holdChange("release", "Let it be pruned again", true))
	return cmd
}

func (e *env) holdChange(name, short string, ended bool) *cobra.Command {
	h := event.Hold{Ended: ended}
	cmd := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := e.paths()
			if err != nil {
				return err
			}
			h.By = cmp.Or(h.By, caller())
			if err := installation.SetHold(cmd.Context(), p, h); err != nil {
				return err
			}
			if e.json {
				return e.printJSON(map[string]any{"ok": true})
			}
			word := "held"
			if ended {
				word = "released"
			}
			e.printf("%s %s\n", word, report.Line(retention.Hold{Session: h.Session, Person: h.Person}.String()))
			return nil
		},
	}
	cmd.Flags().StringVar(&h.Session, "session", "", "the session")
	cmd.Flags().StringVar(&h.Person, "person", "", "the person: their id, or provider:id")
	cmd.Flags().StringVar(&h.Why, "why", "", "the reason, for the record")
	cmd.Flags().StringVar(&h.By, "by", "", "who you are, for the record (default: your user name)")
	return cmd
}

func (e *env) exportCommand() *cobra.Command {
	f := auditFlags{}
	f.Limit = maxRecords
	var format, file string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write records of the log as JSON lines, for analysis elsewhere",
		Long: `Write the records that fit, oldest first, as lines of JSON with a member for session, time,
kind, tool, effect, rule, trust level and person, and the whole record as JSON in body. What is sealed in the log
is not exported, nor are keys and codes. A server may run beside it.`,
		Example: `  tidemark log export --out records.jsonl --from 2026-03-01
  tidemark log export --kind call.decided | tidemark-parquet --out decisions.parquet`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if format != "jsonl" {
				return fmt.Errorf("export: it is written as jsonl, not as %q; Parquet is made of that: "+
					"tidemark log export | tidemark-parquet --out FILE (docs/contrib.md)", format)
			}
			return e.withLog(cmd.Context(), func(log *installation.Log) error {
				filter := f.filter()
				progress := newProgress(e.errOut, "exporting")
				to := installation.ExportTo{File: file, Out: e.out, Progress: progress.step}
				n, err := installation.Export(cmd.Context(), log, &filter, to)
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
	fl.StringVar(&format, "format", "jsonl", "")
	_ = fl.MarkHidden("format") // scripts name the one there is
	fl.StringVarP(&file, "out", "o", "", "file to write, which must not exist (default: standard output)")
	f.flags(fl)
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
