package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/app"
)

func (e *env) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Say whether those the monitor asks can be reached",
		Long: `Check every approval channel, the auditor and the verifier now, so that one that
cannot deliver is found before the first question. Exits 1 if one cannot be reached.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.status(cmd.Context()) },
	}
}

func (e *env) status(ctx context.Context) error {
	parts, running, err := e.parts(ctx)
	if err != nil {
		return err
	}
	if e.json {
		err = e.printJSON(map[string]any{"server": running, "parts": parts})
	} else {
		if !running {
			e.printf("no server runs on this data folder; checked from here\n")
		}
		e.printParts(parts)
	}
	if err != nil {
		return err
	}
	for _, p := range parts {
		if !p.OK {
			return errFault
		}
	}
	return nil
}

// parts asks the running server, which has the figures too, or checks from here.
func (e *env) parts(ctx context.Context) (parts []app.Part, running bool, err error) {
	c, err := e.findServer(ctx)
	if err != nil {
		return nil, false, err
	}
	if c != nil {
		var v struct {
			Parts []app.Part `json:"parts"`
		}
		err := c.call(ctx, http.MethodGet, "/v1/status", nil, &v)
		return v.Parts, true, err
	}
	p, err := e.paths()
	if err != nil {
		return nil, false, err
	}
	parts, err = app.Status(ctx, p)
	return parts, false, err
}

// printParts prints one line each; what cannot be reached stands out.
func (e *env) printParts(parts []app.Part) {
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
