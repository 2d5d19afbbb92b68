// Package telegram asks people over a Telegram bot: a message with buttons, and the one
// tap on them that counts. One Bot serves everything that asks this way.
//
// There is no long-running bot. While at least one request is pending, one goroutine
// calls getUpdates; it ends with the last of them. The bot's token must be Tidemark's
// alone: Telegram keeps one queue of updates for each bot, what one program fetches is
// gone for all others, and two programs that poll get 409 Conflict in turn. Of that
// queue only callback queries are asked for, so that other kinds are not even kept; those
// that were queued before are acknowledged and dropped. A tap on a message nobody waits
// for any more is acknowledged too, and whoever tapped is told.
//
// The package does network I/O, reads the clock and starts goroutines; all of them have
// ended when Close returns.
//
// Invariants:
//   - a tap counts only if it carries the request's unguessable token, comes from the
//     very message that was sent (chat and message id), and from a user who may answer;
//   - of a request's taps exactly one counts, and none does after its time;
//   - a tap that arrives before Telegram has confirmed the message is kept, not lost;
//   - never are two calls of getUpdates under way at once;
//   - no answer in time is ErrTimeout, never a denial and never an approval;
//   - when a request ends, whatever the reason, its message loses its buttons and says why;
//   - the bot's token is in no error and in no log line.
package telegram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	tg "github.com/go-telegram/bot"

	"github.com/tidemark/tidemark/internal/base/outbound"
)

// Options describe a bot. Token and ChatID are required.
type Options struct {
	Token  string
	ChatID string // a number, or the @name of a public chat

	// AllowedUserIDs are the users whose taps count. Empty means anybody who can see the
	// chat; since everybody can see a public one, an @name needs the list.
	AllowedUserIDs []int64

	BaseURL string       // of the Bot API; empty is Telegram's own
	HTTP    *http.Client // nil is one without proxies; redirects are never followed
	Logger  *slog.Logger // nil discards
	Now     func() time.Time
	// Sleep waits for d or the end of ctx, whose error it returns. nil is a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// ErrTimeout says that nobody answered in time. It is a context.DeadlineExceeded too.
var ErrTimeout error = timeout{}

type timeout struct{}

func (timeout) Error() string { return "nobody answered in time" }

// Unwrap makes it the kind of error callers know.
func (timeout) Unwrap() error { return context.DeadlineExceeded }

// ErrClosed says that the bot was closed.
var ErrClosed = errors.New("the bot is closed")

// Bot asks in one chat. It is safe for concurrent use.
type Bot struct {
	api     *tg.Bot
	http    *http.Client
	own     bool // the client is ours to close
	base    string
	token   string
	chat    any // int64 or @name
	allowed []int64
	log     *slog.Logger
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	gate    gate

	life context.Context // ends with Close
	end  context.CancelFunc
	wg   sync.WaitGroup // what runs beyond a call of Ask
	mu   sync.Mutex

	closed  bool                // guarded by mu
	pending map[string]*request // guarded by mu; by token
	recent  []string            // guarded by mu; tokens of requests that ended lately
	stop    context.CancelFunc  // guarded by mu; of the poller, nil if none runs
	polled  chan struct{}       // guarded by mu; closed when the latest poller has ended
	replies int                 // guarded by mu; answers to taps that do not count, under way
	status  Status              // guarded by mu; its counts
	faults  map[string]fault    // guarded by mu; by method, until it works again

	offset   int64     // owned by the poller: the first update not yet seen
	offsetAt time.Time // owned by the poller: when it last moved
}

const apiURL = "https://api.telegram.org"

var (
	tokenForm = regexp.MustCompile(`^[0-9]{1,20}:[A-Za-z0-9_-]{1,128}$`)
	nameForm  = regexp.MustCompile(`^@[A-Za-z][A-Za-z0-9_]{3,31}$`)
)

// New checks the options. It opens no connection.
func New(o Options) (*Bot, error) {
	chat, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("configure telegram: %w", err)
	}
	b := &Bot{
		http: newClient(o.HTTP), own: o.HTTP == nil, base: strings.TrimRight(o.BaseURL, "/"), token: o.Token, chat: chat,
		allowed: slices.Clone(o.AllowedUserIDs), log: o.Logger, now: o.Now, sleep: o.Sleep,
		pending: map[string]*request{}, faults: map[string]fault{},
	}
	if b.base == "" {
		b.base = apiURL
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if b.now == nil {
		b.now = time.Now
	}
	if b.sleep == nil {
		b.sleep = sleep
	}
	b.gate.slots = make(chan struct{}, maxCalls)
	b.life, b.end = context.WithCancel(context.Background())
	b.api, err = tg.New(o.Token, tg.WithSkipGetMe(), tg.WithServerURL(b.base), tg.WithHTTPClient(time.Minute, bounded{b.http}),
		tg.WithErrorsHandler(func(err error) { b.log.Warn("telegram", "error", b.scrub(err.Error())) }))
	if err != nil {
		b.end()
		return nil, fmt.Errorf("configure telegram: %s", b.scrub(err.Error()))
	}
	return b, nil
}

// Close ends every request that is pending with ErrClosed and waits until their messages
// are edited and the poller has ended. It can be called more than once.
func (b *Bot) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.end()
	b.wg.Wait()
	if b.own {
		b.http.CloseIdleConnections()
	}
}

// check does not repeat the token in its errors.
func (o *Options) check() (chat any, err error) {
	if !tokenForm.MatchString(o.Token) {
		return nil, errors.New("the bot token is not of the form 123456:ABC-DEF")
	}
	for _, id := range o.AllowedUserIDs {
		if id <= 0 {
			return nil, fmt.Errorf("%d is not the id of a user", id)
		}
	}
	if err := checkURL(o.BaseURL); err != nil {
		return nil, err
	}
	if nameForm.MatchString(o.ChatID) {
		if len(o.AllowedUserIDs) == 0 {
			return nil, fmt.Errorf("chat %s is public: list the users who may answer", o.ChatID)
		}
		return o.ChatID, nil
	}
	id, err := strconv.ParseInt(o.ChatID, 10, 64)
	if err != nil || id == 0 {
		return nil, fmt.Errorf("chat %q is neither a number nor an @name", o.ChatID)
	}
	return id, nil
}

// checkURL keeps the token, which is part of every URL, from crossing a network in the
// clear.
func checkURL(raw string) error {
	if raw == "" {
		return nil
	}
	u, err := outbound.URL(raw)
	if err != nil {
		return fmt.Errorf("the base %w", err)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return errors.New("the base url holds more than a host and a path")
	}
	return outbound.Exposed(u)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
