// Package checkpoints keeps checkpoints of conversations as files of a folder, one of each session. They are sealed before they come here,
// and nothing but time is lost with them: what cannot be read is told again from the log.
//
// Invariants:
//   - the names of files tell no session's name, and the files are for their owner alone;
//   - together they take no more than they may; the oldest go first;
//   - a file that was not written whole is one that does not open, so nothing is synced.
//
// It does I/O and starts no goroutine.
package checkpoints

import (
	"cmp"
	"container/list"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tidemark/tidemark/internal/engine"
)

// suffix ends the names of the files; nothing else in the folder is touched.
const suffix = ".checkpoint"

// Folder is a folder with checkpoints. It is safe for concurrent use.
type Folder struct {
	path string
	key  []byte
	most int64

	mu    sync.Mutex
	files map[string]*list.Element // guarded by mu; by name
	order *list.List               // guarded by mu; of file, the oldest first
	total int64                    // guarded by mu; bytes of all of them
}

type file struct {
	name string
	size int64
}

var _ engine.Checkpoints = (*Folder)(nil)

// Open opens a folder, and makes it where there is none. Names of files are made with the key; together they take at most so many bytes.
func Open(path string, key []byte, most int64) (*Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("open checkpoints: %w", err)
	}
	found, err := look(path)
	if err != nil {
		return nil, fmt.Errorf("open checkpoints: %w", err)
	}
	f := &Folder{path: path, key: key, most: most, files: map[string]*list.Element{}, order: list.New()}
	for _, one := range found {
		f.add(one)
	}
	f.bound()
	return f, nil
}

// look lists the checkpoints of a folder, the oldest first.
func look(path string) ([]file, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var infos []fs.FileInfo
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	out := make([]file, len(infos))
	for i, info := range infos {
		out[i] = file{info.Name(), info.Size()}
	}
	return out, nil
}

// Clear removes all checkpoints of a folder that may not be there.
func Clear(path string) error {
	found, err := look(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, one := range found {
		if gone := os.Remove(filepath.Join(path, one.name)); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	if err != nil {
		return fmt.Errorf("remove checkpoints: %w", err)
	}
	return nil
}

func (f *Folder) nameOf(session string) string {
	h := hmac.New(sha256.New, f.key)
	h.Write([]byte("checkpoint of\x00" + session))
	return hex.EncodeToString(h.Sum(nil)[:16]) + suffix
}

// Get is the checkpoint of a session; nil where there is none.
func (f *Folder) Get(session string) []byte {
	name := f.nameOf(session)
	f.mu.Lock()
	known := f.files[name] != nil
	f.mu.Unlock()
	if !known {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(f.path, name))
	if err != nil {
		return nil
	}
	return b
}

// Put keeps a checkpoint in the place of the one before. What cannot be written is not kept.
func (f *Folder) Put(session string, sealed []byte) {
	name := f.nameOf(session)
	f.remove(name)
	if int64(len(sealed)) > f.most/4 {
		return // one conversation must not push out all others
	}
	// A new file, and not the old one cut: of that, file systems write out at once what nobody will need.
	if err := os.WriteFile(filepath.Join(f.path, name), sealed, 0o600); err != nil {
		_ = os.Remove(filepath.Join(f.path, name)) // it would not open
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(file{name, int64(len(sealed))})
	f.bound()
}

// Drop removes the checkpoint of a session, whoever wrote it.
func (f *Folder) Drop(session string) { f.remove(f.nameOf(session)) }

func (f *Folder) remove(name string) {
	f.mu.Lock()
	f.forget(name)
	f.mu.Unlock()
	_ = os.Remove(filepath.Join(f.path, name)) // most are not there
}

// add counts a file. Preconditions: mu is held, or nobody else has the folder yet.
func (f *Folder) add(one file) {
	f.forget(one.name)
	f.files[one.name] = f.order.PushBack(one)
	f.total += one.size
}

// forget no longer counts a file. Preconditions: as for add.
func (f *Folder) forget(name string) {
	if e := f.files[name]; e != nil {
		f.total -= f.order.Remove(e).(file).size //nolint:forcetypeassert // nothing else is in it
		delete(f.files, name)
	}
}

// bound removes the oldest files until the rest is within the bound. Preconditions: as for add.
func (f *Folder) bound() {
	for f.total > f.most {
		one := f.order.Front().Value.(file) //nolint:forcetypeassert // nothing else is in it
		f.forget(one.name)
		_ = os.Remove(filepath.Join(f.path, one.name))
	}
}
