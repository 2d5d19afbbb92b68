package services

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/external/verifier"
	"github.com/tidemark/tidemark/tool"
)

// Status says of everybody the policy file names whether they can be reached, without a
// server.
func Status(ctx context.Context, p datafolder.Paths) (parts []Part, err error) {
	err = withExternal(p, func(o *Set) error {
		parts = o.Status(ctx)
		return nil
	})
	return parts, err
}

// ErrNoVerifier is returned where the policy file has no verifier.
var ErrNoVerifier = errors.New("the policy file has no verifier section that is enabled")

// TestVerifier asks the verifier about a call that is nobody's, and reports in full.
func TestVerifier(ctx context.Context, p datafolder.Paths) (result verifier.TestResult, err error) {
	err = withExternal(p, func(o *Set) error {
		if o.Verifier == nil {
			return ErrNoVerifier
		}
		result = o.Verifier.Test(ctx)
		return nil
	})
	return result, err
}

// Coverage says what the verifier would do about a tool; nil: there is none.
func Coverage(p datafolder.Paths, agent, tool string) (covered *verifier.Coverage, err error) {
	err = withExternal(p, func(o *Set) error {
		if o.Verifier != nil {
			c := o.Verifier.Explain(agent, tool)
			covered = &c
		}
		return nil
	})
	return covered, err
}

// withExternal makes everybody the file names, for the length of step.
func withExternal(p datafolder.Paths, step func(*Set) error) error {
	cfg, _, err := load.Read(p.Config)
	if err != nil {
		return err
	}
	cfg.Auditor.Record = "" // nobody is asked anything worth keeping
	files := Files{Programs: p.Programs(), Folder: p.ReaderFolder(), Children: p.ReadingPrograms()}
	o, err := Open(cfg, files, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(step(o), o.Close(context.Background()))
}

// Readings adds to definitions what a model has read in them; with ask, the model of the
// file reads those that nobody has read yet, and what it says is kept.
func Readings(ctx context.Context, p datafolder.Paths, list []tool.Definition, ask bool) error {
	if ask {
		return readDefinitions(ctx, p, list)
	}
	f, err := os.Open(p.Readings())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read readings of definitions: %w", err)
	}
	defer f.Close()
	known, err := auditor.LoadReadings(f)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Reading = known.Of(list[i])
	}
	return nil
}

// errNoAuditor says that there is no model to ask.
var errNoAuditor = errors.New("no model reads definitions: the policy file has no auditor section, or contracts are switched off")

func readDefinitions(ctx context.Context, p datafolder.Paths, list []tool.Definition) error {
	cfg, _, err := load.Read(p.Config)
	if err != nil {
		return err
	}
	if !cfg.Auditor.Contracts {
		return errNoAuditor
	}
	if err := p.Create(); err != nil {
		return err
	}
	o, err := Open(cfg, FilesOf(p), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Reading, err = o.Auditor.ReadDefinition(ctx, list[i]); err != nil {
			err = fmt.Errorf("%s: %w", list[i].Name, err)
			break
		}
	}
	return errors.Join(err, o.Close(context.Background()))
}
