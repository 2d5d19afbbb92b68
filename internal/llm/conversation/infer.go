package conversation

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
)

// Where the client names no conversation it is named after how it begins. Many begin with the
// same message: each of them that was answered, or is being answered, has a session of its own,
// and what the model said then tells them apart.

// startKind is the kind of a record that leads from the beginning of a conversation to its session.
const startKind engine.RecalledKind = promptKind + 1

// start is how a conversation began that nobody named.
type start struct {
	first  tool.Digest // its first message
	suffix uint64      // what tells it from others that begin with the same
}

// infer finds the session that the conversation began, or the one that a message of it was
// seen in: clients cut off the beginning of long ones.
// Preconditions: f.mu is held.
func (e *entry) infer() error {
	first := e.firstMessage()
	if first == nil {
		e.enter(e.scoped("empty"))
		return nil
	}
	sum := sumOf(first)
	begin := tool.DigestOf(append(sum[:], e.r.Hints.User...))
	suffix, known := e.suffix(begin)
	name := e.beginning(begin, suffix)
	s, here := e.f.sessions.get(e.sessionKey(name))
	switch {
	case e.begins():
		if _, answered := e.past.suffixOf(begin, tool.Digest{}); answered || here && s.visits > 0 {
			var raw [8]byte
			if _, err := rand.Read(raw[:]); err != nil {
				return fmt.Errorf("name session: %w", err)
			}
			suffix = binary.LittleEndian.Uint64(raw[:])
			name = e.beginning(begin, suffix)
		}
	case !here && !known:
		if s, ok := e.f.places.get(placeKey{e.place(), sum}); ok {
			e.enter(s.name)
			return nil
		}
	}
	e.enter(name)
	e.start = start{begin, suffix}
	return nil
}

func (e *entry) beginning(begin tool.Digest, suffix uint64) string {
	name := hex.EncodeToString(begin[:8])
	if suffix != 0 {
		name += fmt.Sprintf("-%016x", suffix)
	}
	return e.scoped(name)
}

func (e *entry) firstMessage() *format.Message {
	for i := range e.messages {
		if e.messages[i].Role != format.System {
			return &e.messages[i]
		}
	}
	return nil
}

// begins reports whether no model has spoken in the request.
func (e *entry) begins() bool {
	for i := range e.messages {
		if e.messages[i].Role == format.Assistant {
			return false
		}
	}
	return true
}

// suffix finds the conversation by what the model said first in it.
func (e *entry) suffix(begin tool.Digest) (uint64, bool) {
	spoken := false
	for i := range e.messages {
		if e.messages[i].Role != format.Assistant {
			if spoken {
				break
			}
			continue
		}
		spoken = true
		for j := range e.messages[i].Parts {
			if d, ok := said(&e.messages[i].Parts[j]); ok {
				if n, ok := e.past.suffixOf(begin, d); ok {
					return n, true
				}
			}
		}
	}
	return 0, false
}

// said is what a part of an answer is known by among those to the same message.
func said(p *format.Part) (tool.Digest, bool) {
	switch {
	case p.Kind == format.Call && p.CallID != "":
		return tool.DigestOf([]byte("call " + p.CallID)), true
	case p.Kind == format.Stored:
		return tool.DigestOf([]byte("item " + p.CallID)), true
	case p.Kind == format.Text || p.Kind == format.Thinking:
		return answerDigest(p.Text), trimmed(p.Text) != ""
	}
	return tool.Digest{}, false
}

// suffixOf finds the session that began with a message and went on with an answer; the zero
// digest asks whether any did.
func (p *past) suffixOf(begin, answer tool.Digest) (suffix uint64, ok bool) {
	key := p.key(startKind, tool.DigestOf(append(begin[:], answer[:]...)))
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.starts.get(key)
}

// started notes how a session went on.
func (p *past) started(s start, answer tool.Digest) {
	key := p.key(startKind, tool.DigestOf(append(s.first[:], answer[:]...)))
	p.mu.Lock()
	p.starts.put(key, s.suffix)
	p.mu.Unlock()
	if p.keeper != nil {
		p.keeper.Keep(kept{tenant: p.tenant, kind: startKind, key: key, rate: 1, sums: []uint64{s.suffix}}.record())
	}
}

// noteStart notes how the conversation goes on, where it has only just begun.
func (v *Visit) noteStart(parts []format.Part, items []string) {
	s := v.start
	if s.first == (tool.Digest{}) || v.at.spoken && v.begun == "" {
		return
	}
	v.past.started(s, tool.Digest{})
	for _, text := range outputs(parts, v.begun) {
		v.past.started(s, answerDigest(text))
	}
	for i := range parts {
		if d, ok := said(&parts[i]); ok && parts[i].Kind == format.Call {
			v.past.started(s, d)
		}
	}
	for _, id := range items {
		d, _ := said(&format.Part{Kind: format.Stored, CallID: id})
		v.past.started(s, d)
	}
}

// Leave says that the request is over, answered or not. Another one like it is then a new
// try, and before it somebody else's.
func (v *Visit) Leave() {
	v.f.mu.Lock()
	v.session.visits--
	v.f.mu.Unlock()
	v.session.mu.Lock()
	v.at.open--
	v.session.mu.Unlock()
}
