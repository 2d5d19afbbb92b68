package conversation

import (
	"slices"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// Owe notes that the provider waits for these calls of an answer, which were refused. Whoever
// goes on from the answer, or in its conversation, finds them in Visit.Owed.
func (f *Follower) Owe(tenant, id string, owed []format.Owed) {
	if id == "" || len(owed) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key := answerKey{tenant, id}
	old, _ := f.owed.get(key)
	f.owed.put(key, append(without(old, owed), owed...))
}

// Settle notes that the provider of a conversation has got what it waited for. An answer by
// its id waits for ever: it can be gone on from more than once.
func (f *Follower) Settle(tenant, id string, owed []format.Owed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := answerKey{tenant, id}
	if old, ok := f.owed.get(key); ok {
		f.owed.put(key, without(old, owed))
	}
}

// without are the calls of list that are not among others.
func without(list, others []format.Owed) []format.Owed {
	return slices.DeleteFunc(slices.Clone(list), func(o format.Owed) bool {
		return slices.ContainsFunc(others, func(p format.Owed) bool { return p.CallID == o.CallID })
	})
}

// owes are the calls that the request leaves open: those the provider waits for and the
// client sends nothing for.
func (e *entry) owes() []format.Owed {
	if e.r.Hints.Previous == "" {
		return nil
	}
	e.f.mu.Lock()
	open, _ := e.f.owed.get(answerKey{e.who.Tenant, e.r.Hints.Previous})
	e.f.mu.Unlock()
	if len(open) == 0 {
		return nil
	}
	sent := map[string]bool{}
	for i := range e.messages {
		for j := range e.messages[i].Parts {
			if p := &e.messages[i].Parts[j]; p.Kind == format.Result || p.Kind == format.Approval {
				sent[p.CallID] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(open), func(o format.Owed) bool { return sent[o.CallID] })
}
