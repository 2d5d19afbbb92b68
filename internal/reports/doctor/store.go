package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/fileowner"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/store"
)

// Log is what is looked at of a log.
type Log interface {
	Head(ctx context.Context) (store.Head, error)
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
}

// Store is the data folder and how to open the log in it.
type Store struct {
	Folder string
	Exists bool // there is a log
	// Read opens the log for looking at. Write opens it for writing, changes nothing and
	// closes it; nil where a server has it open, which then says so itself.
	Read  func(ctx context.Context) (log Log, done func() error, err error)
	Write func(ctx context.Context) error
}

// CheckStore looks whether the log can be opened and written, and whether its end holds.
func CheckStore(s Store) Check {
	return Check{Name: "store", Run: func(ctx context.Context) []Finding {
		f := found{about: "store"}
		if !f.folder(s.Folder) {
			return f.list
		}
		if !s.Exists {
			f.add(Off, "log", "there is none yet; the first start makes it", startServer)
			return f.list
		}
		log, done, err := s.Read(ctx)
		if err != nil {
			f.add(Broken, "log", err.Error(), "")
			return f.list
		}
		f.chain(ctx, log)
		if err := done(); err != nil {
			f.add(Broken, "log", "close it: "+err.Error(), "")
		}
		if s.Write != nil {
			if err := s.Write(ctx); err != nil {
				f.add(Broken, "writable", err.Error(), "without it every call is refused")
			} else {
				f.add(Good, "writable", "it can be written", "")
			}
		}
		return f.list
	}}
}

// folder reports on the data folder; false where there is nothing more to look at.
func (f *found) folder(path string) bool {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.add(Off, "data folder", path+" does not exist yet; the first start makes it", startServer)
		return false
	case err != nil:
		f.add(Broken, "data folder", err.Error(), "")
		return false
	case !info.IsDir():
		f.add(Broken, "data folder", path+" is not a folder", "")
		return false
	case fileowner.Open(info, 0o022):
		f.add(Broken, "data folder", path+" can be changed by other users", "chmod 700 "+path)
	case info.Mode().Perm()&0o200 == 0:
		f.add(Broken, "data folder", path+" is read-only: nothing can be recorded, so every call is refused", "chmod 700 "+path)
	case fileowner.Open(info, 0o055):
		f.add(Limit, "data folder", path+" can be looked into by other users: the names in it, and whatever is not private by itself",
			"chmod 700 "+path)
	default:
		f.add(Good, "data folder", path, "")
	}
	f.files(path)
	return true
}

// tail is how many records are verified; tidemark log verify does them all.
const tail = 1000

func (f *found) chain(ctx context.Context, log Log) {
	head, err := log.Head(ctx)
	if err != nil {
		f.add(Broken, "log", "it cannot be read: "+err.Error(), "")
		return
	}
	page, err := log.Since(ctx, store.EntryQuery{After: max(head.Records-tail, 0), Limit: tail})
	if err != nil {
		f.add(Broken, "log", "it cannot be read: "+err.Error(), "")
		return
	}
	if at := firstBreak(page); at != "" {
		f.add(Broken, "chain", at+" is not as it was written", "tidemark log verify says where")
		return
	}
	text := fmt.Sprintf("the last %d of %d records are unchanged", len(page), head.Records)
	if int64(len(page)) < head.Records {
		text += " (tidemark log verify checks all)"
	}
	f.add(Good, "chain", text, "")
}

// firstBreak names the first record that does not follow from the one before it. The
// first record of a session in the page is believed, unless the session begins with it.
func firstBreak(page []store.Entry) string {
	heads := map[string]audit.Head{}
	for _, e := range page {
		head, seen := heads[e.Session]
		if seen || e.Seq == 1 {
			want := e.Record
			audit.Next(head, &want)
			if want.Seq != e.Seq || want.Hash != e.Hash {
				return fmt.Sprintf("record %d of session %q", e.Seq, e.Session)
			}
		}
		heads[e.Session] = audit.Head{Seq: e.Seq, Hash: e.Hash}
	}
	return ""
}

// files reports on files that others can read or change.
func (f *found) files(folder string) {
	for _, name := range datafolder.PrivateFiles(folder) {
		if info, err := os.Stat(name); err == nil && fileowner.Open(info, 0o077) {
			f.add(Broken, filepath.Base(name), name+" can be read or changed by other users", "chmod 600 "+name)
		}
	}
}
