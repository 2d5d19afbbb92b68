package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/diagnosis"
	"github.com/tidemark/tidemark/internal/policies"
	"github.com/tidemark/tidemark/internal/services"
)

func (e *env) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show where the server runs, whether channels and models can be reached, and which hosts are alive",
		Long: `Check every approval channel, the auditor and the verifier now, so that one that
cannot deliver is found before the first question; and list the hosts whose plugin gave a
sign of life. It also lists what does not work here (no model, no namespaces, this system) and
what happens instead. Exits 1 if one cannot be reached or a host has fallen silent.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.status(cmd.Context()) },
	}
}

func (e *env) status(ctx context.Context) error {
	s, at, err := e.serverStatus(ctx)
	if err != nil {
		return err
	}
	running := at != ""
	boxes, err := e.boxesNow()
	if err != nil {
		e.report(err) // the rest is known all the same
	}
	lost := diagnosis.Lost(diagnosis.Facts{
		Model: services.HasModel(s.Parts), Box: e.boxHere(), Remote: running && !diagnosis.OnThisMachine(at), System: runtime.GOOS,
	})
	if e.json {
		out := map[string]any{"server": running, "parts": s.Parts, "boxes": boxes.Boxes, "lost": lost}
		if running {
			if len(s.Alarms) > 0 {
				out["alarms"] = s.Alarms
			}
			out["stopped"] = s.Stopped
			out["url"], out["version"], out["started"], out["hosts"], out["policy"] = at, s.Version, s.Started, s.Hosts, s.Policy
		}
		err = e.printJSON(out)
	} else {
		if running {
			e.printf("server: %s, version %s, since %s\n", at, s.Version, s.Started.Local().Format(time.DateTime))
			for _, o := range s.Alarms {
				e.printf("LOOK:   %s: %s (tidemark doctor; once you have seen it: tidemark approvals deny %s)\n", o.About, o.Text, o.ID)
			}
		} else {
			e.printf("no server runs on this data folder (tidemark serve); checked from here\n")
		}
		if s.Stopped != nil {
			e.printf("%s\n", e.ui.word("bad", s.Stopped.String()))
		}
		e.printParts(s.Parts)
		if running {
			e.printPolicy(s.Policy)
			e.printHosts(s)
		}
		e.printBoxes(boxes.Boxes)
		e.printLost(lost)
	}
	if err != nil {
		return err
	}
	for _, p := range s.Parts {
		if !p.OK {
			return errFault
		}
	}
	for _, h := range s.Hosts {
		if h.Silent {
			return errFault
		}
	}
	return nil
}

// boxHere says which box can be made here, by making one.
func (e *env) boxHere() string {
	dir, err := os.MkdirTemp("", "tidemark-status-*")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(dir)
	home, work := filepath.Join(dir, "home"), filepath.Join(dir, "home", "work")
	if os.MkdirAll(work, 0o700) != nil {
		return ""
	}
	b, err := box.Open(box.Want{
		Workspace: work, Home: home, State: filepath.Join(dir, "state"), Env: []string{}, First: smallProgram(), Reduced: true,
	})
	if err != nil {
		return ""
	}
	if _, err := b.Close(); err != nil {
		return ""
	}
	if b.Reduced() {
		return "reduced"
	}
	return "whole"
}

// printLost says what is lost here, and what is then.
func (e *env) printLost(rows []diagnosis.Loss) {
	for _, r := range rows {
		e.printf("%s\n", e.ui.word("warn", r.Where))
		for _, c := range r.Cells {
			if strings.HasPrefix(c.Text, "as ever") {
				continue
			}
			e.printf("  %-26s %s\n", c.Column, c.Text)
		}
	}
}

// serverStatus asks the running server, which has the figures too, or checks from here: then it is nowhere.
func (e *env) serverStatus(ctx context.Context) (s diagnosis.ServerStatus, at string, err error) {
	c, err := e.findServer(ctx)
	if err != nil {
		return s, "", err
	}
	if c != nil {
		err := c.call(ctx, http.MethodGet, "/v1/status", nil, &s)
		return s, c.base, err
	}
	p, err := e.paths()
	if err != nil {
		return s, "", err
	}
	s.Parts, err = services.Status(ctx, p)
	return s, "", err
}

// printParts prints one line each; what cannot be reached stands out.
func (e *env) printParts(parts []services.Part) {
	for _, p := range parts {
		word := e.ui.word("good", "ok")
		if !p.OK {
			word = e.ui.word("bad", "cannot be reached")
		}
		e.printf("%s: %s (%s)\n", p.Name, word, p.Detail)
		if p.Fault != "" {
			e.printf("  %s\n", p.Fault)
		}
	}
}

// printPolicy says which policy is in force and where it came from.
func (e *env) printPolicy(p policies.InForce) {
	if p.File == "" {
		e.printf("policy: version %s, as shipped\n", p.Version)
		return
	}
	e.printf("policy: version %s of %s\n", p.Version, p.File)
}

func (e *env) reloadCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Have the running server read its policy file now",
		Long: `Have the running server read its policy file again, or for the first time if there was
none at its start. It does so by itself when the file changes. A file with faults changes
nothing and is reported. Takes the admin token.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.reload(cmd.Context()) },
	}
}

func (e *env) reload(ctx context.Context) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	if c == nil {
		return errors.New("reload: no server runs on this data folder (tidemark serve reads the file at its start)")
	}
	var done struct {
		Version  string   `json:"version"`
		Warnings []string `json:"warnings"`
	}
	if err := c.call(ctx, http.MethodPost, "/v1/policy/reload", map[string]any{}, &done); err != nil {
		return fmt.Errorf("reload: %w", err)
	}
	s, _, err := e.serverStatus(ctx)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"policy": s.Policy, "warnings": done.Warnings})
	}
	for _, w := range done.Warnings {
		e.printf("%s %s\n", e.ui.word("confirm", "warning"), w)
	}
	e.printPolicy(s.Policy)
	return nil
}

// printHosts prints one line for each host that was heard. A server that has just
// started has heard nobody, and says so.
func (e *env) printHosts(s diagnosis.ServerStatus) {
	if len(s.Hosts) == 0 {
		e.printf("hosts: no plugin was heard since the server started at %s\n", s.Started.Local().Format(time.DateTime))
	}
	for _, h := range s.Hosts {
		word := e.ui.word("good", "alive")
		if h.Silent {
			word = e.ui.word("bad", "silent")
		}
		e.printf("host %s: %s (%s %s, plugin %s, %d hooks; heard %s ago)\n", h.ID, word, h.Host, h.Version, h.PluginVersion,
			len(h.Hooks), time.Duration(h.Age)*time.Second)
	}
}

func (e *env) verifierCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verifier",
		Short: "Try the external verifier",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "test",
		Short: "Send the verifier a harmless request and print what it answers",
		Long: `Check connection, signature and latency of the verifier in the policy file, with a
request that is clearly marked as a test. Exits 1 if it could not decide about calls.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.testVerifier(cmd.Context()) },
	})
	return cmd
}

func (e *env) testVerifier(ctx context.Context) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	result, err := services.TestVerifier(ctx, p)
	if err != nil {
		return fmt.Errorf("test verifier: %w", err)
	}
	if e.json {
		err = e.printJSON(result)
	} else {
		err = result.Render(e.out)
	}
	if err != nil {
		return err
	}
	if !result.OK() {
		return errFault
	}
	return nil
}
