// Package written keeps what models and tools wrote, in hashes, for the LLM proxy: in a file, or beside a log that several servers have.
package written

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/tidemark/tidemark/internal/datafolder"
)

// File is the file that keeps what models and tools wrote, in hashes, for the LLM proxy. It
// stands beside the log. After a head of its own it holds records, each with its length before
// it and a checksum after it; the end of one that was cut off is cut off too.
type File struct {
	path   string
	logger *slog.Logger
	head   []byte

	mu     sync.Mutex
	file   *os.File // guarded by mu; nil: nothing can be kept
	size   int64    // guarded by mu
	base   int64    // guarded by mu; its size when it was last written anew
	failed bool     // guarded by mu; it was said that something cannot be kept
}

const (
	writtenMagic = "tidemark written 1\n"
	writtenMost  = 64 << 20 // bytes of a record
	writtenSlack = 16 << 20 // how much the file grows before it is written anew
)

// Open opens the file, or makes it. The head says under which key its hashes are: with
// another one they are of no use.
func Open(path string, key []byte, logger *slog.Logger) (*File, error) {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte("the head of what was written")) // a hash never fails
	w := &File{path: path, logger: logger, head: append([]byte(writtenMagic), h.Sum(nil)[:16]...)}
	var err error
	if w.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return nil, fmt.Errorf("open what was written: %w", err)
	}
	if err := datafolder.CheckPrivate(path); err != nil {
		return nil, errors.Join(err, w.file.Close())
	}
	return w, nil
}

// Kept visits the records. Whatever is wrong with the file, what follows it is lost, and the
// file goes on from there.
func (w *File) Kept(visit func([]byte)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	info, err := w.file.Stat()
	whole := err == nil
	if whole && info.Size() > 0 {
		w.size, whole = w.read(visit)
		whole = whole && w.size == info.Size()
	}
	if !whole {
		w.logger.Warn("what models and tools wrote is not all there; texts that nobody knows count as anybody's", "file", w.path)
	}
	if err = errors.Join(err, w.file.Truncate(w.size)); w.size == 0 && err == nil {
		var n int
		n, err = w.file.Write(w.head)
		w.size = int64(n)
	}
	if err != nil {
		w.fail(err)
	}
	w.base = w.size
	return whole
}

// read visits what can be read, and reports how far that reaches.
func (w *File) read(visit func([]byte)) (size int64, ok bool) {
	r := bufio.NewReaderSize(io.NewSectionReader(w.file, 0, 1<<62), 1<<16)
	head := make([]byte, len(w.head))
	if _, err := io.ReadFull(r, head); err != nil || !bytes.Equal(head, w.head) {
		return 0, false
	}
	size = int64(len(head))
	var frame [8]byte
	for {
		if _, err := io.ReadFull(r, frame[:]); err != nil {
			return size, errors.Is(err, io.EOF)
		}
		n := binary.LittleEndian.Uint32(frame[:])
		if n > writtenMost {
			return size, false
		}
		record := make([]byte, n)
		if _, err := io.ReadFull(r, record); err != nil || crc32.ChecksumIEEE(record) != binary.LittleEndian.Uint32(frame[4:]) {
			return size, false
		}
		visit(record)
		size += int64(len(frame)) + int64(n)
	}
}

func framed(record []byte) []byte {
	out := make([]byte, 8, 8+len(record))
	binary.LittleEndian.PutUint32(out, uint32(len(record)))
	binary.LittleEndian.PutUint32(out[4:], crc32.ChecksumIEEE(record))
	return append(out, record...)
}

// Keep adds a record, in one write: what the system has survives the end of the process.
func (w *File) Keep(record []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed || w.file == nil || len(record) > writtenMost {
		return
	}
	n, err := w.file.Write(framed(record))
	if w.size += int64(n); err != nil {
		w.fail(err)
	}
}

// fail says once that nothing more is kept.
func (w *File) fail(err error) {
	if !w.failed {
		w.failed = true
		w.logger.Error("what models and tools write cannot be kept; after a restart it would not be known again",
			"file", w.path, "error", err)
	}
}

// Full reports that the file has grown to more than twice what it was.
func (w *File) Full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.failed && w.size > 2*w.base+writtenSlack
}

// Replace writes the file anew. The old one stays until the new one is complete.
func (w *File) Replace(records func(func([]byte) bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.replace(records); err != nil {
		w.fail(err)
	}
}

func (w *File) replace(records func(func([]byte) bool)) error {
	f, err := os.CreateTemp(filepath.Dir(w.path), "written-*")
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<16)
	_, err = out.Write(w.head)
	size := int64(len(w.head))
	records(func(record []byte) bool {
		n, werr := out.Write(framed(record))
		size, err = size+int64(n), errors.Join(err, werr)
		return err == nil
	})
	if err := errors.Join(err, out.Flush(), f.Sync()); err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), w.path); err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	old := w.file
	w.file, w.size, w.base = f, size, size
	return old.Close()
}

// Close lets go of the file.
func (w *File) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.file
	if w.file = nil; f == nil {
		return nil
	}
	return f.Close()
}
