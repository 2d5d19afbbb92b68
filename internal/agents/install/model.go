package install

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// model is a scripted model: it asks once for one shell command, in the wire format of
// whoever asks, and then says it is done. It remembers what it was told about the result.
type model struct {
	command string

	mu    sync.Mutex
	asked bool
	told  string
	heard int // requests
}

func (m *model) seen() (asked bool, told string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked, m.told
}

// signs are how often it was asked for anything.
func (m *model) signs() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heard
}

// maxRequest bounds what an agent may send to the model.
const maxRequest = 32 << 20

// ServeHTTP answers every path, so that agents that look around find nothing odd.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.heard++
	m.mu.Unlock()
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var q question
	_ = json.Unmarshal(raw, &q) // what cannot be read holds no tools
	switch path := r.URL.Path; {
	case r.Method != http.MethodPost:
		reply(w, `{"object":"list","data":[],"models":[]}`)
	case strings.HasSuffix(path, "/count_tokens"):
		reply(w, `{"input_tokens":10}`)
	case strings.HasSuffix(path, ":countTokens"):
		reply(w, `{"totalTokens":5}`)
	case strings.HasSuffix(path, "/messages"):
		m.anthropic(w, &q)
	case strings.HasSuffix(path, "/responses"):
		m.responses(w, &q)
	case strings.HasSuffix(path, "/chat/completions"):
		m.chat(w, &q)
	case strings.HasSuffix(path, "enerateContent"):
		m.gemini(w, path, &q)
	default:
		reply(w, `{}`)
	}
}

// question is what the formats have in common, taken together.
type question struct {
	Stream   bool              `json:"stream"`
	Messages []json.RawMessage `json:"messages"`
	Input    json.RawMessage   `json:"input"`
	Contents []json.RawMessage `json:"contents"`
	Config   struct {
		Schema  json.RawMessage `json:"responseSchema"`
		Schema2 json.RawMessage `json:"responseJsonSchema"`
	} `json:"generationConfig"`
	Tools []struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
		Declared []struct {
			Name string `json:"name"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

// shell is the tool to ask for: the first of the names that the agent offers.
func (q *question) shell(names ...string) string {
	offered := map[string]bool{}
	for _, t := range q.Tools {
		offered[t.Name], offered[t.Function.Name] = true, true
		for _, d := range t.Declared {
			offered[d.Name] = true
		}
	}
	for _, n := range names {
		if offered[n] {
			return n
		}
	}
	return ""
}

// due reports whether the command is still to be asked for, and notes the result.
func (m *model) due(tool string, conversation []byte, marks ...string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, mark := range marks {
		if at := strings.LastIndex(string(conversation), mark); at >= 0 {
			m.told = string(conversation[at:])
			return false
		}
	}
	if tool == "" {
		return false
	}
	m.asked = true
	return true
}

func whole(parts []json.RawMessage) []byte {
	var b strings.Builder
	for _, p := range parts {
		b.Write(p)
	}
	return []byte(b.String())
}

func reply(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body) // the agent went away: it is seen in what it printed
}

// stream writes server-sent events; a name of "" leaves the event line out.
type stream struct{ w http.ResponseWriter }

func newStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Connection", "close")
	return stream{w}
}

func (s stream) send(name string, v any) {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return // our own maps: it cannot fail
	}
	if name != "" {
		fmt.Fprintf(s.w, "event: %s\n", name)
	}
	fmt.Fprintf(s.w, "data: %s\n\n", raw)
}

type object = map[string]any
