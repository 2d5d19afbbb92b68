// Package pulse notices a host that stops asking: its record of the conversation shows a call that ran and that no hook was started
// for. It reads the record that the hook named, from where it was left, and nothing else.
//
// Invariants:
//   - a call counts only once the record says that it was carried out: what the host itself refused did not run;
//   - a call is given a while to be told of: hooks and records are written side by side;
//   - where hooks have no ids of calls, one that was let run stands for one in the record that says the same, and for no second. A
//     command that was sent into a box is in some records as the line that sends it there: it says what that line has run;
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
)

// The bounds of what is kept and read.
const (
	maxSessions = 512
	maxRead     = 16 << 20 // bytes of a record at once
	maxCalls    = 4096     // of a session
)

// Book is what was heard of sessions. It is safe for concurrent use; the zero Book has heard nothing.
type Book struct {
	// Unbox is the command that a line of ours has run in a box, of records that hold such a line in place of what the model wrote; nil: it
	// knows none.
	Unbox func(line string) (command string, ok bool)

	mu    sync.Mutex
	beats map[string]*beat // guarded by mu
}

// beat is one session.
type beat struct {
	record string
	from   int64           // read up to here
	asked  map[string]bool // calls that a hook was started for
	let    map[string]int  // calls that were let run, by what they say, and how often more than the record has them
	lets   int             // how many in all
	ran    map[string]ran  // calls in the record that nobody asked about
	known  map[string]bool // calls in the record that were found to be asked about
	rest   names           // what lines of the record say that later ones refer to
	unbox  func(string) (string, bool)
	last   time.Time
	told   bool
}

// ran is a call that was carried out, by the record.
type ran struct {
	sum   string // what it says; "": its hook has its id
	first time.Time
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
		s = &beat{
			record: record, asked: map[string]bool{}, let: map[string]int{}, ran: map[string]ran{}, known: map[string]bool{}, rest: names{},
			unbox: b.Unbox,
		}
		if stored(record) {
			s.from = now.UnixMilli()
		} else if info, err := os.Stat(record); err == nil {
			s.from = info.Size() // what was before it nobody was there to hear
		}
		b.beats[session] = s
	}
	if s.last = now; call != "" && len(s.asked) < maxCalls {
		s.asked[call] = true
	}
}

// Let notes that a call was let run whose hook has no id for it; sum is what it says (catalogue.Sum).
func (b *Book) Let(session, sum string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.beats[session]; s != nil && sum != "" {
		s.let[sum]++
		s.lets++
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
		if s.read(now); s.full() {
			clear(s.ran) // nobody can tell any more which was asked about
			continue
		}
		for call, r := range s.ran {
			if s.answers(call, r) {
				delete(s.ran, call)
				s.known[call] = true
			} else if now.Sub(r.first) >= grace {
				out, s.told = append(out, Silent{name, call}), true
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b Silent) int { return bytes.Compare([]byte(a.Session), []byte(b.Session)) })
	return out
}

// full reports whether more was told of a session than is kept.
func (s *beat) full() bool {
	return len(s.asked) >= maxCalls || s.lets >= maxCalls || len(s.known) >= maxCalls
}

// answers reports whether a call was asked about, and uses up what says so.
func (s *beat) answers(call string, r ran) bool {
	if r.sum == "" || s.let[r.sum] == 0 {
		return s.asked[call]
	}
	s.let[r.sum]--
	return true
}

// read takes in what was added to the record.
func (s *beat) read(now time.Time) {
	if stored(s.record) {
		s.query(now)
		return
	}
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
		for _, c := range s.rest.calls(line, s.unbox) {
			s.saw(c, now)
		}
	}
}

// saw notes a call that the record says was carried out.
func (s *beat) saw(c call, now time.Time) {
	if _, seen := s.ran[c.id]; !seen && !s.asked[c.id] && !s.known[c.id] && len(s.ran) < maxCalls {
		s.ran[c.id] = ran{c.sum, now}
	}
}
