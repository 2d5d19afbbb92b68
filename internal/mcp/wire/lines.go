package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrSize is returned for a message that is longer than it may be. The rest of it was
// skipped, and what follows can be read.
var ErrSize = errors.New("the message is too long")

// Lines reads messages that stand on a line each.
type Lines struct {
	r     *bufio.Reader
	limit int
	buf   []byte
}

// NewLines reads lines of at most limit bytes.
func NewLines(r io.Reader, limit int) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// Next is the next line that is not empty, without its end. It is good until the next is asked
// for. A last line without an end is a message that was cut off: it is io.ErrUnexpectedEOF.
func (l *Lines) Next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

func (l *Lines) line() ([]byte, error) {
	l.buf = l.buf[:0]
	for long := false; ; {
		part, err := l.r.ReadSlice('\n')
		switch {
		case err == nil && !long && len(l.buf) == 0 && len(part) <= l.limit:
			return part, nil
		case !long && len(l.buf)+len(part) <= l.limit:
			l.buf = append(l.buf, part...)
		default:
			long = true // its memory is given back; the rest is read and forgotten
			l.buf = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && (long || len(bytes.TrimSpace(l.buf)) > 0):
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case long:
			return nil, ErrSize
		default:
			return l.buf, nil
		}
	}
}
