package app

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

	"github.com/tidemark/tidemark/internal/base/alarm"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/external/lent"
	"github.com/tidemark/tidemark/internal/external/verifier"
	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/people/oidc"
	"github.com/tidemark/tidemark/internal/people/telegram"
	"github.com/tidemark/tidemark/internal/people/webhook"
)

// external are the services that the server calls: the auditor, the verifier, the channels that bring questions to people, and
// the provider where people sign in. Any of them may be nil.
type external struct {
	auditor   *auditor.Client
	lent      *lent.Readers   // models that are not ours; nil: none is asked
	extracts  *auditor.Client // reads values out of what is kept from agents; nil: nobody may
	settings  config.Auditor
	reads     bool // it reads requests and definitions too
	verifier  *verifier.Verifier
	bots      map[string]*telegram.Bot // by token: a bot has one queue of answers
	channels  channels.Set             // where approval questions go; of several servers one asks there
	perServer channels.Set             // the same, of this server alone
	webhooks  []*webhook.Webhook       // those of them that answers come to
	provider  *oidc.Provider           // where people sign in to the console; nil: nowhere
	files     []io.Closer
}

// warm makes the model ready that reads the first message.
func (o *external) warm() {
	if o.auditor != nil {
		o.auditor.Warm()
	}
}

// HasModel reports whether a model is set up that reads what users say: of the file's section, of either name, of a client's upstream
// or of an agent's own program. One that fails for now is; one of which something is missing is none.
func HasModel(parts []Part) bool {
	return slices.ContainsFunc(parts, func(p Part) bool {
		reads := p.Name == "auditor" || p.Name == "reader" || strings.HasPrefix(p.Name, "reader: ")
		return reads && p.Detail != noReader
	})
}

// openExternal makes them. Nothing is contacted yet. Where no files are named, nothing is kept.
func openExternal(cfg *config.Config, files readerFiles, logger *slog.Logger) (*external, error) {
	o := &external{bots: map[string]*telegram.Bot{}, reads: cfg.Auditor.Contracts, settings: cfg.Auditor}
	err := errors.Join(o.openAuditor(cfg.Auditor, files, logger), o.openExtract(cfg, files, logger),
		o.openLent(cfg, files.lent, logger), o.openVerifier(cfg, logger))
	if err == nil {
		err = o.openChannels(cfg, logger)
	}
	if c := cfg.Console.OIDC; c != nil && err == nil {
		c.Now, c.Rand = time.Now, rand.Reader
		o.provider, err = oidc.New(*c)
	}
	if err != nil {
		return nil, errors.Join(err, o.close(context.Background()))
	}
	return o, nil
}

func (o *external) openVerifier(cfg *config.Config, logger *slog.Logger) error {
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
	o.verifier, err = verifier.New(opts)
	return err
}

// bot is the bot of a token; two sections that name one share it.
func (o *external) bot(t *telegram.Settings, logger *slog.Logger) (*telegram.Bot, error) {
	if b := o.bots[string(t.BotToken)]; b != nil {
		return b, nil
	}
	b, err := telegram.New(t.Options(logger))
	if err == nil {
		o.bots[string(t.BotToken)] = b
	}
	return b, err
}

// advise adds whoever there is to the monitor's options. A nil pointer must not become
// an interface that is not nil.
func (o *external) advise(opts *engine.Options) {
	if o.auditor != nil {
		opts.Acts = o.auditor
		if o.settings.Calls {
			opts.Auditor = o.auditor
		}
		if o.reads {
			opts.Reader = o.auditor
		}
	}
	if o.lent != nil {
		if opts.Acts = o.lent; o.reads {
			opts.Reader = o.lent
		}
	}
	opts.NoReader = o.auditor == nil && !o.settings.Declined
	if o.verifier != nil {
		opts.Verifier = o.verifier
	}
}

func (o *external) close(ctx context.Context) error {
	var errs []error
	o.channels.ShutDown()
	o.perServer.ShutDown()
	if o.verifier != nil {
		errs = append(errs, o.verifier.Close(ctx))
	}
	if o.lent != nil {
		for _, c := range o.lent.All() {
			c.Close()
		}
	}
	if o.extracts != nil && o.extracts != o.auditor {
		o.extracts.Close()
	}
	if o.auditor != nil {
		o.auditor.Close()
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

// status says of each of them whether it could be reached just now.
func (o *external) status(ctx context.Context) []Part {
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
	for _, c := range append(o.channels.Lines(), o.perServer.Lines()...) {
		add(Part{Name: "approvals: " + c.Name, Detail: c.Detail, Figures: c.Figures}, c.Check)
	}
	if o.provider != nil {
		add(Part{Name: "console: oidc", Detail: "people sign in at " + o.provider.Name()}, o.provider.Check)
	}
	if o.auditor != nil {
		add(Part{Name: o.settings.Section, Detail: o.readerWords(), Figures: o.auditor.Status()}, o.checkReader)
	} else if o.settings.Missing != "" {
		add(Part{Name: o.settings.Section, Detail: noReader}, func(context.Context) error { return errors.New(o.settings.Missing) })
	}
	o.lentParts(add)
	if o.verifier != nil {
		add(Part{Name: "verifier", Detail: verifierWords(o.verifier.Status()), Figures: o.verifier.Status()}, o.verifier.Check)
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

// Host is a program whose plugin gave a sign of life.
type Host struct {
	ID            string    `json:"id"`
	Host          string    `json:"host"`
	Version       string    `json:"version,omitzero"`
	PluginVersion string    `json:"pluginVersion,omitzero"`
	Hooks         []string  `json:"hooks"`
	Every         int64     `json:"everySeconds"`
	Last          time.Time `json:"last"`
	Age           int64     `json:"ageSeconds"`
	Silent        bool      `json:"silent"`
}

// ServerStatus is what a running server says about itself and those around it.
type ServerStatus struct {
	Policy  InForce       `json:"policy"`
	Version string        `json:"version"`
	Started time.Time     `json:"started"`
	Parts   []Part        `json:"parts"`
	Waiting int64         `json:"waiting"`
	Hosts   []Host        `json:"hosts"`
	Alarms  []alarm.Alarm `json:"alarms,omitempty"`

	Stopped *event.Stopped `json:"stopped"` // nil: nothing is stopped
}

func verifierWords(s verifier.Status) string {
	who := s.Webhooks
	if s.Telegram {
		who = append(who, "telegram")
	}
	return fmt.Sprintf("%s; fail mode %s", strings.Join(who, ", "), s.FailMode)
}
