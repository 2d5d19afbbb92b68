package sqlite

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/store"
)

// SQLite takes a damaged page of the write-ahead log for its end: commits that were acknowledged
// would be gone without a word. So a file beside the log says where it stood last.
//
// It is written after each commit and not synced: after a crash of the machine it may tell of an
// earlier commit, and never of one that is not on the disk.

// watermarkSuffix is added to the path of the log.
const watermarkSuffix = "-head"

// watermarkForm is a line of one length, so that a new one covers the one before.
const watermarkForm = "%020d:%s\n"

// watermark writes the file.
type watermark struct {
	path string
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
	if _, err := w.file.WriteAt(fmt.Appendf(nil, watermarkForm, at.batch, at.hash), 0); err == nil {
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

// readWatermark is what the file tells; ok is false where there is none, or nothing in it can be
// read: a crash of the machine may leave it so.
func readWatermark(path string) (head store.Head, ok bool, err error) {
	text, err := os.ReadFile(path + watermarkSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return store.Head{}, false, nil
	}
	if err != nil {
		return store.Head{}, false, fmt.Errorf("read where the log stood: %w", err)
	}
	var sum string
	if n, _ := fmt.Sscanf(strings.TrimSpace(string(text)), "%d:%s", &head.Batch, &sum); n != 2 {
		return store.Head{}, false, nil
	}
	raw, err := hex.DecodeString(sum)
	if err != nil || len(raw) != len(audit.Hash{}) {
		return store.Head{}, false, nil //nolint:nilerr // it tells nothing
	}
	head.Hash = audit.Hash(raw)
	return head, true, nil
}

// whole refuses a log whose end is gone: sessions would be less tainted than they were.
func (r *Reader) whole(ctx context.Context) error {
	stood, told, err := readWatermark(r.path)
	if err != nil || !told {
		return err
	}
	b, err := r.Cut(ctx, stood)
	if b != nil {
		return fmt.Errorf("%w: %v (its -wal file was lost or damaged, or an older copy put back): "+
			"restore a backup with tidemark restore, or remove %s to go on with what is there", audit.ErrBroken, b, r.path+watermarkSuffix)
	}
	return err
}
