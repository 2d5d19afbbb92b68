package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/external/verifier"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/reports/tally"
	"github.com/tidemark/tidemark/tool"
)

// Status says of everybody the policy file names whether they can be reached, without a
// server.
func Status(ctx context.Context, p datafolder.Paths) (parts []Part, err error) {
	err = withExternal(p, func(o *external) error {
		parts = o.status(ctx)
		return nil
	})
	return parts, err
}

// ErrNoVerifier is returned where the policy file has no verifier.
var ErrNoVerifier = errors.New("the policy file has no verifier section that is enabled")

// TestVerifier asks the verifier about a call that is nobody's, and reports in full.
func TestVerifier(ctx context.Context, p datafolder.Paths) (result verifier.TestResult, err error) {
	err = withExternal(p, func(o *external) error {
		if o.verifier == nil {
			return ErrNoVerifier
		}
		result = o.verifier.Test(ctx)
		return nil
	})
	return result, err
}

// Coverage says what the verifier would do about a tool; nil: there is none.
func Coverage(p datafolder.Paths, agent, tool string) (covered *verifier.Coverage, err error) {
	err = withExternal(p, func(o *external) error {
		if o.verifier != nil {
			c := o.verifier.Explain(agent, tool)
			covered = &c
		}
		return nil
	})
	return covered, err
}

// withExternal makes everybody the file names, for the length of step.
func withExternal(p datafolder.Paths, step func(*external) error) error {
	cfg, _, err := load.Read(p.Config)
	if err != nil {
		return err
	}
	cfg.Auditor.Record = "" // nobody is asked anything worth keeping
	files := readerFiles{programs: p.Programs(), folder: p.ReaderFolder(), children: p.ReadingPrograms()}
	o, err := openExternal(cfg, files, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(step(o), o.close(context.Background()))
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
	o, err := openExternal(cfg, filesOf(p), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Reading, err = o.auditor.ReadDefinition(ctx, list[i]); err != nil {
			err = fmt.Errorf("%s: %w", list[i].Name, err)
			break
		}
	}
	return errors.Join(err, o.close(context.Background()))
}

// CountUses says of what people allowed for good how often it was used.
func (l *Log) CountUses(ctx context.Context, list []engine.GrantView) error {
	uses, err := tally.New(l, l.counts, l.signs).Uses(ctx)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	for i := range list {
		if g := &list[i]; !g.Pair {
			g.Counted(uses[g.ID].Times, uses[g.ID].Last)
		}
	}
	return nil
}

// Report says what the log comes to: what a server has counted, and what is new since. progress is told how many records were read.
func (l *Log) Report(ctx context.Context, opts report.Options, progress func(done, total int64)) (report.Report, error) {
	r, err := tally.New(l, l.counts, l.signs).Report(ctx, opts, progress)
	if err != nil {
		return r, fmt.Errorf("read log: %w", err)
	}
	return r, nil
}
