package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/build"
	"github.com/tidemark/tidemark/internal/base/sameorigin"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/people/console"
	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/patient"
)

// openKeys reads the keys of people, by which approvals are proven.
func openKeys(ctx context.Context, cfg *config.Config, s engine.Store, shared bool) (*approvalproof.Keeper, error) {
	return approvalproof.Open(ctx, approvalproof.Options{
		Store: s, Shared: shared, Now: time.Now, Rand: rand.Reader, Want: cfg.Approvals.Proof, Also: cfg.Approvals.Also,
		Inviters: inviters(cfg),
	})
}

// inviters is how many key holders invite a further one: as many as must agree to anything, and two at most. Who could invite alone
// could be two people alone.
func inviters(cfg *config.Config) int {
	for _, r := range cfg.Approvals.Who.List {
		if r.People > 1 {
			return 2
		}
	}
	return 1
}

// openConsole makes the door for people with a browser.
func (a *App) openConsole(f *notify.Store, key []byte) (http.Handler, error) {
	book, err := a.shareSignIns(key)
	if err != nil {
		return nil, err
	}
	if a.desk, err = signin.New(signin.Options{Now: time.Now, Rand: rand.Reader, Record: a.keys.Record, Book: book}); err != nil {
		return nil, err
	}
	c, err := console.New(console.Options{
		Monitor: a.Monitor, Log: a.proven(), Counts: a.counts, Feed: f, Desk: a.desk, Keys: a.keys, Logger: a.opts.Logger, Now: time.Now,
		Hosts: a.config.Server.Hosts(), Version: build.Version(), Offices: a.offices(), People: a.people, Pins: a.pins,
		Provider: a.external.provider, Approvers: &a.config.Approvals.Who, Push: a.push, Alarms: &a.alarms,
		Sees: a.config.Approvals.Who.Sees,
	})
	if err != nil {
		return nil, fmt.Errorf("open console: %w", err)
	}
	return c.Handler(), nil
}

// split hands what is the console's to it, and everything else to the other doors.
func split(people, others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == console.Path || strings.HasPrefix(r.URL.Path, console.Path+"/") {
			people.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// consoleURL is where people see the console; empty before the server listens.
func (a *App) consoleURL() string {
	at := a.announced.Load()
	if at == nil {
		return ""
	}
	_, port, err := net.SplitHostPort(strings.TrimPrefix(*at, "http://"))
	if err != nil {
		return ""
	}
	return "http://" + net.JoinHostPort(sameorigin.ConsoleName, port)
}

// questionURL is where a question is answered in a browser.
func (a *App) questionURL(id string) string {
	if hosts := a.config.Server.AllowedHosts; len(hosts) > 0 {
		return "https://" + hosts[0] + console.Path + "/q/" + id
	}
	if urls := a.URLs(); len(urls) > 0 {
		return urls[0] + console.Path + "/q/" + id
	}
	if at := a.consoleURL(); at != "" {
		return at + console.Path + "/q/" + id
	}
	return ""
}

// origins are the addresses at which a browser may show the console.
func (a *App) origins() []string {
	out := []string{a.consoleURL()}
	if _, port, err := net.SplitHostPort(a.listener.Addr().String()); err == nil {
		out = append(out, "http://"+net.JoinHostPort("localhost", port))
	}
	for _, h := range a.config.Server.AllowedHosts {
		out = append(out, "https://"+h)
	}
	return append(out, a.URLs()...)
}

// verifyAll checks the chains and the ledger, and then the proof of every approval.
func verifyAll(ctx context.Context, log proofs, progress func(done, total int64)) (store.Report, int, error) {
	report, err := log.Verify(ctx, progress)
	if err != nil {
		return report, 0, err
	}
	breaks, good, err := approvalproof.Audit(ctx, log)
	report.Breaks = append(report.Breaks, breaks...)
	return report, good, err
}

// provenLog is the log whose check covers the proofs and the anchors too.
type provenLog struct {
	keptLog
	patient *patient.Store
	anchors func(ctx context.Context) ([]store.Break, error)
}

func (a *App) proven() provenLog { return provenLog{a.log, a.patient, a.anchorBreaks} }

// Sessions, Turns, Since and Head do not wait for a log that is silent.
func (l provenLog) Sessions(ctx context.Context, q store.SessionQuery) (out []store.Session, err error) {
	err = l.patient.Look(ctx, func(ctx context.Context) (err error) { out, err = l.keptLog.Sessions(ctx, q); return err })
	return out, err
}

// Turns is one of them.
func (l provenLog) Turns(ctx context.Context, session string) (out []store.Turn, err error) {
	err = l.patient.Look(ctx, func(ctx context.Context) (err error) { out, err = l.keptLog.Turns(ctx, session); return err })
	return out, err
}

// Since is one of them.
func (l provenLog) Since(ctx context.Context, q store.EntryQuery) (out []store.Entry, err error) {
	err = l.patient.Look(ctx, func(ctx context.Context) (err error) { out, err = l.keptLog.Since(ctx, q); return err })
	return out, err
}

// Head is one of them.
func (l provenLog) Head(ctx context.Context) (out store.Head, err error) {
	err = l.patient.Look(ctx, func(ctx context.Context) (err error) { out, err = l.keptLog.Head(ctx); return err })
	return out, err
}

// Ping says whether the log takes records, by what is known of it.
func (l provenLog) Ping(ctx context.Context) error { return l.patient.Ready(ctx) }

func (l provenLog) Verify(ctx context.Context, progress func(done, total int64)) (store.Report, error) {
	report, _, err := verifyAll(ctx, l.keptLog, progress)
	if err != nil {
		return report, err
	}
	breaks, err := l.anchors(ctx)
	report.Breaks = append(report.Breaks, breaks...)
	return report, err
}

// Verify checks the log, and the proof of every approval in it.
func (l *Log) Verify(ctx context.Context, progress func(done, total int64)) (store.Report, error) {
	report, good, err := verifyAll(ctx, l.Reader, progress)
	l.Proofs = good
	return report, err
}

// Unproven is the error for what takes a proof where one is required: without a server there
// is nobody who could be asked for it.
func (l *Log) Unproven() error {
	if l.keys.Required() == approvalproof.None {
		return nil
	}
	return fmt.Errorf("%w: start the server and do it in the console (tidemark console)", engine.ErrProof)
}

// ForgetKeys drops every key and the typed secret of an installation whose server does not
// run. It is recorded, and the console says so for a month.
func ForgetKeys(ctx context.Context, p datafolder.Paths, by string) (n int, err error) {
	log, err := OpenLogForAnswers(ctx, p)
	if err != nil {
		return 0, err
	}
	n = len(log.keys.State().Keys)
	if err := log.keys.Forget(ctx, by); err != nil {
		_ = log.Close() // the first error says more
		return 0, err
	}
	return n, log.Close()
}
