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
	var p pieces
	for long := false; ; {
		part, err := l.r.ReadSlice('\n')
		switch {
		case err == nil && !long && p.size() == 0 && len(part) <= l.limit:
			return part, nil
		case !long && p.size()+len(part) <= l.limit:
			p.add(part)
		default:
			long, p = true, pieces{} // its memory is given back; the rest is read and forgotten
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && (long || len(bytes.TrimSpace(p.whole())) > 0):
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case long:
			return nil, ErrSize
		default:
			return p.whole(), nil
		}
	}
}
