package main

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/app"
)

func (e *env) resetCommand() *cobra.Command {
	var branch string
	cmd := &cobra.Command{
		Use:   "reset-trust SESSION",
		Short: "Trust a session's context again",
		Long:  "Say, as the owner, that what a session has read may be trusted again. It is recorded and shown in the graph.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := e.findServer(cmd.Context())
			if err != nil {
				return err
			}
			if c != nil {
				path := "/v1/sessions/" + url.PathEscape(args[0]) + "/reset-trust"
				err = c.call(cmd.Context(), http.MethodPost, path, map[string]any{"branch": branch}, nil)
			} else {
				err = e.withWritableLog(cmd.Context(), func(log *app.Log) error {
					return log.Monitor.Reset(cmd.Context(), tidemark.Ref{Session: args[0], Branch: branch}, whoami(), "cli")
				})
			}
			if err != nil {
				return fmt.Errorf("reset trust of %s: %w", args[0], err)
			}
			if e.json {
				return e.printJSON(map[string]any{"session": args[0], "branch": branch, "reset": true})
			}
			e.printf("trust of %s was reset\n", args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&branch, "branch", "", "branch (default the main one)")
	return cmd
}

func (e *env) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := app.Version()
			if e.json {
				return e.printJSON(map[string]string{"version": v})
			}
			e.printf("tidemark %s\n", v)
			return nil
		},
	}
}
