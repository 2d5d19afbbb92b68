package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/outside/auditor"
	"github.com/tidemark/tidemark/internal/outside/headless"
	"github.com/tidemark/tidemark/internal/outside/nearby"
	"github.com/tidemark/tidemark/internal/reports/doctor"
)

// readerFiles are where the model that reads keeps things. An empty name is nowhere.
type readerFiles struct {
	readings string // of definitions
	answers  string // of the last day
	programs string // which were tried
	folder   string // of programs
}

func filesOf(p Paths) readerFiles {
	return readerFiles{readings: p.Readings(), answers: p.Answers(), programs: p.Programs(), folder: p.ReaderFolder()}
}

// openAuditor makes the model that reads, or whatever stands in for one.
func (o *outside) openAuditor(c config.Auditor, files readerFiles, logger *slog.Logger) error {
	if c.Provider == "" {
		return nil
	}
	opts := auditor.Options{
		Provider: c.Provider, BaseURL: c.BaseURL, Model: c.Model, Key: string(c.Key), PlainHTTP: c.PlainHTTP,
		Timeout: c.Timeout, PlanTimeout: c.PlanTimeout, MaxConcurrent: c.MaxConcurrent, PerSession: c.PerSession,
		PerHour: c.PerHour, PerDay: c.PerDay, CacheFor: c.Cache, MaxTokens: c.MaxTokens, Logger: logger,
		Contracts: c.Contracts, ContractWait: c.ContractWait, NoReadings: !c.Definitions, Before: stillListens(&c),
	}
	if err := o.openReadings(&opts, files.readings); err != nil {
		return err
	}
	switch {
	case c.Replay != "":
		f, err := os.Open(c.Replay)
		if err != nil {
			return fmt.Errorf("open recorded answers: %w", err)
		}
		o.files = append(o.files, f)
		opts.Replay = f
		if opts.Model == "" {
			opts.Model = "recorded"
		}
	case c.Record != "":
		f, err := os.OpenFile(c.Record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("record answers: %w", err)
		}
		o.files = append(o.files, f)
		opts.Record = f
	}
	if err := o.openAnswers(&opts, files.answers); err != nil {
		return err
	}
	if c.Provider == auditor.Program {
		p, err := openProgram(c, files)
		if err != nil { // it may be installed elsewhere, or no more: that is no reason to stop
			o.settings.Missing = "the program that reads cannot be used: " + err.Error()
			logger.Warn("reader", "error", o.settings.Missing)
			return nil
		}
		opts.Program, opts.Model = p, p.Model()
	}
	var err error
	o.auditor, err = auditor.New(opts)
	return err
}

// openProgram is the program of the file. It answers only if this very version of it was tried.
func openProgram(c config.Auditor, files readerFiles) (*headless.Program, error) {
	r, known := headless.Find(c.Program)
	if !known {
		return nil, fmt.Errorf("no program is called %q", c.Program)
	}
	proofs, err := headless.ReadProofs(files.programs)
	if err != nil {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, errors.New("no home directory")
	}
	return headless.New(headless.Options{
		Recipe: r, Path: c.Path, Model: c.Model, Home: home, Folder: files.folder, Getenv: os.Getenv, Proof: proofs[c.Program],
	})
}

// openReadings has the client know what was read before, and write down what it reads.
func (o *outside) openReadings(opts *auditor.Options, path string) error {
	if path == "" || !opts.Contracts {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open readings of definitions: %w", err)
	}
	o.files = append(o.files, f)
	opts.KeepReadings = f
	opts.Readings, err = auditor.LoadReadings(f)
	return err
}

// openAnswers has the client know what was answered on the last day, and how often it was asked. The file is written anew, so that
// what is older goes.
func (o *outside) openAnswers(opts *auditor.Options, path string) error {
	if path == "" || opts.Replay != nil {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("open kept answers: %w", err)
	}
	if opts.Answers, err = auditor.LoadAnswers(bytes.NewReader(text), time.Now()); err != nil {
		opts.Answers = &auditor.Answers{} // it costs a few questions
	}
	var kept bytes.Buffer
	if err := opts.Answers.Write(&kept); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open kept answers: %w", err)
	}
	o.files = append(o.files, f)
	opts.KeepAnswers = f
	_, err = f.Write(kept.Bytes())
	return err
}

// stillListens looks whether the program that the owner agreed to still listens at the address; nil: the file names none.
func stillListens(c *config.Auditor) func() error {
	if c.Listener == "" {
		return nil
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return func() error { return errors.New("the address cannot be read") }
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return func() error { return errors.New("the address has no port") }
	}
	agreed := c.Listener
	return func() error {
		switch now := nearby.Listener(port); now {
		case agreed:
			return nil
		case "":
			return fmt.Errorf("nobody listens at port %d", port)
		default:
			return fmt.Errorf("another program listens at port %d than the one you agreed to (tidemark model asks again)", port)
		}
	}
}

// modelCommand mends what is wrong with the model that reads.
const modelCommand = "tidemark model"

// noReader is what it means that no model reads.
const noReader = "no model reads your messages, so you are asked more than need be (tidemark model)"

// readerWords say which model reads and what became of it.
func (o *outside) readerWords() string {
	s := o.auditor.Status()
	out := s.Name
	if s.PerHour > 0 {
		out += fmt.Sprintf("; %d of %d requests this hour", s.LastHour, s.PerHour)
	}
	if s.Contracts > 0 {
		out += fmt.Sprintf("; %d messages read, %d late, %d not", s.Contracts-s.Late-s.Undrawn, s.Late, s.Undrawn)
	}
	return out
}

// checkReader says whether it can be asked, and since when not.
func (o *outside) checkReader(ctx context.Context) error {
	err := o.auditor.Check(ctx)
	if err == nil {
		return nil
	}
	since := ""
	if s := o.auditor.Status(); !s.Since.IsZero() {
		since = ", since " + s.Since.Local().Format(time.DateTime)
	}
	if o.settings.Section == "reader" {
		return fmt.Errorf("%w%s: until it answers, %s", err, since, noReader)
	}
	return err
}

// readerOf is the model that reads, with its program tried once more where it is one.
func readerOf(ctx context.Context, p Paths) (doctor.Reader, error) {
	cfg, _, err := ReadConfig(p.Config)
	if err != nil {
		return doctor.Reader{}, err
	}
	a := cfg.Auditor
	out := doctor.Reader{Missing: a.Missing}
	if a.Provider == "" || a.Section != "reader" {
		return out, nil
	}
	out.Name = a.Provider + "/" + a.Model
	if a.Provider != auditor.Program {
		return out, nil
	}
	r, _ := headless.Find(a.Program)
	proof, err := tryProgram(ctx, p, r, a.Path, a.Model)
	if err != nil {
		return out, err
	}
	out.Name, out.Tried, out.Faults = a.Program+"/"+cmp.Or(a.Model, r.Model), r.Title+" "+proof.Version, proof.Faults
	return out, nil
}
