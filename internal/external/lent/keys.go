package lent

import (
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/external/auditor"
)

//go:embed keys.json
var keyForms []byte

// keyForm is what an API key looks like, and where it stands.
type keyForm struct {
	Header string `json:"header"`
	Scheme string `json:"scheme"` // before it
	Form   string `json:"form"`
}

// wheres are the headers in which clients and their logins send credentials. A request that has another one beside the API key is
// not one that a key alone was meant for.
var wheres = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", "Chatgpt-Account-Id", "Proxy-Authorization"}

// Key is the header that an API key stands in, alone, with what the API wants beside it; nil: there is none that is known to be one.
// A login of a subscription is none: it was given to the program that has it, and to nobody else.
func (k *Keys) Key(api string, h http.Header) http.Header {
	var out http.Header
	for _, f := range k.forms[api] {
		values := h.Values(f.Header)
		if len(values) != 1 {
			continue
		}
		if key, ok := strings.CutPrefix(values[0], f.Scheme); ok && f.pattern.MatchString(key) {
			out = http.Header{f.Header: {values[0]}}
		}
	}
	for _, w := range wheres {
		if out != nil && len(h.Values(w)) > 0 && out.Get(w) == "" {
			return nil
		}
	}
	if out != nil && api == auditor.OpenAI {
		for _, name := range []string{"Openai-Organization", "Openai-Project"} {
			if v := h.Get(name); v != "" {
				out.Set(name, v)
			}
		}
	}
	return out
}

// form is a keyForm that was read.
type form struct {
	keyForm

	pattern *regexp.Regexp
}

// Keys are the credentials of requests that run. They are nowhere but in memory, and gone when their request is.
type Keys struct {
	forms map[string][]form

	mu       sync.Mutex
	lent     map[string]*loan // guarded by mu; by session
	sessions map[string]at    // guarded by mu; where they ask, without any credential
	order    []string         // guarded by mu; of sessions, oldest first
}

// at is where a session asks.
type at struct{ upstream, wire string }

// loan is what the requests of a session brought.
type loan struct {
	at

	header http.Header // nil: no API key
	users  int
}

// NewKeys reads the forms of keys.
func NewKeys() (*Keys, error) {
	var raw map[string]strictjson.Value
	if err := strictjson.Unmarshal(keyForms, &raw); err != nil {
		return nil, fmt.Errorf("read forms of keys: %w", err)
	}
	k := &Keys{forms: map[string][]form{}, lent: map[string]*loan{}, sessions: map[string]at{}}
	for api, list := range raw {
		if api == "about" {
			continue
		}
		var forms []keyForm
		if err := strictjson.UnmarshalKnown(list, &forms); err != nil {
			return nil, fmt.Errorf("read forms of keys of %s: %w", api, err)
		}
		for _, f := range forms {
			p, err := regexp.Compile(f.Form)
			if err != nil {
				return nil, fmt.Errorf("read forms of keys of %s: %w", api, err)
			}
			k.forms[api] = append(k.forms[api], form{f, p})
		}
	}
	return k, nil
}

// Request is one that a client sends to an upstream.
type Request struct {
	Session  string
	Upstream string      // its name in the file
	API      string      // openai, anthropic or gemini
	Wire     string      // one of auditor.Wires
	Header   http.Header // as it goes out
}

// Lend has a session's questions asked with the credential of its request, until back is called.
func (k *Keys) Lend(r Request) (back func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, where := k.Key(r.API, r.Header), at{r.Upstream, r.Wire}
	k.place(r.Session, where)
	l := k.lent[r.Session]
	if l == nil || l.at != where {
		l = &loan{at: where}
		k.lent[r.Session] = l
	}
	l.header = key
	l.users++
	return sync.OnceFunc(func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.users--; l.users == 0 {
			l.header = nil
			if k.lent[r.Session] == l {
				delete(k.lent, r.Session)
			}
		}
	})
}

// place needs mu.
func (k *Keys) place(session string, where at) {
	if _, known := k.sessions[session]; !known {
		if len(k.order) >= maxSessions {
			delete(k.sessions, k.order[0])
			k.order = k.order[1:]
		}
		k.order = append(k.order, session)
	}
	k.sessions[session] = where
}

var (
	errNotLent = errors.New("no request of this session is under way, so there is no credential to ask with")
	errNoKey   = errors.New("the client's credential is not known to be an API key, and a login is not used")
)

// Of are the headers that a session's questions to an upstream are asked with.
func (k *Keys) Of(upstream, wire string) func(session string) (http.Header, error) {
	return func(session string) (http.Header, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		switch l := k.lent[session]; {
		case l == nil || l.at != at{upstream, wire}:
			return nil, fmt.Errorf("%w: %w", auditor.ErrNoAnswer, errNotLent)
		case l.header == nil:
			return nil, fmt.Errorf("%w: %w", auditor.ErrNoAnswer, errNoKey)
		default:
			return l.header.Clone(), nil
		}
	}
}

// where is where a session asks.
func (k *Keys) where(session string) (at, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a, ok := k.sessions[session]
	return a, ok
}
