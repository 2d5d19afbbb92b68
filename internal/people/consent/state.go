package consent

import (
	"maps"
	"slices"

	"github.com/tidemark/tidemark/event"
)

// State is what the log of people says: a fold over its records.
type State struct {
	Version   uint64
	Keys      []event.Key
	Secret    string // salt and hash of the typed one; empty: none is set
	Forgotten int64  // when all keys were last forgotten by force, Unix nanoseconds; 0: never
	Refused   int    // sign-ins that were refused so far

	owners map[string]string // who enrolled a key, by its ID; replaced, never changed
}

// Apply folds one record.
func (s *State) Apply(e *event.Event) {
	s.Version++
	p := e.Person
	if p == nil {
		return
	}
	switch p.Act {
	case "enrolled":
		if p.Key != nil {
			s.Keys = append(s.Keys, *p.Key)
			owners := maps.Clone(s.owners)
			if owners == nil {
				owners = map[string]string{}
			}
			owners[p.Key.ID], s.owners = p.By, owners
		}
	case "removed":
		if p.Key != nil {
			s.Keys = slices.DeleteFunc(slices.Clone(s.Keys), func(k event.Key) bool { return k.ID == p.Key.ID })
		}
	case "secret":
		s.Secret = p.Secret
	case "forgotten":
		s.Keys, s.Secret, s.Forgotten = nil, "", e.Time
	case "refused":
		s.Refused++
	}
}

func (s *State) key(id string) *event.Key {
	i := slices.IndexFunc(s.Keys, func(k event.Key) bool { return k.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Keys[i]
}
