package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// session is what reads an entry of a session file; nil for formats that are none.
func (f Format) session() func(*entry, *transcript) error {
	switch f {
	case ClaudeCode:
		return readClaudeCode
	case OpenClaw:
		return readOpenClaw
	}
	return nil
}

// maxUndecided is how many lines of a file may say nothing of its format.
const maxUndecided = 64

// decide reads on until a line says what the file is, and returns the lines it read. A file of
// which no line does is read as a whole, and its reader will say.
func (l *lines) decide(first Unit, f *Format) ([]Unit, error) {
	head := []Unit{first}
	for *f == "" && undecided(head[len(head)-1].Data) && len(head) < maxUndecided {
		u, err := l.next()
		if errors.Is(err, io.EOF) {
			return head, nil
		}
		if err != nil {
			return nil, err
		}
		head = append(head, u)
		if found, err := Detect(u.Data); err == nil && found.session() != nil {
			*f = found
		}
	}
	return head, nil
}

// rest is the whole file as one unit.
func (l *lines) rest(head []Unit) (Unit, error) {
	u := head[0]
	for _, more := range head[1:] {
		u.Data = append(u.Data, more.Data...)
	}
	rest, err := io.ReadAll(io.LimitReader(l.r, maxUnit+1))
	if len(rest) > maxUnit {
		err = fmt.Errorf("more than %d bytes", maxUnit)
	}
	if err != nil {
		return Unit{}, &PlaceError{u.place(0), err}
	}
	u.Data, u.Whole = append(u.Data, rest...), true
	u.Size = len(u.Data)
	return u, nil
}

// stream reads a session file entry by entry: what is kept of it is what was said, called
// and returned. A file that is no good is a unit that is no good; only one that cannot be read
// is an error.
func (l *lines) stream(head []Unit, f Format) (Unit, error) {
	out := Unit{Name: l.name, Line: head[0].Line, Whole: true, Format: f}
	s := &sessionReader{format: f, read: f.session()}
	add := func(u *Unit) {
		out.Size += len(u.Data)
		if err := s.line(u.Data); err != nil && out.bad == nil {
			out.bad = &PlaceError{u.place(0), err}
		}
	}
	for i := range head {
		add(&head[i])
	}
	for out.bad == nil {
		u, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Unit{}, err
		}
		add(&u)
	}
	if out.bad == nil {
		out.ready = []Run{s.run(l.name)}
	}
	return out, nil
}

// session reads a file of entries, one per line, as one run.
func (u *Unit) session(f Format) ([]Run, error) {
	s := &sessionReader{format: f, read: f.session()}
	n := -1
	for line := range bytes.Lines(u.Data) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := s.line(line); err != nil {
			return nil, &PlaceError{u.place(n), err}
		}
	}
	return []Run{s.run(u.Name)}, nil
}

// sessionReader puts a run together from the entries of a session file.
type sessionReader struct {
	transcript
	format Format
	read   func(*entry, *transcript) error
}

func (s *sessionReader) line(data []byte) error {
	var e entry
	if err := strictjson.Unmarshal(data, &e); err != nil {
		return err
	}
	before := len(s.events)
	if err := s.read(&e, &s.transcript); err != nil {
		return err
	}
	if len(s.events) > before {
		s.events[len(s.events)-1].size = len(data)
	}
	return nil
}

func (s *sessionReader) run(name string) Run {
	run := s.transcript.run()
	run.Format = s.format
	if run.ID == "" {
		run.ID = name
	}
	return run
}
