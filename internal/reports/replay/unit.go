package replay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// maxUnit is the largest transcript that is read into memory.
const maxUnit = 256 << 20

// Unit is a piece of a transcript that can be read on its own: a line, or a whole file.
type Unit struct {
	Name   string // of the file
	Line   int    // where it begins, from 1
	Whole  bool   // the whole file
	Format Format // "" where it is to be found out
	Data   []byte // nil where it was read while it came in
	Size   int    // bytes of the recording

	ready []Run
	bad   error
}

// Ready is a unit of a run that has been read already.
func Ready(run Run) Unit { return Unit{Name: run.ID, Line: 1, ready: []Run{run}} }

// place is the unit as error messages name it.
func (u *Unit) place(line int) string { return fmt.Sprintf("%s:%d", u.Name, u.Line+line) }

// PlaceError is a transcript that cannot be read, with where.
type PlaceError struct {
	Place string // file:line
	Err   error
}

func (e *PlaceError) Error() string { return e.Place + ": " + e.Err.Error() }

func (e *PlaceError) Unwrap() error { return e.Err }

// Units cuts a transcript into the pieces that can be read on their own. An error ends
// it: the file itself could not be read.
func Units(name string, r io.Reader, f Format) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		in := &lines{r: bufio.NewReaderSize(r, 1<<16), name: name}
		first, err := in.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				yield(Unit{}, err)
			}
			return
		}
		if whole(first.Data, &f) {
			head, err := in.decide(first, &f)
			if err == nil && f.session() != nil {
				yield(in.stream(head, f))
				return
			}
			if err == nil {
				first, err = in.rest(head)
			}
			if err != nil {
				yield(Unit{}, err)
				return
			}
			first.Format = f
			yield(first, nil)
			return
		}
		for u := first; err == nil; u, err = in.next() {
			if u.Format, u.Size = f, len(u.Data); !yield(u, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(Unit{}, err)
		}
	}
}

// whole reports whether the file is one unit, by its first line; and, where it can be
// told by now, of which format.
func whole(first []byte, f *Format) bool {
	switch {
	case *f == Trace:
		return false
	case !f.perLine():
		return true
	}
	var v strictjson.Value
	if strictjson.Unmarshal(first, &v) != nil {
		return true // a document over several lines, or broken: its reader will say
	}
	if *f != "" {
		return false
	}
	if found, err := Detect(first); err == nil && !found.perLine() {
		*f = found
		return true
	}
	return *f == "" && undecided(first)
}

// undecided reports whether a first line says nothing, as those of session files may: a
// later one will.
func undecided(first []byte) bool {
	_, err := Detect(first)
	return errors.Is(err, errFormat)
}

// lines reads a file line by line, blank ones apart.
type lines struct {
	r    *bufio.Reader
	name string
	n    int
}

func (l *lines) next() (Unit, error) {
	for {
		var data []byte
		for {
			part, err := l.r.ReadSlice('\n')
			data = append(data, part...)
			if len(data) > maxUnit {
				return Unit{}, &PlaceError{fmt.Sprintf("%s:%d", l.name, l.n+1), fmt.Errorf("a line of more than %d bytes", maxUnit)}
			}
			if err == nil {
				break
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if !errors.Is(err, io.EOF) {
				return Unit{}, &PlaceError{fmt.Sprintf("%s:%d", l.name, l.n+1), err}
			}
			if len(data) == 0 {
				return Unit{}, io.EOF
			}
			break
		}
		l.n++
		if len(bytes.TrimSpace(data)) > 0 {
			return Unit{Name: l.name, Line: l.n, Data: data}, nil
		}
	}
}

// Runs reads the runs of a unit: one, or the several of a JSON document. On an error
// there are none.
func (u *Unit) Runs() ([]Run, error) { return u.runs(nil) }

func (u *Unit) runs(known *catalogue) ([]Run, error) {
	if u.ready != nil || u.bad != nil {
		return u.ready, u.bad
	}
	f := u.Format
	if f == "" {
		var err error
		if f, err = u.detect(); err != nil {
			return nil, &PlaceError{u.place(0), err}
		}
	}
	switch f {
	case Trace:
		run, err := readTrace(u.Data, known)
		if err != nil {
			return nil, &PlaceError{u.place(0), err}
		}
		return []Run{run}, nil
	case ClaudeCode, OpenClaw:
		return u.session(f)
	}
	runs, err := readChats(u.Data, fmt.Sprintf("%s#%d", u.Name, u.Line), known)
	if err != nil {
		return nil, &PlaceError{u.place(0), err}
	}
	return runs, nil
}

// detect looks at the document, or at its lines until one says something.
func (u *Unit) detect() (Format, error) {
	f, err := Detect(u.Data)
	if err == nil || !u.Whole {
		return f, err
	}
	for line := range bytes.Lines(u.Data) {
		if found, lineErr := Detect(line); lineErr == nil {
			return found, nil
		}
	}
	return "", err
}
