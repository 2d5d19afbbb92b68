// Package console is the door for people with a browser: questions with their evidence,
// sessions, the log, the policy, and the keys by which a person proves that it is they who
// approve.
//
// It does I/O (it serves HTTP) and starts no goroutine. Only the app may import it.
//
// Invariants:
//   - it decides nothing: it shows what the monitor says and hands answers to it;
//   - every page, fragment, error and asset has the same headers, which let nothing but our
//     own scripts and styles run;
//   - text that others wrote is cleaned, escaped and kept apart from ours;
//   - a post counts only from our own page, with its session's token for that path, and for
//     what the page showed;
//   - a session of a reader reads and denies; approving takes the role or the proof;
//   - whoever does not see every session is shown nothing of the others, and no page that does not say so.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/base/alarm"
	"github.com/tidemark/tidemark/internal/base/sameorigin"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/people/oidc"
	"github.com/tidemark/tidemark/internal/people/sight"
	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/internal/people/webpush"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/reports/definitions"
	"github.com/tidemark/tidemark/internal/reports/tally"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/waiting"
)

// Log is what the pages read.
type Log interface {
	Sessions(ctx context.Context, q store.SessionQuery) ([]store.Session, error)
	Turns(ctx context.Context, session string) ([]store.Turn, error)
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
	Head(ctx context.Context) (store.Head, error)
}

// Options are what the console needs. Monitor, Log, Feed, Desk, Keys and Logger are required.
type Options struct {
	Monitor *engine.Monitor
	Log     Log
	Feed    *notify.Store
	Desk    *signin.Desk
	Keys    *approvalproof.Keeper
	Logger  *slog.Logger
	Now     func() time.Time
	Hosts   []string // names besides the loopback ones, behind a TLS proxy
	Version string
	Offices Offices
	Counts  *tally.Tally     // what reports are made from; nil: some of its own
	People  *accounts.Roster // those with a token of their own; nil: nobody
	Alarms  *alarm.Book      // what was noticed about hosts; nil: nobody looks
	// Sees says what somebody, as the log names them, may look into; nil: everything.
	Sees func(by string) sight.Sight
	// Approvers say whose approval counts; nil: whoever may approve decides alone.
	Approvers ApproverRules
	Pins      *pins.Keeper // what MCP servers looked like when they were accepted; nil: nobody keeps it

	Provider *oidc.Provider  // where people can sign in too; nil: nowhere
	Push     *webpush.Sender // tells browsers; nil: none are told
}

// Console serves the pages. It is safe for concurrent use.
type Console struct {
	monitor    *engine.Monitor
	log        Log
	feed       *notify.Store
	desk       *signin.Desk
	keys       *approvalproof.Keeper
	logger     *slog.Logger
	now        func() time.Time
	sameOrigin *sameorigin.Guard
	version    string
	offices    Offices
	counts     *tally.Tally
	people     *accounts.Roster
	pins       *pins.Keeper
	alarms     *alarm.Book

	approverRules ApproverRules
	sees          func(by string) sight.Sight
	history       *definitions.Book // how tools came to be described as they are
	oidc          *oidc.Provider
	push          *webpush.Sender
	assets        assets
	mux           *http.ServeMux
	queue         *waiting.Queue
	hurry         hurry
	htmlCache     htmlCache

	keepAlive time.Duration // between two signs of life on an idle stream
}

// New checks the options and makes a Console.
func New(o Options) (*Console, error) {
	if o.Monitor == nil || o.Log == nil || o.Feed == nil || o.Desk == nil || o.Keys == nil || o.Logger == nil {
		return nil, errors.New("new console: monitor, log, feed, desk, keys and logger are needed")
	}
	g, err := sameorigin.New(o.Hosts)
	if err != nil {
		return nil, fmt.Errorf("new console: %w", err)
	}
	files, err := loadAssets()
	if err != nil {
		return nil, fmt.Errorf("new console: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Counts == nil {
		o.Counts = tally.New(o.Log, "", nil)
	}
	c := &Console{
		monitor: o.Monitor, log: o.Log, feed: o.Feed, desk: o.Desk, keys: o.Keys, logger: o.Logger, now: o.Now,
		sameOrigin: g, version: o.Version, offices: o.Offices, people: o.People, pins: o.Pins, alarms: o.Alarms, oidc: o.Provider,
		approverRules: o.Approvers, sees: o.Sees, push: o.Push,
		history: definitions.New(o.Log), counts: o.Counts,
		assets: files, mux: http.NewServeMux(), keepAlive: 20 * time.Second, queue: waiting.NewQueue(o.Monitor, o.Feed, o.Now),
	}
	c.routes()
	return c, nil
}

// Path is where the console stands; everything below it is its own.
const Path = "/console"

// Handler is what to serve below Path. Streams end with their request's context.
func (c *Console) Handler() http.Handler { return http.HandlerFunc(c.serve) }

// visit is one request of somebody signed in.
type visit struct {
	w http.ResponseWriter
	r *http.Request
	signin.Standing

	sure bool // the first of two steps was done

	key string // whose passkey proved what they do; empty: none did
}

// by is who does something, as the log names them: whoever has the key that proved it, or else
// whoever signed in.
func (v *visit) by() string {
	if v.key != "" {
		return v.key
	}
	return v.By
}

func (c *Console) routes() {
	c.mux.HandleFunc("GET /console/a/{name}", c.asset)
	c.mux.HandleFunc("GET /console/login", c.loginPage)
	c.mux.HandleFunc("POST /console/login", c.login)
	c.mux.HandleFunc("GET /console/wait", c.waitPage)
	c.installable()
	if c.oidc != nil {
		c.mux.HandleFunc("GET "+providerPath, c.toProvider)
		c.mux.HandleFunc("GET "+callbackPath, c.fromProvider)
	}
	c.get("/console/{$}", c.questionsPage)
	c.get("/console/q/{id}", c.questionPage)
	c.get("/console/q/{id}/card", c.cardFragment)
	c.post("/console/q/{id}", c.answer)
	c.post("/console/q/{id}/challenge", c.challenge)
	c.get(severalPath, c.severalPage)
	c.post(severalPath, c.answerSeveral)
	c.post(severalPath+"/challenge", c.challengeSeveral)
	c.get(grantsPath, c.grantsPage)
	c.get("/console/stream", c.stream)
	c.get("/console/snapshot", c.snapshotFragment)
	c.get("/console/keys", c.keysPage)
	c.post("/console/keys", c.changeKeys)
	c.post("/console/keys/challenge", c.keyChallenge)
	c.post(peoplePath, c.changePeople)
	c.get(stopPath, c.stopPage)
	c.post(stopPath, c.changeStop)
	c.post("/console/logout", c.logout)
	c.more()
}

// get serves a page to whoever is signed in.
func (c *Console) get(path string, serve func(*visit)) {
	c.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		if v, ok := c.admit(w, r); ok && c.look(v, "GET "+path) {
			serve(v)
		}
	})
}

// post takes a form of ours from whoever is signed in.
func (c *Console) post(path string, serve func(*visit)) {
	c.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		v, ok := c.admit(w, r)
		if !ok || !c.look(v, "POST "+path) || !c.readForm(w, v.r) {
			return
		}
		if !v.Bears(r.URL.Path, v.r.PostForm.Get("token")) {
			c.fail(w, r, http.StatusForbidden, "This form is not of this session. Load the page again; nothing was changed.")
			return
		}
		serve(v)
	})
}

const maxForm = 1 << 20

// readForm reads a form of bounded size.
func (c *Console) readForm(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		c.fail(w, r, http.StatusBadRequest, "The form cannot be read. Load the page again; nothing was changed.")
		return false
	}
	_, _ = io.Copy(io.Discard, r.Body) // what is left is of no use
	return true
}
