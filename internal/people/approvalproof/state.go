package approvalproof

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/event"
)

// State is what the log of people says: a fold over its records.
type State struct {
	Version   uint64
	Keys      []event.Key
	Secret    string // salt and hash of the typed one; empty: none is set
	Forgotten int64  // when all keys were last forgotten by force, Unix nanoseconds; 0: never
	Refused   int    // sign-ins that were refused so far

	tokens []Token // of people, by name; replaced, never changed

	owners map[string]string // who enrolled a key, by its ID; replaced, never changed

	machines []Invited           // who may join; replaced, never changed
	invites  []KeyInvite         // who may enrol a key; replaced, never changed
	codes    map[string][]string // hashes of recovery codes, by whose they are; replaced, never changed
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
			s.uninvited(p.By)
			s.spent(p.By, p.Token)
		}
	case "key-invited":
		s.keyInvited(p, e.Time)
	case "key-uninvited":
		s.uninvited(p.Detail)
	case "codes":
		s.setCodes(p.By, strings.Split(p.Secret, ","))
	case "removed":
		if p.Key != nil {
			s.Keys = slices.DeleteFunc(slices.Clone(s.Keys), func(k event.Key) bool { return k.ID == p.Key.ID })
		}
	case "secret":
		s.Secret = p.Secret
	case "forgotten":
		s.Keys, s.Secret, s.Forgotten, s.invites, s.codes = nil, "", e.Time, nil, nil
	case "refused":
		s.Refused++
	case "machine-invited", "machine-joined":
		s.machine(p)
	case "token-added", "token-revoked":
		s.token(p, e.Time)
	}
}

// Token is a token of somebody's own, as the log keeps it where several servers take it.
type Token struct {
	Role, Name string
	Agent      string // whose it is, where the role is an agent's
	Machine    string // whose it is, where that is another machine
	Hash       string // SHA-256 of it, hex
	Made       int64  // Unix nanoseconds
}

// token notes that somebody's token came or went. Who has one gets no second by the same name.
func (s *State) token(p *event.Person, at int64) {
	role, name, _ := strings.Cut(p.Detail, ":")
	has := slices.ContainsFunc(s.tokens, func(t Token) bool { return t.Name == name })
	switch {
	case p.Act == "token-revoked":
		s.tokens = slices.DeleteFunc(slices.Clone(s.tokens), func(t Token) bool { return t.Name == name })
	case p.Token != "" && !has:
		s.tokens = append(slices.Clone(s.tokens), Token{role, name, p.Agent, p.Machine, p.Token, at})
	}
}

func (s *State) key(id string) *event.Key {
	i := slices.IndexFunc(s.Keys, func(k event.Key) bool { return k.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Keys[i]
}
