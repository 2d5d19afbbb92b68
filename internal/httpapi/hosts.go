package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// A host that could not load its plugin goes on without it and says little. So the
// plugin gives signs of life, and whoever looks can notice the silence. The signs are
// kept in memory only: after a restart nobody has been heard yet. They say what their
// sender says of itself; they open nothing.

// The bounds of what hosts may say. More hosts than that: the one silent longest is
// forgotten.
const (
	maxHosts    = 256
	maxHostWord = 120
	maxHookList = 100
)

// beat is what a plugin says of itself.
type beat struct {
	Host          string   `json:"host" doc:"the program that loaded the plugin, e.g. openclaw"`
	Version       string   `json:"version,omitempty" doc:"of the host"`
	PluginVersion string   `json:"pluginVersion,omitempty"`
	Hooks         []string `json:"hooks,omitempty" doc:"the hooks that are active"`
	Every         int64    `json:"everySeconds,omitempty" doc:"when to expect the next one" minimum:"0" maximum:"86400"`
}

// check refuses what would not fit on a line.
func (b *beat) check(id string) error {
	words := append([]string{id, b.Host, b.Version, b.PluginVersion}, b.Hooks...)
	for _, w := range words {
		if len(w) > maxHostWord || !utf8.ValidString(w) || strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return badRequest("a name is longer than a line or holds characters that do not print")
		}
	}
	switch {
	case id == "" || b.Host == "":
		return badRequest("body.host: a host needs a name")
	case len(b.Hooks) > maxHookList:
		return badRequest("body.hooks: too many")
	}
	return nil
}

// heard is the last beat of a host.
type heard struct {
	beat
	at time.Time
}

// hosts remembers the last beat of each. The zero value has heard nobody.
type hosts struct {
	mu   sync.Mutex
	last map[string]heard // guarded by mu
}

func (h *hosts) hear(id string, b beat, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil {
		h.last = map[string]heard{}
	}
	h.last[id] = heard{b, now}
	if len(h.last) <= maxHosts {
		return
	}
	oldest := id
	for other, b := range h.last {
		if b.at.Before(h.last[oldest].at) {
			oldest = other
		}
	}
	delete(h.last, oldest)
}

// defaultEvery is how often a host is expected that does not say; silentAfter is how
// many beats may be missing before it counts as silent.
const (
	defaultEvery = 30 * time.Second
	silentAfter  = 3
)

// hostRow is a host as people look at it.
type hostRow struct {
	ID            string    `json:"id"`
	Host          string    `json:"host"`
	Version       string    `json:"version,omitzero" doc:"of the host"`
	PluginVersion string    `json:"pluginVersion,omitzero"`
	Hooks         []string  `json:"hooks" doc:"the hooks it says are active"`
	Every         int64     `json:"everySeconds" doc:"how often it is expected"`
	Last          time.Time `json:"last" doc:"when it was heard last"`
	Age           int64     `json:"ageSeconds"`
	Silent        bool      `json:"silent" doc:"three beats or more are missing: its calls may run unguarded"`
}

func (h *hosts) rows(now time.Time) []hostRow {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]hostRow, 0, len(h.last))
	for id, b := range h.last {
		every := defaultEvery
		if b.Every > 0 {
			every = time.Duration(b.Every) * time.Second
		}
		age := max(now.Sub(b.at), 0)
		out = append(out, hostRow{
			ID: id, Host: b.Host, Version: b.Version, PluginVersion: b.PluginVersion, Hooks: append([]string{}, b.Hooks...),
			Every: int64(every / time.Second), Last: b.at.UTC(), Age: int64(age / time.Second), Silent: age >= silentAfter*every,
		})
	}
	slices.SortFunc(out, func(a, b hostRow) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (m *management) hostRoutes() {
	route(m, operation{http.MethodPost, "/v1/hosts/{id}/beat", "beat", "A plugin in a host is alive"}, m.hearBeat)
}

type beatHeard struct {
	Heard   bool   `json:"heard"`
	Version string `json:"version" doc:"of this server"`
}

func (m *management) hearBeat(_ context.Context, in *struct {
	ID   string `path:"id" doc:"the host, by a name of its own choice"`
	Body beat
}) (beatHeard, error) {
	if err := in.Body.check(in.ID); err != nil {
		return beatHeard{}, err
	}
	m.hosts.hear(in.ID, in.Body, m.now())
	return beatHeard{Heard: true, Version: m.version}, nil
}
