package auditor

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/tool"
)

// How much is remembered at most.
const (
	maxCached   = 4096
	maxSessions = 8192 // beyond it the session longest unheard of starts its count anew
)

// programQueue is how long a reading waits for a program: each takes seconds of a processor to start, and few run at a time.
const programQueue = 2 * time.Minute

// maxTokens is the most an answer may take. More than this wants to be streamed.
const maxTokens = 16 << 10

// New checks the options. It opens no connection.
func New(o Options) (*Client, error) {
	u, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("configure auditor: %w", err)
	}
	o.fill()
	c := &Client{
		o:         o,
		cache:     newLRU[answer](maxCached),
		contracts: newLRU[string](maxContracts),
		read:      o.Readings,
		budget:    newLRU[int](maxSessions),
		flights:   &flights{open: map[string]*flight{}},
		slots:     make(chan struct{}, o.MaxConcurrent),
		spent:     &ledger{hour: o.PerHour, day: o.PerDay, to: o.KeepAnswers, of: o.SpentAs},
		idle:      func() {},
	}
	c.take(o.Answers)
	if c.read == nil {
		c.read = &Readings{known: map[string]*tool.Reading{}}
	}
	c.read.keepTo(o.KeepReadings)
	if o.Replay != nil {
		if c.replay, err = readRecording(o.Replay); err != nil {
			return nil, fmt.Errorf("configure auditor: %w", err)
		}
		return c, nil
	}
	c.breaker = &breaker{log: o.Logger}
	if o.Provider == Program || o.Provider == Host {
		c.model, c.idle = program{o.Program}, o.Program.Close
		return c, nil
	}
	client := newClient(&o, u)
	c.idle = client.CloseIdleConnections
	c.model = newModel(&o, u, client)
	return c, nil
}

// newModel is the wire that an endpoint speaks.
func newModel(o *Options, u *url.URL, client *http.Client) model {
	switch {
	case o.Provider == Anthropic, o.Wire == Anthropic:
		return newAnthropic(o, u, client)
	case o.Provider == Ollama:
		return newOllama(o, u, client)
	case o.Wire == Gemini:
		return newGenerate(o, u, client)
	case o.Wire == Responses:
		return newResponses(o, u, client)
	}
	return newOpenAI(o, u, client)
}

func (o *Options) fill() {
	def(&o.Timeout, 3*time.Second)
	def(&o.PlanTimeout, 15*time.Second)
	def(&o.ContractWait, 2*time.Second)
	def(&o.MaxConcurrent, 8)
	if o.Provider == Program {
		def(&o.Queue, programQueue)
	}
	def(&o.PerSession, 500)
	def(&o.MaxTokens, 512)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o *Options) check() (*url.URL, error) {
	switch {
	case o.Model == "":
		return nil, errors.New("no model")
	case min(o.Timeout, o.PlanTimeout, o.CacheFor, o.ContractWait, o.Queue) < 0:
		return nil, errors.New("a time is negative")
	case min(o.MaxConcurrent, o.PerSession, o.MaxTokens, o.PerHour, o.PerDay) < 0:
		return nil, errors.New("a limit is negative")
	case o.MaxTokens > maxTokens:
		return nil, fmt.Errorf("more than %d tokens for an answer", maxTokens)
	case o.Record != nil && o.Replay != nil:
		return nil, errors.New("answers are either recorded or replayed")
	case o.Replay != nil:
		return nil, nil
	case strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return nil, errors.New("the key has a blank, a control character or a letter beyond ASCII")
	}
	switch o.Provider {
	case OpenAI:
		return o.baseURL("https://api.openai.com/v1/")
	case Anthropic:
		return o.baseURL("https://api.anthropic.com/")
	case Gemini:
		return o.baseURL("https://generativelanguage.googleapis.com/v1beta/openai/")
	case Ollama:
		return o.baseURL("http://127.0.0.1:11434/")
	case Program, Host:
		if o.Program == nil {
			return nil, errors.New("no program")
		}
		return nil, nil
	case Upstream:
		if o.Lent == nil || o.BaseURL == "" || o.Key != "" || !slices.Contains(Wires(), o.Wire) {
			return nil, errors.New("an upstream is asked at its own address and in its own wire, with a credential that is lent")
		}
		return o.baseURL("")
	}
	return nil, fmt.Errorf("provider %q is none of %s", o.Provider, strings.Join(Providers(), ", "))
}

// baseURL reads the address. It does not repeat it in its errors: it may hold a token.
func (o *Options) baseURL(own string) (*url.URL, error) {
	raw := o.BaseURL
	if raw == "" {
		raw = own
	}
	u, err := outbound.URL(raw)
	if err != nil {
		return nil, err
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("url holds more than scheme, host and path")
	}
	if err := outbound.Exposed(u); err != nil && !o.PlainHTTP {
		return nil, err
	}
	u.Path = strings.TrimRight(u.Path, "/")
	switch {
	case o.Provider == Anthropic, o.Provider == Ollama, o.Wire == Anthropic, o.Wire == Gemini:
		u.Path = strings.TrimSuffix(u.Path, "/v1") // it is part of the paths, or there is none
	case u.Path == "", o.Provider == Upstream && !strings.HasSuffix(u.Path, "/v1"):
		u.Path += "/v1" // what an address without a path means
	}
	u.Path += "/"
	return u, nil
}
