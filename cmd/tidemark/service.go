package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/localserver"
)

func (e *env) serviceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Keep the server running: at every login, and again when it ends",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var dry bool
	add := &cobra.Command{
		Use:   "install",
		Short: "Have systemd (Linux) or launchd (macOS) run tidemark serve for you",
		Long: `Write a user's unit for systemd, or an agent for launchd, and start it. It runs this program
on this data folder, as you, at every login; on Linux, loginctl enable-linger has it run without one.
For Windows there is tidemark-winservice (docs/contrib.md).
Tokens are not shown by a service: tidemark token new makes those of people.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.installService(cmd.Context(), dry) },
	}
	add.Flags().BoolVar(&dry, "dry-run", false, "print the file, and change nothing")
	cmd.AddCommand(add, &cobra.Command{
		Use: "status", Short: "Say whether the service is installed and runs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.serviceStatus(cmd.Context()) },
	}, &cobra.Command{
		Use: "remove", Short: "Stop the service and take it away; the data folder stays", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := e.service()
			if err != nil {
				return err
			}
			path, err := s.Remove(cmd.Context())
			if err != nil {
				return err
			}
			e.printf("removed %s\n", path)
			return nil
		},
	})
	return cmd
}

// service is that of this program and data folder.
func (e *env) service() (*localserver.Service, error) {
	p, err := e.paths()
	if err != nil {
		return nil, err
	}
	s := &localserver.Service{System: runtime.GOOS, UID: os.Getuid(), Data: p.Data, Config: e.config}
	if s.Home, err = os.UserHomeDir(); err != nil {
		return nil, fmt.Errorf("find home folder: %w", err)
	}
	if s.Program, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	for _, path := range []*string{&s.Data, &s.Config} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return nil, fmt.Errorf("find folder: %w", err)
		}
	}
	return s, nil
}

// printKept says where a definition is that somebody had changed.
func (e *env) printKept(s *localserver.Service) {
	if s.Kept != "" {
		e.printf("%s the definition that was there was another one, and is kept: %s\n", e.ui.word("warn", "note:"), s.Kept)
	}
}

func (e *env) installService(ctx context.Context, dry bool) error {
	s, err := e.service()
	if err != nil {
		return err
	}
	if above := checkoutAbove(s.Program); above != "" {
		e.printf("%s %s lies in the checkout %s: copy it to a folder that stays (~/.local/bin) and install from there\n",
			e.ui.word("confirm", "warning"), s.Program, above)
	}
	if dry {
		path, text, err := s.File()
		if err == nil {
			e.printf("# %s\n%s", path, text)
		}
		return err
	}
	path, err := s.Install(ctx)
	if err != nil {
		return err
	}
	e.printf("wrote %s; the server runs, and will at every login\n", path)
	e.printKept(s)
	e.printf("tidemark status says how it is, tidemark token new makes tokens for people\n")
	return nil
}

func (e *env) serviceStatus(ctx context.Context) error {
	s, err := e.service()
	if err != nil {
		return err
	}
	installed, running, err := s.Active(ctx)
	if err != nil {
		return err
	}
	if e.json {
		if err := e.printJSON(map[string]bool{"installed": installed, "running": running}); err != nil {
			return err
		}
	} else {
		words := map[bool]string{true: "yes", false: "no"}
		e.printf("installed: %s\nrunning: %s\n", words[installed], words[running])
	}
	if !running {
		return errFault
	}
	return nil
}
