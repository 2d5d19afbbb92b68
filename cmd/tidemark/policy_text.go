package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/people/office"
	"github.com/tidemark/tidemark/internal/reports/definitions"
	"github.com/tidemark/tidemark/internal/reports/renamed"
	"github.com/tidemark/tidemark/internal/reports/report"
)

// policyTexts are the commands about the policy of a running server.
func (e *env) policyTexts() []*cobra.Command {
	var agree bool
	save := &cobra.Command{
		Use:   "save FILE",
		Short: "Save a policy file in the running server and put it in force",
		Long: `Check a policy file, hold it against what is recorded, and put it in the place of the one in
force; the old one is kept beside it. Whatever would be looser is listed, and saved only with
--agree. It asks for the admin token; where approving takes a passkey, save it in the console.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.savePolicy(cmd.Context(), args[0], agree) },
	}
	save.Flags().BoolVar(&agree, "agree", false, "save it although it is looser: you have read every entry of tidemark policy compare")
	return []*cobra.Command{
		{
			Use: "text", Short: "Print the text of the policy in force in the running server", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return e.policyText(cmd.Context()) },
		},
		{
			Use:   "compare FILE",
			Short: "What a policy file would have changed in recorded sessions",
			Long: `Replay recorded sessions under the policy in force and under the file: how many questions would
be more or fewer, which calls that were stopped would run, and where the file is looser.`,
			Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return e.comparePolicy(cmd.Context(), args[0]) },
		},
		e.draftCommand(),
		e.renamedCommand(),
		save,
	}
}

func (e *env) renamedCommand() *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use:   "migrate [FILE...]",
		Short: "Replace ids of rules that shipped presets no longer have, in policy files, alerts and dashboards",
		Long: `Look through files for ids of rules that a shipped preset once had (balanced.command) and has no
more, and show as a diff what the cells of its table are called that say the same now
(balanced.execute.order). Nothing is written without --write. An id that became several cells is
shown with its place, and left to you. Without a name, the policy file here; tidemark check
refuses a policy file that names such an id.`,
		Example: `  tidemark policy migrate tidemark.yaml alerts/*.yml
  tidemark policy migrate --write tidemark.yaml`,
		RunE: func(_ *cobra.Command, files []string) error { return e.rename(files, write) },
	}
	cmd.Flags().BoolVar(&write, "write", false, "write the files")
	return cmd
}

// rename replaces old ids in files. A file is written whole or not at all.
func (e *env) rename(files []string, write bool) error {
	if len(files) == 0 {
		p, err := e.paths()
		if err != nil {
			return err
		}
		if p.Config == "" {
			return errors.New("policy migrate: there is no policy file here: name one")
		}
		files = []string{p.Config}
	}
	var faults bool
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("policy migrate: %w", err)
		}
		text, left := renamed.Rewrite(file, src)
		e.printf("%s", e.diff(definitions.Diff(file, src, file+" (migrated)", text)))
		if len(left) > 0 {
			faults = true
			fmt.Fprint(e.errOut, newUI(e.errOut).faults(renamed.Faults(file, left).Render(src)))
		}
		switch {
		case string(text) == string(src):
			e.printf("%s: nothing to replace\n", report.Line(file))
		case !write:
			e.printf("%s: not written; --write does that\n", report.Line(file))
		default:
			if err := replaceFile(file, text); err != nil {
				return fmt.Errorf("policy migrate: %w", err)
			}
			e.printf("%s: written\n", report.Line(file))
		}
	}
	if faults {
		return errFault
	}
	return nil
}

// replaceFile puts a text in the place of a file's, whole, with the file's own permissions.
func replaceFile(file string, text []byte) error {
	file, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	was, err := os.Stat(file)
	if err != nil {
		return err
	}
	next := file + ".migrated"
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, was.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(next, file)
	}
	if err != nil {
		_ = os.Remove(next)
	}
	return err
}

// policyServer is the server whose policy it is.
func (e *env) policyServer(ctx context.Context) (*client, error) {
	c, err := e.findServer(ctx)
	if err == nil && c == nil {
		err = errors.New("no server runs on this data folder: start it (tidemark serve), or edit the file and tidemark check it")
	}
	return c, err
}

type policyText struct {
	File string `json:"file"`
	Text string `json:"text"`
	Seen string `json:"seen"`
}

func (e *env) policyText(ctx context.Context) error {
	c, err := e.policyServer(ctx)
	if err != nil {
		return fmt.Errorf("policy text: %w", err)
	}
	var out policyText
	if err := c.call(ctx, http.MethodGet, "/v1/policy/text", nil, &out); err != nil {
		return fmt.Errorf("policy text: %w", err)
	}
	if e.json {
		return e.printJSON(out)
	}
	e.printf("%s", out.Text)
	return nil
}

// compared checks a file and holds it against what is recorded.
func (e *env) compared(ctx context.Context, c *client, file string) (text string, found office.Comparison, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", found, err
	}
	in := map[string]string{"text": string(raw)}
	var checked office.Checked
	if err := c.call(ctx, http.MethodPost, "/v1/policy/check", in, &checked); err != nil {
		return "", found, err
	}
	if !checked.OK {
		fmt.Fprint(e.errOut, newUI(e.errOut).faults(checked.Rendered))
		return "", found, errFault
	}
	return string(raw), found, c.call(ctx, http.MethodPost, "/v1/policy/compare", in, &found)
}

func (e *env) comparePolicy(ctx context.Context, file string) error {
	c, err := e.policyServer(ctx)
	if err != nil {
		return fmt.Errorf("policy compare: %w", err)
	}
	_, found, err := e.compared(ctx, c, file)
	if err != nil {
		return fmt.Errorf("policy compare: %w", err)
	}
	if e.json {
		return e.printJSON(found)
	}
	e.printComparison(&found)
	return nil
}

func (e *env) printComparison(x *office.Comparison) {
	e.printf("against %d recorded sessions, %d calls: %d questions more, %d fewer, %d calls denied that were not\n",
		x.Sessions, x.Calls, x.More, x.Fewer, x.Denied)
	if x.Unjudged+x.Failed > 0 {
		e.printf("%d calls could not be judged by their values: the log does not keep them; %d sessions could not be replayed\n",
			x.Unjudged, x.Failed)
	}
	if x.Partial {
		e.printf("there was no time for all sessions: the newest were tried\n")
	}
	for _, line := range x.Loosens() {
		e.printf("%s %s\n", e.ui.word("bad", "looser"), report.Line(line))
	}
	for _, line := range x.Rest {
		e.printf("       %s\n", report.Line(line))
	}
}

func (e *env) savePolicy(ctx context.Context, file string, agree bool) error {
	c, err := e.policyServer(ctx)
	if err != nil {
		return fmt.Errorf("policy save: %w", err)
	}
	var now policyText
	if err := c.call(ctx, http.MethodGet, "/v1/policy/text", nil, &now); err != nil {
		return fmt.Errorf("policy save: %w", err)
	}
	text, found, err := e.compared(ctx, c, file)
	if err != nil {
		return fmt.Errorf("policy save: %w", err)
	}
	if !e.json {
		e.printComparison(&found)
	}
	in := map[string]any{"text": text, "seen": now.Seen, "agreed": []string{}}
	if agree {
		in["agreed"] = found.Loosens()
	} else if len(found.Loosens()) > 0 {
		return errors.New("policy save: not saved: it is looser; read the entries above, and say --agree if you mean them")
	}
	var out struct {
		Version string `json:"version"`
		Notice  string `json:"notice"`
	}
	if err := c.call(ctx, http.MethodPut, "/v1/policy/text", in, &out); err != nil {
		return fmt.Errorf("policy save: %w", err)
	}
	if e.json {
		return e.printJSON(out)
	}
	e.printf("%s version %s\n", out.Notice, out.Version)
	return nil
}

func (e *env) draftCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "draft SUGGESTION",
		Short: "What a suggestion of tidemark report would change in the policy, and would have changed in recorded sessions",
		Long: `Write a suggestion of tidemark report into the text of the policy in force, show what that changes
and what it would have changed in recorded sessions. Nothing is saved: --out writes the text to a
file, which tidemark policy save puts in force. A suggestion that no longer fits the policy says so.`,
		Example: `  tidemark report
  tidemark policy draft 4f09c2d19a8b --out next.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.draftPolicy(cmd.Context(), args[0], out) },
	}
	cmd.Flags().StringVar(&out, "out", "", "write the text to this new file")
	return cmd
}

func (e *env) draftPolicy(ctx context.Context, id, out string) error {
	c, err := e.policyServer(ctx)
	if err != nil {
		return fmt.Errorf("policy draft: %w", err)
	}
	var d struct {
		policyText
		Suggestion report.Suggestion `json:"suggestion"`
		Draft      string            `json:"draft"`
		Comparison office.Comparison `json:"comparison"`
	}
	to := url.Values{"suggestion": {id}, "days": {"3650"}} // as far as tidemark report looks back
	if err := c.call(ctx, http.MethodGet, "/v1/policy/draft?"+to.Encode(), nil, &d); err != nil {
		return fmt.Errorf("policy draft: %w", err)
	}
	if out != "" {
		if err := writeDraft(out, d.Draft); err != nil {
			return fmt.Errorf("policy draft: %w", err)
		}
	}
	if e.json {
		return e.printJSON(d)
	}
	e.printf("%s (%s)\n", report.Line(d.Suggestion.Text), report.Line(d.Suggestion.Evidence))
	e.printf("%s", e.diff(definitions.Diff("in force", []byte(d.Text), "draft", []byte(d.Draft))))
	e.printComparison(&d.Comparison)
	if out != "" {
		e.printf("to put it in force: tidemark policy save %s\n", report.Line(out))
	}
	return nil
}

// writeDraft makes a file that nobody has yet: it may hold what the policy file holds.
func writeDraft(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if done := f.Close(); err == nil {
		err = done
	}
	return err
}
