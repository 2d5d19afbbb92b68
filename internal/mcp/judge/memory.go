package judge

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// Memory is what the gate of one server keeps from one request to the next: results that come later,
// calls that the server asked something about, questions that were put to clients. It is safe for
// concurrent use.
type Memory struct {
	key  []byte // of the states we sign
	name string // of this start, for ids of calls
	n    atomic.Uint64

	mu     sync.Mutex
	tasks  calls                        // guarded by mu; whose result comes later, by the task
	rounds calls                        // guarded by mu; that the server has asked something about, by its state
	used   map[string]bool              // guarded by mu; states that were answered
	pages  map[string][]tool.Definition // guarded by mu; what the server offers, by cursor
	lists  map[string]tool.Definition   // guarded by mu; what it lists besides, by what it says
	told   map[string]bool              // guarded by mu; sessions that know of it
	held   []string                     // guarded by mu; tools whose results are kept from agents
}

// NewMemory is an empty one.
func NewMemory() (*Memory, error) {
	drawn := make([]byte, sha256.Size+8)
	if _, err := rand.Read(drawn); err != nil {
		return nil, err
	}
	m := &Memory{key: drawn[8:], name: "mcp-" + hex.EncodeToString(drawn[:8]) + "-"}
	m.tasks, m.rounds, m.used = calls{by: map[string]*request{}}, calls{by: map[string]*request{}}, map[string]bool{}
	m.pages, m.lists, m.told = map[string][]tool.Definition{}, map[string]tool.Definition{}, map[string]bool{}
	return m, nil
}

// newID names a call that its client has not named.
func (m *Memory) newID() string { return m.name + strconv.FormatUint(m.n.Add(1), 10) }

// bounded makes space in a table that would grow without end: what is forgotten is judged anew.
func bounded[V any](table map[string]V) {
	if len(table) < maxOpen {
		return
	}
	for key := range table {
		delete(table, key)
		if len(table) <= maxOpen/2 {
			return
		}
	}
}

// calls are requests that something is still to come of. There are at most maxOpen, with arguments of at most
// maxKept bytes together, or a single larger one: what is forgotten is judged anew.
type calls struct {
	by    map[string]*request
	bytes int
}

const maxKept = 64 << 20

func (c *calls) put(key string, r *request) {
	c.drop(key)
	size := len(r.call.Args)
	for other := range c.by {
		if len(c.by) < maxOpen && c.bytes+size <= maxKept {
			break
		}
		c.drop(other)
	}
	c.by[key] = r
	c.bytes += size
}

func (c *calls) drop(key string) {
	if r := c.by[key]; r != nil {
		c.bytes -= len(r.call.Args)
		delete(c.by, key)
	}
}

func (m *Memory) keepTask(id string, r *request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tasks.put(id, r)
}

func (m *Memory) task(id string) *request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tasks.by[id]
}

// keepRound remembers a call that left and was answered with a question: it is repeated with the
// answer, under the permit it had.
func (m *Memory) keepRound(r *request, state []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rounds.put(roundKey(r, state), r)
}

// takeRound is the earlier round of the same call, once.
func (m *Memory) takeRound(r *request, state []byte) *request {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := roundKey(r, state)
	earlier := m.rounds.by[key]
	m.rounds.drop(key)
	return earlier
}

func roundKey(r *request, state []byte) string {
	digest := r.call.Digest()
	return string(digest[:]) + r.place.Session + "\x00" + r.place.Branch + "\x00" + string(state)
}

// list notes one page of what the server offers; the first one begins anew.
func (m *Memory) list(cursor string, defs []tool.Definition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if cursor == "" {
		clear(m.pages)
	}
	bounded(m.pages)
	m.pages[cursor] = defs
	clear(m.told)
}

// untold is what the server offers, where a session does not know of it yet.
func (m *Memory) untold(session string) []tool.Definition {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.told[session] {
		return nil
	}
	bounded(m.told)
	m.told[session] = true
	out := append([]tool.Definition{}, slices.Collect(maps.Values(m.lists))...) // first: of too many tools the last are left out
	for _, page := range m.pages {
		out = append(out, page...)
	}
	return out
}

// maxLists bounds how many pages of other listings are kept.
const maxLists = 64

// keepList remembers a page of a listing of resources or prompts as if it were a definition: of a tool with a name that
// none can have. It reports whether there was room; a page that is not kept must be taken for content.
func (m *Memory) keepList(server, method string, result []byte) bool {
	var words strings.Builder
	for _, leaf := range strictjson.Flat(string(result)) { // as values stand in arguments, not as JSON spells them
		words.WriteString(leaf.Path + " " + leaf.Text + "\n")
	}
	text := words.String()
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.lists[text]; known {
		return true
	}
	if len(m.lists) >= maxLists || len(text) > maxListed {
		return false
	}
	m.lists[text] = tool.Definition{Name: fmt.Sprintf("%s(%s %d)", ToolName(server, ""), method, len(m.lists)), Description: text}
	clear(m.told)
	return true
}

// maxListed bounds one page.
const maxListed = 256 << 10

// Schema is what the server says of the arguments of a tool, by the server's own name for it; nil where it has not been
// listed here.
func (m *Memory) Schema(server, name string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, page := range m.pages {
		for i := range page {
			if page[i].Name == ToolName(server, name) {
				return page[i].Schema
			}
		}
	}
	return nil
}

// forget lets a session be told again.
func (m *Memory) forget(session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.told, session)
}

// forgetAll lets every session be told again.
func (m *Memory) forgetAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.told)
}

// state is what we hand a client with a question, and get back with the answer. It comes back from
// anybody, so that it is signed, and good once.
type state struct {
	Question string      `json:"q"`
	Session  string      `json:"s"`
	Branch   string      `json:"b,omitzero"`
	Digest   tool.Digest `json:"d"`
	Asked    time.Time   `json:"t"`
	Until    time.Time   `json:"u"`
}

// stateMark begins what is ours.
const stateMark = "tidemark."

// sign is a state as a JSON string.
func (m *Memory) sign(s state) ([]byte, error) {
	body, err := strictjson.Marshal(s)
	if err != nil {
		return nil, err
	}
	text := base64.RawURLEncoding.EncodeToString(body)
	return []byte(`"` + stateMark + text + "." + base64.RawURLEncoding.EncodeToString(m.mac(text)) + `"`), nil
}

func (m *Memory) mac(text string) []byte {
	h := hmac.New(sha256.New, m.key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// isOurs reports whether a state claims to be one of ours.
func isOurs(raw []byte) bool { return strings.HasPrefix(string(raw), `"`+stateMark) }

// open takes a state back: it must be ours, of this very call, in time and for the first time.
func (m *Memory) open(raw []byte, r *request, now time.Time) (state, bool) {
	text, mac, ok := strings.Cut(strings.Trim(strings.TrimPrefix(string(raw), `"`+stateMark), `"`), ".")
	given, err := base64.RawURLEncoding.DecodeString(mac)
	if !ok || err != nil || !hmac.Equal(given, m.mac(text)) {
		return state{}, false
	}
	body, err := base64.RawURLEncoding.DecodeString(text)
	var s state
	if err != nil || strictjson.UnmarshalKnown(body, &s) != nil {
		return state{}, false
	}
	if s.Digest != r.call.Digest() || s.Session != r.place.Session || s.Branch != r.place.Branch || now.After(s.Until) {
		return state{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used[mac] {
		return state{}, false
	}
	bounded(m.used)
	m.used[mac] = true
	return s, true
}
