// Package pulse notices a host that stops asking: its record of the conversation shows a call that ran and that no hook was started
// for. It reads the record that the hook named, from where it was left, and nothing else.
//
// Invariants:
//   - a call counts only once the record says that it was carried out: what the host itself refused did not run;
//   - a call is given a while to be told of: hooks and records are written side by side;
//   - what cannot be read says nothing of the host, and is told as such.
package pulse

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// The bounds of what is kept and read.
const (
	maxSessions = 512
	maxRead     = 16 << 20 // bytes of a record at once
	maxCalls    = 4096     // of a session
)

// Book is what was heard of sessions. It is safe for concurrent use; the zero Book has heard nothing.
type Book struct {
	mu    sync.Mutex
	beats map[string]*beat // guarded by mu
}

// beat is one session.
type beat struct {
	record string
	from   int64                // read up to here
	asked  map[string]bool      // calls that a hook was started for
	ran    map[string]time.Time // calls in the record that nobody asked about, and when they were first seen
	last   time.Time
	told   bool
}

// Heard notes an event of a session: where its host keeps the record of the conversation, and the call it asks about, if any.
func (b *Book) Heard(session, record, call string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.beats[session]
	if s == nil {
		if record == "" {
			return // it says of no session where its record is
		}
		if b.beats == nil {
			b.beats = map[string]*beat{}
		}
		if len(b.beats) >= maxSessions {
			b.forget()
		}
		s = &beat{record: record, asked: map[string]bool{}, ran: map[string]time.Time{}}
		if info, err := os.Stat(record); err == nil {
			s.from = info.Size() // what was before it nobody was there to hear
		}
		b.beats[session] = s
	}
	if s.last = now; call != "" && len(s.asked) < maxCalls {
		s.asked[call] = true
	}
}

// forget drops the session that was silent longest.
// Preconditions: mu is held.
func (b *Book) forget() {
	oldest := ""
	for name, s := range b.beats {
		if oldest == "" || s.last.Before(b.beats[oldest].last) {
			oldest = name
		}
	}
	delete(b.beats, oldest)
}

// Silent is a session whose host ran a call without asking.
type Silent struct{ Session, Call string }

// String is what people are told.
func (s Silent) String() string {
	return fmt.Sprintf("its host ran a call (%.80s) that no hook was asked about: hooks were taken out, or no longer decide", s.Call)
}

// Look reads what is new in the records and returns the sessions that turned silent, each once. A call is given the grace to be told of.
func (b *Book) Look(now time.Time, grace time.Duration) []Silent {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Silent
	for name, s := range b.beats {
		if s.told {
			continue
		}
		s.read(now)
		for call, seen := range s.ran {
			if s.asked[call] || len(s.asked) >= maxCalls {
				delete(s.ran, call)
			} else if now.Sub(seen) >= grace {
				out, s.told = append(out, Silent{name, call}), true
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b Silent) int { return bytes.Compare([]byte(a.Session), []byte(b.Session)) })
	return out
}

// read takes in the whole lines that were added to the record.
func (s *beat) read(now time.Time) {
	f, err := os.Open(s.record)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == s.from {
		return
	}
	if info.Size() < s.from { // written anew
		s.from = 0
	}
	raw, err := io.ReadAll(io.NewSectionReader(f, s.from, maxRead))
	if err != nil {
		return
	}
	end := bytes.LastIndexByte(raw, '\n') + 1
	if end == 0 && len(raw) == maxRead {
		end = len(raw) // a line beyond all bounds
	}
	s.from += int64(end)
	for line := range bytes.Lines(raw[:end]) {
		for _, call := range append(ended(line), completed(line)...) {
			if _, known := s.ran[call]; !known && !s.asked[call] && len(s.ran) < maxCalls {
				s.ran[call] = now
			}
		}
	}
}

// ended are the calls whose results a line of a record holds, without errors.
func ended(line []byte) []string {
	if !bytes.Contains(line, []byte("tool_result")) {
		return nil
	}
	var l struct {
		Message struct {
			Content strictjson.Value `json:"content"`
		} `json:"message"`
	}
	if strictjson.Unmarshal(line, &l) != nil || l.Message.Content.Kind() != '[' {
		return nil
	}
	var parts []struct {
		Type  string `json:"type"`
		ID    string `json:"tool_use_id"`
		Error bool   `json:"is_error"`
	}
	if strictjson.Unmarshal(l.Message.Content, &parts) != nil {
		return nil
	}
	var out []string
	for _, p := range parts {
		if p.Type == "tool_result" && p.ID != "" && !p.Error {
			out = append(out, p.ID)
		}
	}
	return out
}

// completed are the calls that a line of Codex's record says were carried out: commands that its model began, and patches. What a
// person typed, and what was typed into a program that runs already, are other sources; those start no hook.
func completed(line []byte) []string {
	if !bytes.Contains(line, []byte("item_completed")) {
		return nil
	}
	var l struct {
		Type    string `json:"type"`
		Payload struct {
			Type string `json:"type"`
			Item struct {
				Type   string `json:"type"`
				ID     string `json:"id"`
				Source string `json:"source"`
				Status string `json:"status"`
			} `json:"item"`
		} `json:"payload"`
	}
	if strictjson.Unmarshal(line, &l) != nil || l.Type != "event_msg" || l.Payload.Type != "item_completed" {
		return nil
	}
	switch item := l.Payload.Item; {
	case item.ID == "" || item.Status != "completed" && item.Status != "failed":
	case item.Type == "FileChange", item.Type == "CommandExecution" && (item.Source == "agent" || item.Source == "unified_exec_startup"):
		return []string{item.ID}
	}
	return nil
}
