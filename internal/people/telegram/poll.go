package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/base/backoff"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/channels"
)

// The bounds of polling.
const (
	pollWait  = 25 * time.Second // Telegram holds a call that long if there is nothing
	pollLimit = pollWait + 10*time.Second
	pollBatch = 50
	// keeps is how long Telegram keeps an update nobody fetched.
	keeps = 24 * time.Hour
)

func newBackOff() *backoff.Growing {
	return &backoff.Growing{First: 500 * time.Millisecond, Most: 15 * time.Second}
}

// register makes a request known before it is sent, so that no tap on it can be missed,
// and sees to it that somebody polls.
func (b *Bot) register(r *request) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ErrClosed
	}
	b.wg.Add(1) // ends with finish
	b.pending[r.token] = r
	if b.stop != nil {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	before, ended := b.polled, make(chan struct{})
	b.stop, b.polled = stop, ended
	b.wg.Add(1)
	go func() {
		defer b.wg.Done()
		defer close(ended)
		defer stop()
		if before != nil {
			<-before // it was told to stop: never two at once
		}
		b.poll(ctx)
	}()
	return nil
}

// unregister forgets a request; the last one ends the polling.
func (b *Bot) unregister(r *request) {
	b.mu.Lock()
	delete(b.pending, r.token)
	if b.recent = append(b.recent, r.token); len(b.recent) > maxRecent {
		b.recent = slices.Delete(b.recent, 0, 1)
	}
	if len(b.pending) == 0 {
		b.stop()
		b.stop = nil
	}
	early := r.early
	r.early = nil
	b.mu.Unlock()
	for _, t := range early {
		b.reply(reply{t.id, notOpen, true})
	}
}

// poll fetches taps until ctx ends. An update is acknowledged by the call after the one
// that brought it, so that a batch cut off half-way comes again.
func (b *Bot) poll(ctx context.Context) {
	wait := newBackOff()
	for ctx.Err() == nil {
		if b.now().Sub(b.offsetAt) > keeps {
			b.offset = 0 // nothing that old can come again, and ids may start anew
		}
		updates, err := b.getUpdates(ctx)
		if ctx.Err() != nil {
			return
		}
		moved := b.take(updates)
		if err == nil && len(updates) > 0 && !moved {
			err = errors.New("updates without an id")
		}
		if err == nil {
			_ = b.note("getUpdates", nil)
			wait.Reset()
			continue
		}
		failed := b.failure("getUpdates", err)
		_ = b.note("getUpdates", failed)
		pause := wait.Next()
		if failed.Code == http.StatusTooManyRequests {
			pause = max(pause, failed.RetryAfter)
		}
		b.log.Warn("poll telegram", "error", failed, "retry", pause)
		if b.sleep(ctx, pause) != nil {
			return
		}
	}
}

// take handles a batch and reports whether it moved the offset.
func (b *Bot) take(updates []update) (moved bool) {
	for _, u := range updates {
		if u.ID < b.offset || u.ID <= 0 {
			continue // seen before, or unreadable
		}
		b.offset, b.offsetAt, moved = u.ID+1, b.now(), true
		if t, ok := u.tap(); ok {
			b.tapped(t)
		}
	}
	return moved
}

// update is what we read of an update. Kinds other than callback queries are only
// acknowledged.
type update struct {
	ID       int64     `json:"update_id"`
	Callback *callback `json:"callback_query"`
}

type callback struct {
	ID   string `json:"id"`
	From struct {
		ID       int64  `json:"id"`
		First    string `json:"first_name"`
		Username string `json:"username"`
	} `json:"from"`
	Message struct {
		ID   int `json:"message_id"`
		Chat struct {
			ID int64 `json:"id"`
		} `json:"chat"`
	} `json:"message"`
	Data string `json:"data"`
}

func (u update) tap() (tap, bool) {
	c := u.Callback
	if c == nil || c.ID == "" {
		return tap{}, false
	}
	token, button, ok := parseCallback(c.Data)
	if !ok {
		token = "" // not ours: whoever tapped is still told
	}
	return tap{
		id: c.ID, user: c.From.ID, name: userName(c.From.First, c.From.Username, c.From.ID),
		chat: c.Message.Chat.ID, message: c.Message.ID, token: token, button: button,
	}, true
}

// apiResponse is what every method answers.
type apiResponse struct {
	OK          bool               `json:"ok"`
	Result      []strictjson.Value `json:"result"`
	Code        int                `json:"error_code"`
	Description string             `json:"description"`
	Parameters  struct {
		RetryAfter int `json:"retry_after"`
	} `json:"parameters"`
}

// getUpdates asks for the taps that are new. The library keeps this method for a loop of
// its own, which never stops while nobody waits.
func (b *Bot) getUpdates(ctx context.Context) ([]update, error) {
	ctx, cancel := context.WithTimeout(ctx, pollLimit)
	defer cancel()
	body, err := strictjson.Marshal(map[string]any{
		"offset": b.offset, "limit": pollBatch, "timeout": int(pollWait / time.Second), "allowed_updates": []string{"callback_query"},
	})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.base+"/bot"+b.token+"/getUpdates", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, err
	case len(answer) > maxBody:
		return nil, fmt.Errorf("an answer of more than %d bytes", maxBody)
	}
	updates, err := parseUpdates(answer)
	if err != nil && resp.StatusCode != http.StatusOK && !errors.As(err, new(*Error)) {
		err = fmt.Errorf("status %d", resp.StatusCode)
	}
	return updates, err
}

// parseUpdates reads an answer of getUpdates. An update that cannot be read does not
// hide the others: if at least its id can, it is acknowledged.
func parseUpdates(answer []byte) ([]update, error) {
	var r apiResponse
	if err := strictjson.Unmarshal(answer, &r); err != nil {
		return nil, err
	}
	if !r.OK {
		return nil, &Error{
			Method: "getUpdates", Code: r.Code, Text: channels.Cut(channels.OneLine(r.Description), 300),
			RetryAfter: time.Duration(min(max(r.Parameters.RetryAfter, 0), 3600)) * time.Second,
		}
	}
	out := make([]update, 0, len(r.Result))
	for _, raw := range r.Result {
		var u update
		if err := strictjson.Unmarshal(raw, &u); err != nil {
			var id struct {
				ID int64 `json:"update_id"`
			}
			_ = strictjson.Unmarshal(raw, &id) // 0 if not even that can be read
			u = update{ID: id.ID}
		}
		out = append(out, u)
	}
	return out, nil
}
