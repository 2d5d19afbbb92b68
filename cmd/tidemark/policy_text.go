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

	"github.com/tidemark/tidemark/internal/people/policyfile"
	"github.com/tidemark/tidemark/internal/policies"
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
		e.writeCommand(),
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
shown with its place, and left to you. Without a name, the policy file here; tidemark policy check
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
	out, faults := []migrated{}, false
	for _, file := range files {
		m, err := e.renameIn(file, write)
		if err != nil {
			return fmt.Errorf("policy migrate: %w", err)
		}
		out, faults = append(out, m), faults || m.Left > 0
	}
	if e.json {
		if err := e.printJSON(map[string]any{"files": out}); err != nil {
			return err
		}
	}
	if faults {
		return errFault
	}
	return nil
}

// migrated is what became of a file.
type migrated struct {
	File    string `json:"file"`
	Diff    string `json:"diff"` // empty: nothing is to be replaced
	Written bool   `json:"written"`
	Left    int    `json:"left"` // ids that somebody has to replace by hand
}

// renameIn replaces old ids in one file.
func (e *env) renameIn(file string, write bool) (migrated, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return migrated{}, err
	}
	text, left := renamed.Rewrite(file, src)
	m := migrated{File: file, Diff: definitions.Diff(file, src, file+" (migrated)", text), Left: len(left)}
	if len(left) > 0 {
		fmt.Fprint(e.errOut, newUI(e.errOut).faults(renamed.Faults(file, left).Render(src)))
	}
	said := "nothing to replace"
	switch {
	case string(text) == string(src):
	case !write:
		said = "not written; --write does that"
	default:
		if err := replaceFile(file, text); err != nil {
			return m, err
		}
		m.Written, said = true, "written"
	}
	if !e.json {
		e.printf("%s%s: %s\n", e.diff(m.Diff), report.Line(file), said)
	}
	return m, nil
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
		err = errors.New("no server runs on this data folder: start it (tidemark serve), " +
			"or edit the file and have tidemark policy check read it")
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
func (e *env) compared(ctx context.Context, c *client, file string) (text string, found policyfile.Comparison, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", found, err
	}
	in := map[string]string{"text": string(raw)}
	var checked policyfile.Checked
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

func (e *env) printComparison(x *policyfile.Comparison) {
	e.printf("against %d recorded sessions, %d calls: %d questions more, %d fewer, %d calls denied that were not\n",
		x.Sessions, x.Calls, x.More, x.Fewer, x.Denied)
	if x.Unjudged+x.Failed > 0 {
		e.printf("%d calls could not be judged by their values: the log does not keep them; %d sessions could not be replayed\n",
			x.Unjudged, x.Failed)
	}
	if x.Redacted > 0 {
		e.printf("%d calls were judged without secrets and contents of files: the log does not keep those\n", x.Redacted)
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
		Suggestion report.Suggestion     `json:"suggestion"`
		Draft      string                `json:"draft"`
		Comparison policyfile.Comparison `json:"comparison"`
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

func (e *env) writeCommand() *cobra.Command {
	var out, record string
	cmd := &cobra.Command{
		Use:   "write WORDS",
		Short: "Have the model in reach put what you say about the policy into rules, as a proposal",
		Long: `Have the model of the policy file (tidemark model) put plain words into rules, groups and cells of the policy. What it
answers must pass tidemark policy check. Shown are what it would do, in words, the change as a diff, and what it would have
changed in recorded sessions; whatever makes the policy looser is listed separately. Nothing is saved: --out writes the text to
a new file, and tidemark policy save puts that in force, which takes you (the admin token, or your passkey in the console).

What leaves this machine are your words, the names of tools that were called here and of groups in the file. WORDS of -
are read from standard input.`,
		Example: `  tidemark policy write "payments over 100 always ask me; below only to DE02 1203 0000 0000 2020 51" --out next.yaml
  tidemark policy save next.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.writePolicy(cmd.Context(), args[0], out, record)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write the text to this new file")
	cmd.Flags().StringVar(&record, "record", "", "add the answer to this file, for the provider recorded")
	return cmd
}

// writePolicy proposes a change and shows what it would do. It has no way to put it in force.
func (e *env) writePolicy(ctx context.Context, words, out, record string) error {
	const what = "policy write: %w"
	p, err := e.paths()
	if err != nil {
		return err
	}
	if words == "-" {
		if words, err = e.line(ctx, maxTried); err != nil {
			return fmt.Errorf(what, err)
		}
	}
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	tools, err := toolsSeen(ctx, c)
	if err != nil {
		return fmt.Errorf(what, err)
	}
	x, err := policies.ProposePolicy(ctx, p, words, tools, record)
	if err != nil {
		return fmt.Errorf(what, err)
	}
	var found *policyfile.Comparison
	if c != nil {
		if err := c.call(ctx, http.MethodPost, "/v1/policy/compare", map[string]string{"text": x.Text}, &found); err != nil {
			return fmt.Errorf(what, err)
		}
	}
	if out != "" {
		if err := writeDraft(out, x.Text); err != nil {
			return fmt.Errorf(what, err)
		}
	}
	if e.json {
		return e.printJSON(map[string]any{"proposal": x, "comparison": found, "saved": false})
	}
	e.printProposal(x, found, out)
	return nil
}

// toolsSeen are the tools that were called here, where a server can tell.
func toolsSeen(ctx context.Context, c *client) (names []string, err error) {
	if c == nil {
		return nil, nil
	}
	var all struct {
		Tools []struct {
			Name  string `json:"name"`
			Calls int64  `json:"calls"`
		} `json:"tools"`
	}
	err = c.call(ctx, http.MethodGet, "/v1/tools", nil, &all)
	for _, t := range all.Tools {
		if t.Calls > 0 {
			names = append(names, t.Name)
		}
	}
	return names, err
}

func (e *env) printProposal(x *policies.Proposed, found *policyfile.Comparison, out string) {
	e.printf("%s by %s; nothing is saved\n", e.ui.word("title", "a proposal"), report.Line(x.Model))
	for _, line := range x.Loosens {
		e.printf("  %s %s\n", e.ui.word("bad", "LOOSER"), report.Line(line))
	}
	for _, line := range x.Tells {
		e.printf("  %s\n", report.Line(line))
	}
	if x.Said.Left != "" {
		e.printf("  %s %s\n", e.ui.word("warn", "not in it:"), report.Line(x.Said.Left))
	}
	e.printf("%s", e.diff(definitions.Diff("in force", []byte(x.Before), "proposed", []byte(x.Text))))
	if found == nil {
		e.printf("no server runs on this data folder: what it would have changed is not known\n")
	} else {
		e.printComparison(found)
	}
	if out == "" {
		e.printf("--out FILE writes it to a file, for tidemark policy save\n")
		return
	}
	e.printf("try it: tidemark try TOOL ARGUMENTS --config %[1]s; put it in force: tidemark policy save %[1]s\n", report.Line(out))
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
