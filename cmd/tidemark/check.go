package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/reports/renamed"
	"github.com/tidemark/tidemark/policy"
)

func (e *env) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a policy file",
		Long:  "Check a policy file without starting anything. Every fault is reported at once, with its place, the line and a caret.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				e.config = args[0]
			}
			return e.check()
		},
	}
}

type faultJSON struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Col      int    `json:"col"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

func (e *env) check() error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	cfg, faults, err := load.Read(p.Config)
	var bad *load.Error
	if err != nil && !errors.As(err, &bad) {
		return err
	}
	src := []byte(nil)
	if p.Config != "" {
		src, _ = os.ReadFile(p.Config)
	}
	old := renamed.Faults(p.Config, renamed.Find(p.Config, src))
	faults = append(faults, old...)
	if err == nil {
		for _, f := range cfg.Policy.Opened() {
			at := configfile.Pos{File: f.File, Line: f.Line, Col: f.Col}
			faults = append(faults, configfile.Fault{Pos: at, Severity: configfile.Warning, Message: f.Text})
		}
	}
	faults.Sort()
	if e.json {
		rows := []faultJSON{}
		for _, f := range faults {
			rows = append(rows, faultJSON{f.Pos.File, f.Pos.Line, f.Pos.Col, f.Severity.String(), f.Message, f.Hint})
		}
		if err := e.printJSON(map[string]any{"ok": bad == nil && len(old) == 0, "file": p.Config, "faults": rows}); err != nil {
			return err
		}
	} else if len(faults) > 0 {
		fmt.Fprint(e.errOut, newUI(e.errOut).faults(faults.Render(src)))
	}
	if bad != nil || len(old) > 0 {
		return errFault
	}
	if !e.json {
		name := p.Config
		if name == "" {
			name = "shipped defaults"
		}
		e.printf("%s %s: policy version %s, %d warning(s)\n",
			e.ui.word("good", "ok"), name, cfg.Policy.Version(), len(faults.Only(configfile.Warning)))
	}
	return nil
}

func (e *env) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check and explain policies; read, compare, try on recordings, write and save them",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "show [PRESET]",
		Short: "Print a shipped preset, in the language of any policy file",
		Long: `Print a shipped preset: ` + strings.Join(policy.Presets(), ", ") + `. Without a name, the one that
your policy file uses. Reasons that name preset:NAME:LINE point into this text.`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: policy.Presets(),
		RunE:      func(_ *cobra.Command, names []string) error { return e.showPreset(names) },
	}, &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the policy file, for editors",
		Long: `Print the JSON Schema of tidemark.yaml. Editors complete and check by it: write it beside the
file, and begin the file with

  # yaml-language-server: $schema=tidemark.schema.json

tidemark policy check says more: it reads conditions too.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			e.printf("%s", load.Schema())
			return nil
		},
	})
	cmd.AddCommand(e.policyTexts()...)
	cmd.AddCommand(e.checkCommand(), e.explainCommand(), e.reloadCommand(), e.replayCommand(), e.learnCommand(), e.verifierCommand())
	return cmd
}

func (e *env) showPreset(names []string) error {
	if len(names) == 0 {
		set, err := e.policy("")
		if err != nil {
			return err
		}
		names = []string{set.Settings().Preset}
	}
	text, err := policy.PresetText(names[0])
	if err != nil {
		return fmt.Errorf("policy show: %w", err)
	}
	if e.json {
		return e.printJSON(map[string]string{"preset": names[0], "text": text})
	}
	e.printf("%s", text)
	return nil
}
