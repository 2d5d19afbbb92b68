// Package compliance is a plugin that writes down who said what to which agent, what went to
// the model, which tools were called and what was answered, redacted, one file a day. Why a call
// was allowed, held or refused stands in the monitor's log; `tidemark compliance` puts both
// together.
//
// It reads the clock it is given, writes and removes files of its folder, and starts no goroutine.
//
// Invariants:
//   - what cannot be written down does not happen: it fails closed;
//   - no secret and no personal data that the patterns know reaches a file, and a hash does not give away what it is of: the key
//     of hashes is not in the folder;
//   - a file older than it is to be kept is gone after the next line of another day.
package compliance

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/dailyjsonl"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Options configure a Keeper.
type Options struct {
	Folder   string
	KeepDays int  // files older than this are removed; 0: never
	Prompts  bool // keep the words of prompts, results and answers, redacted; else their hashes
	// Personal are the kinds of personal data that are removed from what is kept; see Kinds.
	Personal []string
	// Answers removes the same from tool results and answers on their way, too.
	Answers bool
	// Redact removes secrets from a text; Args from a tool's arguments. Nil: nothing of a text is kept.
	Redact func(string) string
	Args   func(tool string, args []byte) []byte
	Now    func() time.Time
	// Key is that of the hashes, one of this installation's own: without it nobody can try out what a hash is of.
	Key []byte
}

// Entry is one line of the record.
type Entry struct {
	Time    time.Time        `json:"time"`
	Hook    hook.Name        `json:"hook"`
	Session string           `json:"session"`
	Turn    string           `json:"turn,omitzero"`
	Branch  string           `json:"branch,omitzero"`
	Agent   string           `json:"agent,omitzero"`
	Who     *Who             `json:"who,omitzero"`
	Model   string           `json:"model,omitzero"`
	Tool    string           `json:"tool,omitzero"`
	Call    string           `json:"call,omitzero"` // its id
	Args    hook.JSON        `json:"args,omitzero"` // redacted
	Tools   []string         `json:"tools,omitzero"`
	Tokens  *hook.TokenUsage `json:"tokens,omitzero"`
	Failed  bool             `json:"failed,omitzero"`
	Hash    string           `json:"hash,omitzero"` // HMAC-SHA-256 of the content as it was, with Options.Key
	Bytes   int              `json:"bytes,omitzero"`
	Content string           `json:"content,omitzero"` // redacted; only where prompts are kept
	Found   []string         `json:"found,omitzero"`   // kinds of personal data that were in it
}

// Who is a sender as the host named it.
type Who struct {
	Provider string `json:"provider,omitzero"`
	Sender   string `json:"sender,omitzero"`
	Owner    bool   `json:"owner,omitzero"`
}

// Keeper writes the record. It is safe for concurrent use.
type Keeper struct {
	o    Options
	find finder

	mu   sync.Mutex
	book dailyjsonl.Book // guarded by mu
	day  string          // guarded by mu
}

// Open makes a keeper and removes what is too old.
func Open(o Options) (*Keeper, error) {
	if o.Now == nil || o.Folder == "" || len(o.Key) == 0 {
		return nil, errors.New("open compliance record: no clock, no folder or no key")
	}
	f, err := newFinder(o.Personal)
	if err != nil {
		return nil, fmt.Errorf("open compliance record: %w", err)
	}
	k := &Keeper{o: o, find: f, book: dailyjsonl.Book{Folder: o.Folder}}
	k.day = dailyjsonl.Day(o.Now())
	if err := k.prune(o.Now()); err != nil {
		return nil, fmt.Errorf("open compliance record: %w", err)
	}
	return k, nil
}

// Close closes the file of the day.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.book.Close()
}

// Handler is the keeper as a plugin. It fails closed.
func (k *Keeper) Handler() hook.Handler {
	on := hook.Handlers{
		MessageReceived: k.received, BeforeLLMCall: k.asked, AfterLLMCall: k.replied,
		BeforeToolCall: k.called, AfterToolCall: k.returned, BeforeResponseEmit: k.answered,
	}
	if k.o.Answers {
		on.ToolResultPersist, on.MessageSending = k.persists, k.sends
	}
	return hook.Handler{Name: "compliance", Priority: -900, On: on} // after those that change what is sent
}

func (k *Keeper) received(_ context.Context, e *hook.MessageReceived, c *hook.Context) error {
	sender := e.SenderID
	if sender == "" {
		sender = c.SenderID
	}
	return k.write(&Entry{Who: &Who{c.MessageProvider, sender, c.SenderIsOwner}}, e.Hook(), c, []byte(e.Content))
}

func (k *Keeper) asked(_ context.Context, e *hook.BeforeLLMCall, c *hook.Context) (*hook.BeforeLLMCallResult, error) {
	if len(e.Messages) == 0 && e.SystemPrompt == "" {
		return nil, nil // a host that announces a turn and shows nothing of it
	}
	content := []byte(e.PromptApart())
	for _, m := range e.Messages {
		content = append(append(content, '\n'), m...)
	}
	entry := &Entry{Model: e.Model}
	for _, t := range e.Tools {
		entry.Tools = append(entry.Tools, t.Name())
	}
	return nil, k.write(entry, e.Hook(), c, content)
}

func (k *Keeper) replied(_ context.Context, e *hook.AfterLLMCall, c *hook.Context) (*hook.AfterLLMCallResult, error) {
	entry := &Entry{Model: e.Model, Tokens: e.TokenUsage}
	for _, call := range e.ToolCalls {
		entry.Tools = append(entry.Tools, call.Name)
	}
	return nil, k.write(entry, e.Hook(), c, e.Response)
}

func (k *Keeper) called(_ context.Context, e *hook.BeforeToolCall, c *hook.Context) (*hook.BeforeToolCallResult, error) {
	entry := &Entry{Tool: e.ToolName, Call: e.ToolCallID}
	if k.o.Args != nil {
		args, err := k.find.inJSON(k.o.Args(e.ToolName, e.Params))
		if err != nil {
			return nil, err
		}
		entry.Args = args
	}
	return nil, k.write(entry, e.Hook(), c, nil)
}

func (k *Keeper) returned(_ context.Context, e *hook.AfterToolCall, c *hook.Context) error {
	return k.write(&Entry{Tool: e.ToolName, Call: e.ToolCallID, Failed: e.Error != ""}, e.Hook(), c, e.Result)
}

func (k *Keeper) answered(_ context.Context, e *hook.BeforeResponseEmit, c *hook.Context) (*hook.BeforeResponseEmitResult, error) {
	if err := k.write(&Entry{}, e.Hook(), c, []byte(e.Content)); err != nil || !k.o.Answers {
		return nil, err
	}
	if text, found := k.find.in(e.Content); len(found) > 0 {
		return &hook.BeforeResponseEmitResult{Content: &text}, nil
	}
	return nil, nil
}

func (k *Keeper) persists(_ context.Context, e *hook.ToolResultPersist, _ *hook.Context) (*hook.ToolResultPersistResult, error) {
	clean, err := k.find.inJSON(e.Message)
	if err != nil || string(clean) == string(e.Message) {
		return nil, err
	}
	return &hook.ToolResultPersistResult{Message: hook.JSON(clean)}, nil
}

func (k *Keeper) sends(_ context.Context, e *hook.MessageSending, _ *hook.Context) (*hook.MessageSendingResult, error) {
	if text, found := k.find.in(e.Content); len(found) > 0 {
		return &hook.MessageSendingResult{Content: &text}, nil
	}
	return nil, nil
}

// write completes an entry and writes it down.
func (k *Keeper) write(e *Entry, name hook.Name, c *hook.Context, content []byte) error {
	e.Time, e.Hook = k.o.Now().UTC(), name
	e.Session, e.Turn, e.Branch, e.Agent = c.SessionKey, c.RunID, c.Branch, c.AgentID
	if len(content) > 0 {
		h := hmac.New(sha256.New, k.o.Key)
		h.Write(content)
		e.Hash, e.Bytes = hex.EncodeToString(h.Sum(nil)), len(content)
		_, e.Found = k.find.in(string(content))
		if k.o.Prompts && k.o.Redact != nil {
			e.Content, _ = k.find.in(k.o.Redact(string(content))) // secrets first: what is replaced in one hides it
		}
	}
	line, err := strictjson.Marshal(e)
	if err != nil {
		return fmt.Errorf("write compliance record: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.book.Write(e.Time, line); err != nil {
		return fmt.Errorf("write compliance record: %w", err)
	}
	if day := dailyjsonl.Day(e.Time); day != k.day {
		k.day = day
		return k.prune(e.Time)
	}
	return nil
}

func (k *Keeper) prune(now time.Time) error {
	if k.o.KeepDays <= 0 {
		return nil
	}
	_, err := dailyjsonl.Prune(k.o.Folder, dailyjsonl.Day(now.AddDate(0, 0, -k.o.KeepDays)))
	return err
}

// Entries reads a record from a day (2026-03-01) on, oldest first.
func Entries(folder, from string) iter.Seq2[Entry, error] {
	return dailyjsonl.Read[Entry](folder, from)
}
