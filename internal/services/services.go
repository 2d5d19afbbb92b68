// Package services opens those that the server calls, as the file names them: the models that read, the verifier, the channels in which
// people are asked and the provider where they sign in. It says whether they can be reached, which models are in reach, and tries them.
package services

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/external/lent"
	"github.com/tidemark/tidemark/internal/external/verifier"
	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/people/oidc"
	"github.com/tidemark/tidemark/internal/people/telegram"
	"github.com/tidemark/tidemark/internal/people/webhook"
)

// Set are the services that the server calls: the auditor, the verifier, the channels that bring questions to people, and
// the provider where people sign in. Any of them may be nil.
type Set struct {
	Auditor   *auditor.Client
	lent      *lent.Readers   // models that are not ours; nil: none is asked
	Extracts  *auditor.Client // reads values out of what is kept from agents; nil: nobody may
	Settings  config.Auditor
	reads     bool // it reads requests and definitions too
	Verifier  *verifier.Verifier
	bots      map[string]*telegram.Bot // by token: a bot has one queue of answers
	Channels  channels.Set             // where approval questions go; of several servers one asks there
	PerServer channels.Set             // the same, of this server alone
	webhooks  []*webhook.Webhook       // those of them that answers come to
	Provider  *oidc.Provider           // where people sign in to the console; nil: nowhere
	files     []io.Closer
}

// Warm makes the model ready that reads the first message.
func (o *Set) Warm() {
	if o.Auditor != nil {
		o.Auditor.Warm()
	}
}

// HasModel reports whether a model is set up that reads what users say: of the file's section, of either name, of a client's upstream
// or of an agent's own program. One that fails for now is; one of which something is missing is none.
func HasModel(parts []Part) bool {
	return slices.ContainsFunc(parts, func(p Part) bool {
		reads := p.Name == "auditor" || p.Name == "reader" || strings.HasPrefix(p.Name, "reader: ")
		return reads && p.Detail != NoReader
	})
}

// Open makes them. Nothing is contacted yet. Where no files are named, nothing is kept.
func Open(cfg *config.Config, files Files, logger *slog.Logger) (*Set, error) {
	o := &Set{bots: map[string]*telegram.Bot{}, reads: cfg.Auditor.Contracts, Settings: cfg.Auditor}
	err := errors.Join(o.openAuditor(cfg.Auditor, files, logger), o.openExtract(cfg, files, logger),
		o.openLent(cfg, files.lent, logger), o.openVerifier(cfg, logger))
	if err == nil {
		err = o.openChannels(cfg, logger)
	}
	if c := cfg.Console.OIDC; c != nil && err == nil {
		c.Now, c.Rand = time.Now, rand.Reader
		o.Provider, err = oidc.New(*c)
	}
	if err != nil {
		return nil, errors.Join(err, o.Close(context.Background()))
	}
	return o, nil
}

func (o *Set) openVerifier(cfg *config.Config, logger *slog.Logger) error {
	opts := verifier.Options{Config: *cfg.Verifier, Agents: cfg.VerifierAgents, PlainHTTP: !cfg.Production, Logger: logger}
	if !cfg.Verifier.Enabled && len(cfg.VerifierAgents) == 0 {
		return nil
	}
	if opts.AsksTelegram() {
		b, err := o.bot(cfg.VerifierChat, logger)
		if err != nil {
			return err
		}
		opts.Telegram = b.Verifier()
	}
	var err error
	o.Verifier, err = verifier.New(opts)
	return err
}

// bot is the bot of a token; two sections that name one share it.
func (o *Set) bot(t *telegram.Settings, logger *slog.Logger) (*telegram.Bot, error) {
	if b := o.bots[string(t.BotToken)]; b != nil {
		return b, nil
	}
	b, err := telegram.New(t.Options(logger))
	if err == nil {
		o.bots[string(t.BotToken)] = b
	}
	return b, err
}

// Advise adds whoever there is to the monitor's options. A nil pointer must not become
// an interface that is not nil.
func (o *Set) Advise(opts *engine.Options) {
	if o.Auditor != nil {
		opts.Acts = o.Auditor
		if o.Settings.Calls {
			opts.Auditor = o.Auditor
		}
		if o.reads {
			opts.Reader = o.Auditor
		}
	}
	if o.lent != nil {
		if opts.Acts = o.lent; o.reads {
			opts.Reader = o.lent
		}
	}
	opts.NoReader = o.Auditor == nil && !o.Settings.Declined
	if o.Verifier != nil {
		opts.Verifier = o.Verifier
	}
}

// Close ends them all.
func (o *Set) Close(ctx context.Context) error {
	var errs []error
	o.Channels.ShutDown()
	o.PerServer.ShutDown()
	if o.Verifier != nil {
		errs = append(errs, o.Verifier.Close(ctx))
	}
	if o.lent != nil {
		for _, c := range o.lent.All() {
			c.Close()
		}
	}
	if o.Extracts != nil && o.Extracts != o.Auditor {
		o.Extracts.Close()
	}
	if o.Auditor != nil {
		o.Auditor.Close()
	}
	for _, b := range o.bots {
		b.Close()
	}
	for _, f := range o.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// checkLimit is how long a start waits for an answer from those outside.
const checkLimit = 5 * time.Second

// Status says of each of them whether it could be reached just now.
func (o *Set) Status(ctx context.Context) []Part {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	parts := []Part{
		{Name: "approvals: chat", OK: true, Detail: "codes in messages of the verified owner"},
		{Name: "approvals: http", OK: true, Detail: "/v1/approvals, tidemark approvals watch"},
	}
	var checks []func(context.Context) error
	add := func(p Part, check func(context.Context) error) {
		parts = append(parts, p)
		checks = append(checks, check)
	}
	for _, c := range append(o.Channels.Lines(), o.PerServer.Lines()...) {
		add(Part{Name: "approvals: " + c.Name, Detail: c.Detail, Figures: c.Figures}, c.Check)
	}
	if o.Provider != nil {
		add(Part{Name: "console: oidc", Detail: "people sign in at " + o.Provider.Name()}, o.Provider.Check)
	}
	if o.Auditor != nil {
		add(Part{Name: o.Settings.Section, Detail: o.readerWords(), Figures: o.Auditor.Status()}, o.checkReader)
	} else if o.Settings.Missing != "" {
		add(Part{Name: o.Settings.Section, Detail: NoReader}, func(context.Context) error { return errors.New(o.Settings.Missing) })
	}
	o.lentParts(add)
	if o.Verifier != nil {
		add(Part{Name: "verifier", Detail: verifierWords(o.Verifier.Status()), Figures: o.Verifier.Status()}, o.Verifier.Check)
	}
	fixed := len(parts) - len(checks)
	var wg sync.WaitGroup
	for i, check := range checks {
		wg.Go(func() {
			p := &parts[fixed+i]
			if err := check(ctx); err != nil {
				p.Fault = err.Error()
			} else {
				p.OK = true
			}
		})
	}
	wg.Wait()
	return parts
}

// Part is one of those the monitor asks, and whether it can be reached.
type Part struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Detail  string `json:"detail"`
	Fault   string `json:"fault,omitzero"`
	Figures any    `json:"figures,omitempty"`
}

func verifierWords(s verifier.Status) string {
	who := s.Webhooks
	if s.Telegram {
		who = append(who, "telegram")
	}
	return fmt.Sprintf("%s; fail mode %s", strings.Join(who, ", "), s.FailMode)
}
