// Package dailyjsonl keeps lines of JSON in files, one a day: what plugins write down beside
// the log. It reads and writes files of the folder it is given, and nothing else.
//
// Invariants:
//   - a line is whole or it is not there: what a crash left behind the last line end is cut
//     off before the next line is written, and not read;
//   - files are for their owner alone;
//   - days are those of UTC: the same on every machine.
package dailyjsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

const suffix = ".jsonl"

// maxLine bounds one line.
const maxLine = 64 << 20

// Day is the name of a day.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Book is a folder that is written to. The zero Book writes nowhere. It is not safe for
// concurrent use.
type Book struct {
	Folder string
	day    string
	file   *os.File
}

// Write adds a line, which has no line end, to the file of the day.
func (b *Book) Write(at time.Time, line []byte) error {
	if b.Folder == "" {
		return nil
	}
	if day := Day(at); b.file == nil || day != b.day {
		if err := b.Close(); err != nil {
			return err
		}
		f, err := open(b.Folder, day)
		if err != nil {
			return err
		}
		b.file, b.day = f, day
	}
	if _, err := b.file.Write(append(bytes.Clone(line), '\n')); err != nil {
		return fmt.Errorf("write %s: %w", b.file.Name(), err)
	}
	return nil
}

// Close closes the file of the day; the next line opens it again.
func (b *Book) Close() error {
	if b.file == nil {
		return nil
	}
	f := b.file
	b.file = nil
	return f.Close()
}

// open opens a day's file behind its last whole line.
func open(folder, day string) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, day+suffix)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	end, err := lastEnd(f)
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), f.Close())
	}
	return f, nil
}

// lastEnd is where the last whole line of a file ends.
func lastEnd(f *os.File) (int64, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	var block [4096]byte
	for at := size; at > 0; {
		n := min(at, int64(len(block)))
		at -= n
		if _, err := f.ReadAt(block[:n], at); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(block[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
	}
	return 0, nil
}

// Line is one line of a book, and where it stands.
type Line struct {
	Day   string
	Place string // file and number, for messages
	Data  []byte
}

// Lines reads a folder from a day on, oldest first; a folder that is not there has none.
func Lines(folder, from string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		days, err := list(folder)
		if err != nil {
			yield(Line{}, err)
			return
		}
		for _, day := range days {
			if day >= from && !eachLine(filepath.Join(folder, day+suffix), day, yield) {
				return
			}
		}
	}
}

// Read decodes the lines of a folder from a day on, oldest first. A line that cannot be read is an
// error that names its place, and the last that is told.
func Read[T any](folder, from string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for l, err := range Lines(folder, from) {
			var v T
			if err == nil {
				if err = strictjson.Unmarshal(l.Data, &v); err != nil {
					err = fmt.Errorf("%s: %w", l.Place, err)
				}
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// list are the days of which there is a file, in order.
func list(folder string) ([]string, error) {
	if folder == "" {
		return nil, nil
	}
	found, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var days []string
	for _, f := range found {
		day := f.Name()
		if filepath.Ext(day) != suffix {
			continue
		}
		day = day[:len(day)-len(suffix)]
		if _, err := time.Parse(time.DateOnly, day); err == nil {
			days = append(days, day)
		}
	}
	return days, err
}

func eachLine(path, day string, yield func(Line, error) bool) bool {
	f, err := os.Open(path)
	if err != nil {
		return yield(Line{}, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	r := bufio.NewReaderSize(f, 64<<10)
	for n := 1; ; n++ {
		l := Line{Day: day, Place: fmt.Sprintf("%s:%d", path, n)}
		l.Data, err = r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return true // what stands behind the last line end was never finished
		}
		if err == nil && len(l.Data) > maxLine {
			err = fmt.Errorf("%s: line too long", l.Place)
		}
		if err != nil {
			yield(Line{}, err)
			return false
		}
		l.Data = l.Data[:len(l.Data)-1]
		if !yield(l, nil) {
			return false
		}
	}
}

// Prune removes the files of days before the one named, and says which.
func Prune(folder, before string) (gone []string, err error) {
	days, err := list(folder)
	for _, day := range days {
		if err == nil && day < before {
			err = os.Remove(filepath.Join(folder, day+suffix))
			gone = append(gone, day)
		}
	}
	return gone, err
}
