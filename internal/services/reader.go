package services

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/peer"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/external/headless"
	"github.com/tidemark/tidemark/internal/external/lent"
	"github.com/tidemark/tidemark/internal/external/nearby"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/reports/doctor"
)

// Files are where the model that reads keeps things. An empty name is nowhere.
type Files struct {
	readings string // of definitions
	answers  string // of the last day
	lent     string // when those were asked who are lent
	Programs string // which were tried
	Folder   string // of programs
	Children peer.Children
}

// FilesOf are those of a data folder.
func FilesOf(p datafolder.Paths) Files {
	return Files{
		readings: p.Readings(), answers: p.Answers(), lent: p.Lent(),
		Programs: p.Programs(), Folder: p.ReaderFolder(), Children: p.ReadingPrograms(),
	}
}

// openAuditor makes the model that reads, or whatever stands in for one.
func (o *Set) openAuditor(c config.Auditor, files Files, logger *slog.Logger) error {
	if c.Provider == "" || c.Provider == auditor.Upstream {
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
			o.Settings.Missing = "the program that reads cannot be used: " + err.Error()
			logger.Warn("reader", "error", o.Settings.Missing)
			return nil //nolint:nilerr // it is in the log and in the settings
		}
		opts.Program, opts.Model = p, p.Model()
	}
	var err error
	o.Auditor, err = auditor.New(opts)
	return err
}

// openExtract makes the model that reads values out of what is kept from agents: one of its own, or the other one where the file lets it
// see content. Nothing that it reads or answers is kept.
func (o *Set) openExtract(cfg *config.Config, files Files, logger *slog.Logger) error {
	if c := cfg.Extract; c.Provider != "" && c.Provider != auditor.Upstream {
		own := &Set{}
		files.readings, files.answers = "", ""
		err := own.openAuditor(c, files, logger)
		o.Extracts, o.files = own.Auditor, append(o.files, own.files...)
		return err
	}
	if cfg.Auditor.Content && cfg.Extract.Section == "" {
		o.Extracts = o.Auditor
	}
	return nil
}

// openProgram is the program of the file. It answers only if this very version of it was tried.
func openProgram(c config.Auditor, files Files) (*headless.Program, error) {
	r, known := headless.Find(c.Program)
	if !known {
		return nil, fmt.Errorf("no program is called %q", c.Program)
	}
	proofs, err := headless.ReadProofs(files.Programs)
	if err != nil {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, errors.New("no home directory")
	}
	return headless.New(headless.Options{
		Recipe: r, Path: c.Path, Model: c.Model, Home: home, Folder: files.Folder, Getenv: os.Getenv, Proof: proofs[c.Program],
		Children: files.Children,
	})
}

// openReadings has the client know what was read before, and write down what it reads.
func (o *Set) openReadings(opts *auditor.Options, path string) error {
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

// openAnswers has the client know what was answered on the last day, and how often it was asked.
func (o *Set) openAnswers(opts *auditor.Options, path string) (err error) {
	if path == "" || opts.Replay != nil {
		return nil
	}
	opts.Answers, opts.KeepAnswers, err = o.keepAnswers(path, opts.Logger)
	return err
}

// keepAnswers reads such a file and writes it anew, so that what is older than a day goes; what is added to it stays.
func (o *Set) keepAnswers(path string, logger *slog.Logger) (*auditor.Answers, io.Writer, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("open kept answers: %w", err)
	}
	known, err := auditor.LoadAnswers(bytes.NewReader(text), time.Now())
	if err != nil { // it costs an hour
		logger.Warn("reader", "error", err, "file", path)
	}
	var kept bytes.Buffer
	if err := known.Write(&kept); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open kept answers: %w", err)
	}
	o.files = append(o.files, f)
	_, err = f.Write(kept.Bytes())
	return known, f, err
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

// ModelCommand mends what is wrong with the model that reads.
const ModelCommand = "tidemark model"

// NoReader is what it means that no model reads.
const NoReader = "no model reads your messages, so you are asked more than need be (tidemark model)"

// readerWords say which model reads and what became of it.
func (o *Set) readerWords() string {
	s := o.Auditor.Status()
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
func (o *Set) checkReader(ctx context.Context) error {
	err := o.Auditor.Check(ctx)
	if err == nil {
		return nil
	}
	since := ""
	if s := o.Auditor.Status(); !s.Since.IsZero() {
		since = ", since " + s.Since.Local().Format(time.DateTime)
	}
	if o.Settings.Section == "reader" {
		return fmt.Errorf("%w%s: until it answers, %s", err, since, NoReader)
	}
	return err
}

// ReaderOf is the model that reads, with its program tried once more where it is one.
func ReaderOf(ctx context.Context, p datafolder.Paths) (doctor.Reader, error) {
	cfg, _, err := load.Read(p.Config)
	if err != nil {
		return doctor.Reader{}, err
	}
	a := cfg.Auditor
	out := doctor.Reader{Missing: a.Missing}
	if lends := append(slices.Sorted(maps.Keys(a.Models)), a.Hosts...); len(lends) > 0 {
		out.Name = "lent by " + strings.Join(lends, ", ")
	}
	if a.Provider == "" || a.Provider == auditor.Upstream || a.Section != "reader" {
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

// openLent makes the models that are not ours: those of agents that the file marks, and the upstreams of clients of the LLM proxy
// where the file says so. Of theirs nothing is kept on the disk but when they were asked: what was understood is in the log.
func (o *Set) openLent(cfg *config.Config, path string, logger *slog.Logger) (err error) {
	c := cfg.Auditor
	if len(c.Hosts) == 0 && len(c.Models) == 0 {
		return nil
	}
	base := auditor.Options{
		Timeout: cmp.Or(c.Timeout, 6*time.Second), PlanTimeout: cmp.Or(c.PlanTimeout, 12*time.Second),
		MaxConcurrent: max(c.MaxConcurrent, 8), PerSession: c.PerSession, PerHour: c.PerHour, PerDay: c.PerDay, MaxTokens: c.MaxTokens,
		CacheFor: cmp.Or(c.Cache, 24*time.Hour), Logger: logger, Contracts: c.Contracts, ContractWait: c.ContractWait, NoReadings: true,
	}
	if path != "" {
		if base.Answers, base.KeepAnswers, err = o.keepAnswers(path, logger); err != nil {
			return err
		}
	}
	o.lent = &lent.Readers{Main: o.Auditor, Hosts: map[string]*auditor.Client{}}
	if len(c.Hosts) > 0 {
		o.lent.Desk = lent.NewDesk(time.Now, c.Hosts...)
	}
	for _, agent := range c.Hosts {
		opts := base
		opts.Provider, opts.Model, opts.Program, opts.SpentAs = auditor.Host, agent, o.lent.Desk.Of(agent), "host "+agent
		client, err := auditor.New(opts)
		if err != nil {
			return err
		}
		o.lent.Hosts[agent] = client
		logger.Info("reader: the agent's own model reads for it: what its users type, and the names of its tools and their parameters, "+
			"are handed to its program", "agent", agent)
	}
	return o.openUpstreams(cfg, base, logger)
}

// openUpstreams makes a client for each wire of each upstream that the file has read.
func (o *Set) openUpstreams(cfg *config.Config, base auditor.Options, logger *slog.Logger) error {
	if len(cfg.Auditor.Models) == 0 {
		return nil
	}
	var err error
	if o.lent.Keys, err = lent.NewKeys(); err != nil {
		return err
	}
	for _, u := range cfg.LLM.Upstreams {
		model := cfg.Auditor.Models[u.Name]
		if model == "" {
			continue
		}
		for _, wire := range wiresOf(u.API) {
			opts := base
			opts.Provider, opts.Model, opts.BaseURL, opts.Wire = auditor.Upstream, model, u.BaseURL, wire
			opts.Lent, opts.SpentAs = o.lent.Keys.Of(u.Name, wire), "upstream "+u.Name+" "+wire
			client, err := auditor.New(opts)
			if err != nil {
				return fmt.Errorf("reader: upstream %s: %w", u.Name, err)
			}
			o.lent.Upstream(u.Name, wire, client)
		}
		logger.Info("reader: what users type to agents behind the LLM proxy, and the names of tools, their parameters and listed "+
			"choices, are shown to a model of the upstream that the client asks anyway, with the client's own API key",
			"upstream", u.Name, "to", u.BaseURL, "model", model)
	}
	return nil
}

// wiresOf are what an upstream of an API is asked in: what its client speaks.
func wiresOf(api string) []string {
	switch api {
	case auditor.OpenAI:
		return []string{auditor.OpenAI, auditor.Responses}
	case auditor.Anthropic, auditor.Gemini:
		return []string{api}
	}
	return nil
}

// wireNames are wires by the names that formats have; the others are not asked in.
var wireNames = map[string]string{
	"chat": auditor.OpenAI, "responses": auditor.Responses, "messages": auditor.Anthropic, "gemini": auditor.Gemini,
}

// Lend has the proxy tell of requests that go to an upstream which reads; nil: none does.
func (o *Set) Lend() func(session, upstream, api, wire string, h http.Header) (back func()) {
	if o.lent == nil || o.lent.Keys == nil {
		return nil
	}
	return func(session, upstream, api, wire string, h http.Header) func() {
		if wire = wireNames[wire]; !o.lent.Lends(upstream, wire) {
			return func() {}
		}
		return o.lent.Keys.Lend(lent.Request{Session: session, Upstream: upstream, API: api, Wire: wire, Header: h})
	}
}

// What leaves to whom, in words.
const (
	hostLeaves     = "its own program is shown what its users type, and names of tools, parameters and listed choices; "
	upstreamLeaves = " is shown what users type, and names of tools, parameters and listed choices, with the client's own API key; " +
		"logins are not used"
)

// lentParts are what becomes of them.
func (o *Set) lentParts(add func(Part, func(context.Context) error)) {
	if o.lent == nil {
		return
	}
	for _, agent := range slices.Sorted(maps.Keys(o.lent.Hosts)) {
		c := o.lent.Hosts[agent]
		add(Part{Name: "reader: host " + agent, Detail: hostLeaves + readerFigures(c.Status()), Figures: c.Status()},
			func(context.Context) error { return o.lent.Desk.Present(agent) })
	}
	for _, u := range slices.Sorted(maps.Keys(o.Settings.Models)) {
		detail := o.Settings.Models[u] + upstreamLeaves
		add(Part{Name: "reader: upstream " + u, Detail: detail}, func(context.Context) error { return nil })
	}
}

func readerFigures(s auditor.Status) string {
	return fmt.Sprintf("%d messages read, %d late, %d not", s.Contracts-s.Late-s.Undrawn, s.Late, s.Undrawn)
}

// Readings is the desk as the HTTP door knows it; nil: no agent's own model reads.
func (o *Set) Readings() httpapi.Readings {
	if o.lent == nil || o.lent.Desk == nil {
		return nil
	}
	return desk{o.lent.Desk}
}

type desk struct{ *lent.Desk }

// Next is the next question in the words of the door.
func (d desk) Next(ctx context.Context, agent string, wait time.Duration) (*httpapi.Reading, error) {
	q, ok, err := d.Desk.Next(ctx, agent, wait)
	if err != nil || !ok {
		return nil, refusedReading(err)
	}
	left := time.Until(q.Until)
	return &httpapi.Reading{
		ID: q.ID, Kind: q.Prompt.Kind, System: q.Prompt.System, User: q.Prompt.User, Schema: q.Prompt.Schema,
		ExpiresInMs: max(left.Milliseconds(), 0),
	}, nil
}

// Answer hands an answer on.
func (d desk) Answer(agent, id, text, fault string) error {
	return refusedReading(d.Desk.Answer(agent, id, text, fault))
}

// Return takes a question back.
func (d desk) Return(agent, id string) error { return refusedReading(d.Desk.Return(agent, id)) }

// refusedReading is an error in the door's own words.
func refusedReading(err error) error {
	if err == nil {
		return nil
	}
	for from, to := range map[error]error{
		lent.ErrUnmarked: httpapi.ErrReadingRefused, lent.ErrShell: httpapi.ErrReadingRefused, lent.ErrCrowd: httpapi.ErrReadingCrowd,
		lent.ErrGone: httpapi.ErrReadingGone, lent.ErrTooLong: httpapi.ErrReadingLong,
	} {
		if errors.Is(err, from) {
			return fmt.Errorf("%w: %w", to, err)
		}
	}
	return err
}
