package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/agents/project"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/trust"
)

// trustCommand is a person's word that something may be trusted: what was written, a session, a project's settings.
func (e *env) trustCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Restore trust: in a session, in what was written while tainted, or in a project's settings",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(e.resetCommand(), e.labelsCommand(), e.acceptCommand())
	return cmd
}

func (e *env) labelsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "labels",
		Short: "List what was written while tainted, or vouch for it",
		Long: `A file, memory or record that an agent wrote while its context held content that is not
trusted keeps that label: whoever reads it, in any session, is tainted again. Look at it,
and clear the label if it may be trusted; that is recorded (tidemark log --session
tidemark:labels).`,
		Example: `  tidemark trust labels
  tidemark trust labels clear file:work/notes.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.listLabels(cmd.Context()) },
	}
	var below string
	clearing := &cobra.Command{
		Use: "clear [KEY]", Short: "Trust one label again, by its name in tidemark trust labels; with --below, all files of a folder",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && below == "":
				return e.clearLabel(cmd.Context(), args[0])
			case len(args) == 0 && below != "":
				return e.clearBelow(cmd.Context(), below)
			}
			return errors.New("clear label: name one, or a folder with --below")
		},
	}
	clearing.Flags().StringVar(&below, "below", "", "all labelled files of this folder, once you have looked at them")
	cmd.AddCommand(clearing)
	return cmd
}

func (e *env) listLabels(ctx context.Context) error {
	var all []engine.LabelView
	err := e.withLog(ctx, func(log *installation.Log) (err error) {
		all, err = log.Monitor.Labels(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"labels": all})
	}
	if len(all) == 0 {
		e.printf("nothing was written while tainted\n")
		return nil
	}
	rows := make([][]cell, len(all))
	for i, l := range all {
		rows[i] = []cell{
			{"", report.Line(l.Key)}, {l.Level.String(), l.Level.String()}, {"", report.Line(l.Session)}, {"", report.Line(l.Tool)},
			{"", strconv.FormatUint(l.Step, 10)}, {"dim", report.Line(engine.Evidence(trust.Label{Level: l.Level, Sources: l.Sources}))},
		}
	}
	return e.ui.table(e.out, []string{"KEY", "LEVEL", "SESSION", "WRITTEN BY", "STEP", "BECAUSE OF"}, rows)
}

// clearBelow clears the labels of all files below a folder.
func (e *env) clearBelow(ctx context.Context, folder string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return fmt.Errorf("clear labels: %w", err)
	}
	var all []engine.LabelView
	err = e.withLog(ctx, func(log *installation.Log) (err error) {
		all, err = log.Monitor.Labels(ctx)
		return err
	})
	if err != nil {
		return err
	}
	n := 0
	for _, l := range all {
		name, file := strings.CutPrefix(l.Key, "file:")
		if rel, err := filepath.Rel(folder, filepath.FromSlash(name)); !file || err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if err := e.clearLabel(ctx, l.Key); err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		return fmt.Errorf("clear labels: nothing below %s is labelled (tidemark trust labels lists what is)", report.Line(folder))
	}
	return nil
}

// clearLabel goes through the server where one runs, so that it knows at once.
func (e *env) clearLabel(ctx context.Context, key string) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		err = c.call(ctx, http.MethodDelete, "/v1/labels?key="+url.QueryEscape(key), nil, nil)
		var no *refused
		if errors.As(err, &no) && no.Status == http.StatusNotFound {
			err = engine.ErrNotFound
		}
	} else {
		err = e.withWritableLog(ctx, func(log *installation.Log) error {
			if err := log.Unproven(); err != nil {
				return err
			}
			return log.Monitor.ClearLabel(ctx, key, whoami(), "cli")
		})
	}
	if errors.Is(err, engine.ErrNotFound) {
		return fmt.Errorf("clear label: nothing is labelled %q (tidemark trust labels lists what is)", key)
	}
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"key": key, "cleared": true})
	}
	e.printf("cleared %s: what reads it is no longer tainted by it\n", report.Line(key))
	return nil
}

func (e *env) acceptCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "settings AGENT",
		Short: "Accept what a project sets for an agent, after a look at it",
		Long: `Show which settings of a project may run programs or send the conversation elsewhere, and accept
them. Until then the agent's hook refuses to work in that folder. What is changed later is asked
about again. It is answered at a terminal.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return e.accept(args[0], dir) },
	}
	cmd.Flags().StringVar(&dir, "project", "", "the project's folder (default: the working folder)")
	return cmd
}

func (e *env) accept(agent, dir string) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	if dir == "" {
		dir = "."
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	w, err := install.HomeWorld(p, "", dir)
	if err != nil {
		return err
	}
	if !slices.Contains(project.Agents(), agent) {
		return fmt.Errorf("accept settings: it is not known what is harmless in settings of %q (known: %s)",
			agent, strings.Join(project.Agents(), ", "))
	}
	found, err := install.ProjectSettings(w, agent)
	if err != nil {
		return err
	}
	if found = project.Open(p.Data, found); len(found) == 0 {
		e.printf("there is nothing to accept in %s\n", report.Line(dir))
		return nil
	}
	for _, f := range found {
		e.printf("%s\n  %s\n    %s\n", report.Line(f.File), report.Line(f.Key), report.Line(f.Value))
	}
	if f, ok := e.in.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return errors.New("accept settings: this is answered at a terminal")
	}
	e.printf("%s runs or uses this as soon as it is started there. Accept it? [y/N] ", agent)
	if line, _ := bufio.NewReader(e.in).ReadString('\n'); !slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line))) {
		return errors.New("accept settings: nothing was accepted")
	}
	return project.Accept(p.Data, found)
}
