package anchors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/store"
)

// Options say where the head is written down, and how often. Without File and URL it is nowhere.
type Options struct {
	Every  time.Duration   // 0 is 10 minutes
	File   string          // notes are added at its end; "": to none
	URL    string          // notes are posted there; "": nowhere
	Secret endpoint.Secret // signs each request, as hooks are; "": none does, the note is signed itself
}

// Any reports whether the head is written down anywhere.
func (o *Options) Any() bool { return o != nil && (o.File != "" || o.URL != "") }

// Log is what is anchored.
type Log interface {
	Head(ctx context.Context) (store.Head, error)
}

// Writer writes the head down. It is safe for concurrent use.
type Writer struct {
	o    Options
	log  Log
	sign Signer
	now  func() time.Time
	http *http.Client

	mu    sync.Mutex
	last  store.Head // guarded by mu; that was written down everywhere
	at    time.Time  // guarded by mu; when
	fault error      // guarded by mu; why the last one was not
}

// defaultEvery is how often the head is written down where nothing else is said.
const defaultEvery = 10 * time.Minute

// New checks the options. Nothing is written yet.
func New(o Options, log Log, s Signer, now func() time.Time) (*Writer, error) {
	if o.Every <= 0 {
		o.Every = defaultEvery
	}
	w := &Writer{o: o, log: log, sign: s, now: now}
	if o.URL == "" {
		return w, nil
	}
	u, err := outbound.URL(o.URL)
	if err == nil {
		err = outbound.Exposed(u)
	}
	if err != nil {
		return nil, fmt.Errorf("configure anchors: %w", err)
	}
	w.http = outbound.Client(outbound.Options{LocalOnly: u.Scheme == "http"})
	return w, nil
}

// Run writes the head down until the context ends, and once more then: fault is told what went wrong.
func (w *Writer) Run(ctx context.Context, fault func(error)) {
	tick := time.NewTicker(w.o.Every)
	defer tick.Stop()
	for {
		if err := w.Anchor(ctx); err != nil && ctx.Err() == nil {
			fault(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), postLimit)
			defer cancel()
			if err := w.Anchor(last); err != nil {
				fault(err)
			}
			return
		}
	}
}

// Anchor writes the head down, unless it was already.
func (w *Writer) Anchor(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	head, err := w.log.Head(ctx)
	if err == nil && (head == w.last || head.Batch == 0) {
		return nil
	}
	if err == nil {
		note := w.sign.Sign(head, w.now())
		err = errors.Join(w.add(note), w.post(ctx, note))
	}
	if w.fault = err; err != nil {
		return fmt.Errorf("anchor the log: %w", err)
	}
	w.last, w.at = head, w.now()
	return nil
}

// add puts a note at the end of the file. A blank line stands before each, so that one cut short spoils no other.
func (w *Writer) add(note []byte) error {
	if w.o.File == "" {
		return nil
	}
	f, err := os.OpenFile(w.o.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644) //nolint:gosec // it is there for others to read
	if err != nil {
		return err
	}
	_, err = f.Write(append([]byte("\n"), note...))
	return errors.Join(err, f.Sync(), f.Close())
}

const (
	postLimit = 10 * time.Second
	maxAnswer = 64 << 10
)

func (w *Writer) post(ctx context.Context, note []byte) error {
	if w.o.URL == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, postLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.o.URL, bytes.NewReader(note))
	if err != nil {
		return errors.New("the address cannot be asked")
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	if w.o.Secret != "" {
		timestamp, signature := hook.Sign([]byte(w.o.Secret), w.now(), note)
		req.Header.Set(hook.HeaderTimestamp, timestamp)
		req.Header.Set(hook.HeaderSignature, signature)
	}
	res, err := w.http.Do(req)
	if err != nil {
		var at *url.Error // which has the address, and that may hold a token
		if errors.As(err, &at) {
			err = at.Err
		}
		return fmt.Errorf("post the checkpoint: %w", err)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return fmt.Errorf("post the checkpoint: %w", err)
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("post the checkpoint: the program there answered %d", res.StatusCode)
	}
	return nil
}

// Status is what was written down last, and what went wrong since.
type Status struct {
	Batch uint64    `json:"batch"`
	At    time.Time `json:"at,omitzero"`
}

// Status says how far the log is anchored; an error says why no further.
func (w *Writer) Status() (Status, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Status{w.last.Batch, w.at}, w.fault
}

// Detail says where the head is written down.
func (w *Writer) Detail() string {
	switch {
	case w.o.URL == "":
		return "the head is written to " + w.o.File
	case w.o.File == "":
		return "the head is posted to " + hostOf(w.o.URL)
	}
	return "the head is written to " + w.o.File + " and posted to " + hostOf(w.o.URL)
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "?"
	}
	return u.Host
}
