package telegram

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	tg "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/tidemark/tidemark/internal/people/channels"
)

// maxText is the longest message, in the UTF-16 units that Telegram counts in.
const maxText = 4096

// Message is what a person is asked.
type Message struct {
	Title   string
	Fields  []Field
	Buttons []Button  // 1 to 8
	Expires time.Time // by the bot's clock; zero leaves it to the context

	// Notes are lines to stand at the end while it is open, each in the place of the one
	// before; nil is fine.
	Notes <-chan string
	// Sent is called when the message is in the chat; nil is fine.
	Sent func()
	// Closed gives the line that takes the buttons' place. It is called once, with what
	// Ask is about to return, and not at all if the message could not be sent. nil says
	// it in plain words.
	Closed func(Answer, error) string
}

// text is the message with the end it has, if any.
func (m *Message) text(last string) string { return channels.Text(m.Title, m.Fields, last, maxText) }

// Field is one named value of a message. A hostile value can neither add a field nor
// hide one. It is the type of whoever asks, who knows nothing of this package.
type Field = struct{ Name, Value string }

// Button is one choice. Data comes back in the Answer and is never sent.
type Button = struct{ Text, Data string }

// Answer is the tap that counted.
type Answer struct {
	Data   string
	UserID int64
	User   string // as people call them: @name, or the first name
}

// request is one Ask under way.
type request struct {
	token   string
	message Message
	taps    chan tap       // takes the one that counts
	sent    chan struct{}  // closed when the sending has ended, well or not
	failed  error          // why it was not sent; set before sent is closed
	edited  sync.WaitGroup // edits under way while it is open

	// Guarded by Bot.mu.
	id    int   // of the message; 0 until Telegram has confirmed it
	chat  int64 // it is in
	early []tap // came before that
	taken bool  // a tap counted, or none can any more
}

// Ask sends a message with buttons and waits for the tap that counts. No answer before
// the message expires or ctx reaches its deadline is ErrTimeout; any other end of ctx is
// its cause. The message is edited whatever happened, after Ask has returned.
func (b *Bot) Ask(ctx context.Context, m Message) (Answer, error) {
	ctx, cancel, err := b.limit(ctx, m)
	if err != nil {
		return Answer{}, fmt.Errorf("ask over telegram: %w", err)
	}
	defer cancel()
	r := &request{token: rand.Text(), message: m, taps: make(chan tap, 1), sent: make(chan struct{})}
	r.message.Buttons, r.message.Fields = slices.Clone(m.Buttons), slices.Clone(m.Fields)
	if err := b.register(r); err != nil {
		return Answer{}, fmt.Errorf("ask over telegram: %w", err)
	}
	go b.send(ctx, r)
	t, answer, err := b.await(ctx, r)
	if errors.Is(err, errNotSent) {
		b.finish(ctx, r, tap{}, "")
		return Answer{}, fmt.Errorf("ask over telegram: %w", r.failed)
	}
	last := closing(r.message, answer, err)
	b.count(err)
	go b.finish(context.WithoutCancel(ctx), r, t, last)
	return answer, err
}

var errNotSent = errors.New("the message was not sent")

// limit checks a message and bounds the time for it.
func (b *Bot) limit(ctx context.Context, m Message) (context.Context, context.CancelFunc, error) {
	if n := len(m.Buttons); n == 0 || n > 8 {
		return nil, nil, fmt.Errorf("a message has 1 to 8 buttons, not %d", n)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	if m.Expires.IsZero() {
		if _, ok := ctx.Deadline(); !ok {
			return nil, nil, errors.New("the message never expires")
		}
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, m.Expires.Sub(b.now()), ErrTimeout)
	return ctx, cancel, nil
}

// await waits for a tap or the end. Afterwards no tap can count any more.
func (b *Bot) await(ctx context.Context, r *request) (tap, Answer, error) {
	sent, notes, edited := r.sent, (<-chan string)(nil), make(chan struct{}, 1)
	for {
		var err error
		select {
		case t := <-r.taps:
			return t, t.answer(r), nil
		case note := <-notes:
			notes = nil // one edit after the other
			r.edited.Go(func() { b.amend(ctx, r, note); edited <- struct{}{} })
			continue
		case <-edited:
			notes = r.message.Notes
			continue
		case <-sent:
			if sent = nil; r.failed == nil {
				notes = r.message.Notes // there is something to add them to
				continue
			}
			err = errNotSent
		case <-b.life.Done():
			err = fmt.Errorf("ask over telegram: %w", ErrClosed)
		case <-ctx.Done():
			err = fmt.Errorf("ask over telegram: %w", reason(ctx))
		}
		if t, ok := b.shut(r); ok {
			return t, t.answer(r), nil
		}
		return tap{}, Answer{}, err
	}
}

// reason says why a context ended. A deadline nobody gave a cause for is a timeout.
func reason(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return ErrTimeout
}

// send delivers the message and looks at the taps that were faster than Telegram's
// answer.
func (b *Bot) send(ctx context.Context, r *request) {
	defer close(r.sent)
	params := &tg.SendMessageParams{ChatID: b.chat, Text: r.message.text(""), ReplyMarkup: keyboard(r), LinkPreviewOptions: noPreview()}
	var m *models.Message
	err := b.call(ctx, "sendMessage", func(ctx context.Context) (err error) {
		m, err = b.api.SendMessage(ctx, params)
		if err == nil && (m.ID == 0 || m.Chat.ID == 0) {
			err = errors.New("the answer names no message")
		}
		return err
	})
	if err != nil {
		r.failed = err
		return
	}
	if r.message.Sent != nil {
		r.message.Sent()
	}
	for _, reply := range b.confirm(r, m.ID, m.Chat.ID) {
		b.reply(reply)
	}
}

// finish shows the end of a request: to whoever tapped, and in the message. Until then
// the request stays registered, so that a second tap is told that it was decided.
// Preconditions: await has returned, so that no tap can count any more.
func (b *Bot) finish(ctx context.Context, r *request, t tap, last string) {
	defer b.wg.Done()
	defer b.unregister(r)
	ctx, cancel := context.WithTimeout(ctx, finishLimit)
	defer cancel()
	if t.id != "" {
		b.answerTap(ctx, reply{to: t.id, text: last})
	}
	<-r.sent
	if r.edited.Wait(); r.failed != nil {
		return
	}
	b.mu.Lock()
	id, chat := r.id, r.chat
	b.mu.Unlock()
	params := &tg.EditMessageTextParams{ChatID: chat, MessageID: id, Text: r.message.text(last), LinkPreviewOptions: noPreview()}
	err := b.persist(ctx, func() error {
		return b.call(ctx, "editMessageText", func(ctx context.Context) error {
			_, err := b.api.EditMessageText(ctx, params)
			return err
		})
	})
	if err != nil {
		b.log.Warn("edit telegram message", "error", err)
	}
}

// amend shows a note below a message that is open. What became of it is not worth a failure:
// the buttons count as before.
func (b *Bot) amend(ctx context.Context, r *request, note string) {
	ctx, cancel := context.WithTimeout(ctx, finishLimit)
	defer cancel()
	b.mu.Lock()
	params := &tg.EditMessageTextParams{
		ChatID: r.chat, MessageID: r.id, Text: r.message.text(note), ReplyMarkup: keyboard(r), LinkPreviewOptions: noPreview(),
	}
	b.mu.Unlock()
	err := b.call(ctx, "editMessageText", func(ctx context.Context) error {
		_, err := b.api.EditMessageText(ctx, params)
		return err
	})
	if err != nil && ctx.Err() == nil {
		b.log.Warn("edit telegram message", "error", err)
	}
}

// noPreview keeps Telegram from fetching whatever address the arguments hold.
func noPreview() *models.LinkPreviewOptions {
	off := true
	return &models.LinkPreviewOptions{IsDisabled: &off}
}

// persist tries again what failed for a reason that may pass.
func (b *Bot) persist(ctx context.Context, run func() error) error {
	wait := newBackOff()
	var err error
	for range maxTries {
		var failed *Error
		if err = run(); !errors.As(err, &failed) || failed.Code != 0 {
			return err
		}
		if b.sleep(ctx, wait.Next()) != nil {
			return err
		}
	}
	return err
}

// finishLimit bounds how long the end of a request is tried to be shown.
const finishLimit = 20 * time.Second

// closing is the line for the end of a request.
func closing(m Message, a Answer, err error) string {
	switch {
	case m.Closed != nil:
		return m.Closed(a, err)
	case err == nil:
		i := slices.IndexFunc(m.Buttons, func(b Button) bool { return b.Data == a.Data })
		return fmt.Sprintf("%s: decided by %s", m.Buttons[i].Text, a.User)
	case errors.Is(err, ErrTimeout):
		return "Expired: nobody answered in time"
	case errors.Is(err, ErrClosed):
		return "Closed: Tidemark was stopped"
	default:
		return "Closed: no answer is needed any more"
	}
}
