package sqlite

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/store"
)

// SQLite takes a damaged page of the write-ahead log for its end: commits that were acknowledged
// would be gone without a word. So a file beside the log says where it stood last.
//
// It is there, and synced, before the first commit; then it is written after each one and not synced:
// after a crash of the machine it may tell of an earlier commit, and never of one that is not on the
// disk. It is one short line, which a disk writes whole, with a sum of its own: so one that cannot be
// read was damaged, and one that is not there beside a write-ahead log was taken away. With a key it is
// signed, and stays when the log is closed: whoever writes the folder and has not the key cannot take commits
// off the log and have the file agree.

// watermarkSuffix is added to the path of the log.
const watermarkSuffix = "-head"

// Versions of the schema since which every program that writes has such a file, and signs it where it has a key.
const (
	markedSince = 3
	signedSince = 4
)

// watermarkForm is a line of one length, so that a new one covers the one before.
const watermarkForm = "%020d:%s"

// watermarkLine is the line that tells of a commit.
func watermarkLine(batch uint64, hash audit.Hash, key []byte) []byte {
	line := fmt.Appendf(nil, watermarkForm, batch, hash)
	line = fmt.Appendf(line, ":%08x", crc32.ChecksumIEEE(line))
	return fmt.Appendf(line, ":%s\n", signature(line, key))
}

// signature is that of a line; zeros where there is no key.
func signature(line, key []byte) string {
	var sum [16]byte
	if len(key) > 0 {
		h := hmac.New(sha256.New, key)
		_, _ = h.Write(append([]byte("where the log stood\n"), line...)) // a hash never fails
		copy(sum[:], h.Sum(nil))
	}
	return hex.EncodeToString(sum[:])
}

// markBegin has a file there before anything is written that it must tell of, and one of an earlier program signed.
func markBegin(path string, key []byte) error {
	path += watermarkSuffix
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return sign(path, key)
	}
	if err != nil {
		return fmt.Errorf("note where the log stands: %w", err)
	}
	_, err = f.Write(watermarkLine(0, audit.Hash{}, key))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("note where the log stands: %w", errors.Join(err, os.Remove(path)))
	}
	return syncDir(filepath.Dir(path))
}

// sign signs what an earlier program wrote.
func sign(path string, key []byte) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read where the log stood: %w", err)
	}
	m, err := parseMark(string(text))
	if err != nil || len(key) == 0 || m.signed == signature(m.line, key) {
		return nil //nolint:nilerr // one that nobody can read was looked at before
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("note where the log stands: %w", err)
	}
	_, err = f.WriteAt(watermarkLine(m.Batch, m.Hash, key), 0)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("note where the log stands: %w", err)
	}
	return nil
}

// watermark writes the file.
type watermark struct {
	path string
	key  []byte   // empty: it is not signed
	file *os.File // nil until needed
	at   uint64   // the commit it tells of
}

// note has the file tell of a commit. Where it cannot be written it tells of an earlier one: what
// was committed is as durable as before.
func (w *watermark) note(at tip) {
	if at.batch == w.at || at.batch == 0 {
		return
	}
	if w.file == nil {
		f, err := os.OpenFile(w.path, os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return
		}
		w.file = f
	}
	if _, err := w.file.WriteAt(watermarkLine(at.batch, at.hash, w.key), 0); err == nil {
		w.at = at.batch
	}
}

func (w *watermark) close() {
	if w.file != nil {
		_ = w.file.Close() // nothing of it is waiting
		w.file = nil
	}
}

// dropWatermark takes the file away where the log is one file again: then there is no end that could be
// lost apart from it.
func dropWatermark(path string) error {
	if _, err := os.Lstat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(path); err != nil {
		return nil //nolint:nilerr // the log itself is gone, and the file is all that tells of it
	}
	if err := os.Remove(path + watermarkSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("close the log: %w", err)
	}
	return nil
}

// readWatermark is what the file tells; ok is false where it tells of no commit, or where there is none and need be none: the
// log is one file. With a key it must be signed, unless the log's schema was one of before then.
func readWatermark(path string, key []byte, since int64) (head store.Head, ok bool, err error) {
	text, err := os.ReadFile(path + watermarkSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
			return store.Head{}, false, nil //nolint:nilerr // nothing stands beside it
		}
		return store.Head{}, false, unmarked(path, "is not there, though the log has a -wal file")
	}
	if err != nil {
		return store.Head{}, false, fmt.Errorf("read where the log stood: %w", err)
	}
	m, err := parseMark(string(text))
	if err != nil {
		return store.Head{}, false, unmarked(path, "is damaged")
	}
	if len(key) > 0 && m.signed != signature(m.line, key) {
		switch {
		case m.signed != "" && m.signed != signature(m.line, nil):
			return store.Head{}, false, unmarked(path,
				"was not signed with the key of this folder (put its own words.key back if that is another one; "+
					"else somebody else wrote it)")
		case since >= signedSince:
			return store.Head{}, false, unmarked(path, "is not signed")
		}
	}
	return m.Head, m.Batch > 0, nil
}

// mark is what the file tells.
type mark struct {
	store.Head

	line   []byte // without what signs it
	signed string // "": by an earlier program
}

var errMark = errors.New("the line is none of ours")

func parseMark(text string) (m mark, err error) {
	parts := strings.Split(strings.TrimSuffix(text, "\n"), ":")
	if len(parts) < 2 || len(parts) > 4 {
		return m, errMark
	}
	told := parts[0] + ":" + parts[1]
	if len(parts) > 2 && parts[2] != fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(told))) { // one of an earlier program has no sum
		return m, errMark
	}
	if len(parts) > 3 {
		m.line, m.signed = []byte(told+":"+parts[2]), parts[3]
	}
	if m.Batch, err = strconv.ParseUint(parts[0], 10, 64); err != nil {
		return m, err
	}
	raw, err := hex.DecodeString(parts[1])
	if err != nil || len(raw) != len(m.Hash) {
		return m, errMark
	}
	m.Hash = audit.Hash(raw)
	return m, nil
}

// unmarked is the error where nobody can say where the log stood.
func unmarked(path, what string) error {
	return fmt.Errorf("%w: %s %s, so that nobody can say whether the end of the log is gone: restore a backup with tidemark log restore, "+
		"or remove %s and %s to go on with what the main file holds",
		audit.ErrBroken, path+watermarkSuffix, what, path+watermarkSuffix, path+"-wal")
}

// whole refuses a log whose end is gone: sessions would be less tainted than they were.
func (r *Reader) whole(ctx context.Context) error {
	stood, told, err := r.stood()
	if err != nil || !told {
		return err
	}
	b, err := r.Cut(ctx, stood)
	if b != nil {
		return fmt.Errorf("%w: %v (its -wal file was lost or damaged, or an older copy put back): "+
			"restore a backup with tidemark log restore, or remove %s and %s to go on with what the main file holds",
			audit.ErrBroken, b, r.path+watermarkSuffix, r.path+"-wal")
	}
	return err
}
