package app

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/build"
	"github.com/tidemark/tidemark/internal/base/sameorigin"
	"github.com/tidemark/tidemark/internal/people/console"
	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/internal/store/notify"
)

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
		Provider: a.external.Provider, Approvers: &a.config.Approvals.Who, Push: a.push, Alarms: &a.alarms,
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

// URLs are where other machines reach the server, the first as people should write it.
func (a *App) URLs() []string { return a.network.URLs() }

// private reports whether only this machine reaches the server.
func (a *App) private() bool { return loopbackOnly(a.address()) && a.config.Server.TLS == nil }
