package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/app"
)

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
	result, err := app.TestVerifier(ctx, p)
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
