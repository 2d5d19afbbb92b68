package pins

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/tool"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/definitions"
)

// Instructions is what a server's instructions are called where a tool's name would stand. No
// tool can have this name.
const Instructions = definitions.Instructions

// ServerView is a server and how it stands.
type ServerView struct {
	ID       string   `json:"id" doc:"tells servers of one name apart"`
	Name     string   `json:"name"`
	At       string   `json:"at" doc:"its command or address, without secrets"`
	Accepted int      `json:"accepted" doc:"how many tools are accepted"`
	Held     []string `json:"held" doc:"what is hidden until a person accepts it"`
}

// Starts reports whether a server of a name, as policies spell it, was seen that is a program and no address.
func (k *Keeper) Starts(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.state.Servers {
		if tool.Name(s.Server) == name && !strings.Contains(s.At, "://") {
			return true
		}
	}
	return false
}

// Servers are all that were ever seen.
func (k *Keeper) Servers(ctx context.Context) ([]ServerView, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx); err != nil {
		return nil, err
	}
	out := []ServerView{}
	for _, s := range k.state.Servers {
		v := ServerView{ID: s.ID, Name: s.Server, At: s.At, Held: []string{}}
		for name := range s.Accepted {
			if name != "" {
				v.Accepted++
			}
		}
		for _, p := range s.held() {
			v.Held = append(v.Held, title(p.Name))
		}
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b ServerView) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

// held are the held definitions, by name.
func (k *Known) held() []event.Pin {
	return slices.SortedFunc(maps.Values(k.Held), func(a, b event.Pin) int { return cmp.Compare(a.Name, b.Name) })
}

func title(name string) string {
	if name == "" {
		return Instructions
	}
	return name
}

// ReviewView is what a person is asked to look at.
type ReviewView struct {
	ServerView
	Seen  string     `json:"seen" doc:"stands for all of this; give it back when accepting"`
	Items []HeldView `json:"items"`
}

// HeldView is one hidden definition.
type HeldView struct {
	Name     string   `json:"name"`
	Why      string   `json:"why"`
	Warnings []string `json:"warnings"`
	Usable   bool     `json:"usable" doc:"it can be accepted"`
	Seen     string   `json:"seen" doc:"stands for this one alone"`
	Diff     string   `json:"diff" doc:"what is different from what was accepted, or all of it"`
}

// Review shows what is hidden of a server: NAME, or NAME@ID where several have the name. Of
// one tool only, where it is named.
func (k *Keeper) Review(ctx context.Context, server, tool string) (ReviewView, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx); err != nil {
		return ReviewView{}, err
	}
	s, err := k.find(server)
	if err != nil {
		return ReviewView{}, err
	}
	return k.review(s, tool)
}

// review is what is shown of a server now.
// Preconditions: mu is held.
func (k *Keeper) review(s *Known, tool string) (ReviewView, error) {
	v := ReviewView{ServerView: ServerView{ID: s.ID, Name: s.Server, At: s.At, Held: []string{}}, Items: []HeldView{}}
	seen := sha256.New()
	for _, p := range s.held() {
		v.Held = append(v.Held, title(p.Name))
		if tool != "" && tool != title(p.Name) {
			continue
		}
		fmt.Fprintf(seen, "%q %s %s\n", p.Name, p.Hash, p.Rest)
		alone := sha256.New()
		fmt.Fprintf(alone, "%q %s %s\n", p.Name, p.Hash, p.Rest)
		was, known := s.Accepted[p.Name]
		h := HeldView{
			Name: title(p.Name), Why: p.Why, Usable: k.usable(s, p) == nil,
			Warnings: append(warnings(p.Text+p.Hints+p.More), k.mentions(s, p)...),
			Seen:     short(alone),
		}
		if h.Warnings == nil {
			h.Warnings = []string{}
		}
		if s.Versions[p.Name] > 2 {
			h.Warnings = append(h.Warnings, fmt.Sprintf("it was seen in %d versions since", s.Versions[p.Name]))
		}
		h.Diff = difference(was, known, p, s.Other[p.Name])
		v.Items = append(v.Items, h)
	}
	if tool != "" && len(v.Items) == 0 {
		return v, fmt.Errorf("%w: nothing of the server %s that is called %s is hidden", engine.ErrNotFound, s.Server, tool)
	}
	v.Seen = short(seen)
	return v, nil
}

func short(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:12]) }

// mentions says which tools of other servers a definition speaks of.
func (k *Keeper) mentions(s *Known, p event.Pin) []string {
	const shortest = 6 // a shorter name is a word
	var out []string
	said := p.Text + p.Hints + p.More
	for _, other := range k.state.Servers {
		for name := range other.Accepted {
			if other.Server != s.Server && len(name) >= shortest && strings.Contains(said, name) && s.Accepted[name].Name == "" {
				out = append(out, fmt.Sprintf("it speaks of %s, a tool of the server %s", name, other.Server))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// usable is the error for a definition that nobody can accept.
func (k *Keeper) usable(s *Known, p event.Pin) error {
	if p.Name != "" {
		if bad := named(p.Name); bad != "" {
			return errors.New(bad)
		}
		if v := (&viewing{k: k, known: s}).twin(p.Name); v != "" {
			return errors.New(v)
		}
	}
	if p.Text == "" {
		return fmt.Errorf("its definition has more than %d bytes", maxDefinition)
	}
	return nil
}

// find is the server that a person means.
// Preconditions: mu is held.
func (k *Keeper) find(what string) (*Known, error) {
	name, id, _ := strings.Cut(what, "@")
	var found []*Known
	for _, s := range k.state.Servers {
		if s.Server == name && strings.HasPrefix(s.ID, id) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("%w: no server %s was seen yet", engine.ErrNotFound, what)
	}
	ids := make([]string, len(found))
	for i, s := range found {
		ids[i] = name + "@" + s.ID
	}
	slices.Sort(ids)
	return nil, fmt.Errorf("%w: %d servers have this name: say which, one of %s", ErrChoice, len(found), strings.Join(ids, ", "))
}

// Errors of an acceptance.
var (
	ErrChoice = errors.New("it is not clear which server is meant")
	ErrSeen   = errors.New("it is not what was shown: look at it again (tidemark mcp review)")
	ErrUnfit  = errors.New("it cannot be accepted")
)

// Acceptance is what a person wants.
type Acceptance struct {
	Server string // NAME or NAME@ID
	Tool   string // "": all that is hidden and can be accepted
	Seen   string // of the ReviewView they looked at
	By     string
	Via    string
}

// Accept makes what a person looked at the definitions that count, and says which. What
// changed again since they looked is not accepted.
func (k *Keeper) Accept(ctx context.Context, a Acceptance) ([]string, error) {
	if a.By == "" || a.Via == "" {
		return nil, errors.New("accept definitions: nobody says who does")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var names []string
	err := k.record(ctx, func() ([]event.Pins, error) {
		s, err := k.find(a.Server)
		if err != nil {
			return nil, err
		}
		items, err := k.choose(s, a)
		if err != nil {
			return nil, err
		}
		names = names[:0]
		for i := range items {
			items[i].Why = ""
			names = append(names, title(items[i].Name))
		}
		return []event.Pins{{Act: accepted, ID: s.ID, Server: s.Server, At: s.At, Items: items, By: a.By, Via: a.Via}}, nil
	})
	return names, err
}

// choose are the held definitions that an acceptance is for.
// Preconditions: mu is held.
func (k *Keeper) choose(s *Known, a Acceptance) ([]event.Pin, error) {
	v, err := k.review(s, a.Tool)
	if err != nil {
		return nil, err
	}
	if v.Seen != a.Seen {
		return nil, ErrSeen
	}
	work, unfit := s.clone(), errors.New("nothing is hidden")
	var items []event.Pin
	for _, p := range s.held() {
		if a.Tool != "" && a.Tool != title(p.Name) {
			continue
		}
		if err := k.usable(work, p); err != nil { // two of one look must not come in together
			unfit = err
			continue
		}
		work.Accepted[p.Name] = p
		items = append(items, p)
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%w: %w", ErrUnfit, unfit)
	}
	return items, nil
}
