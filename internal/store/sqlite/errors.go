package sqlite

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/internal/group"
	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

var errMoved = errors.New("the log's file was moved, removed or replaced while in use, " +
	"put it back or restart to go on with what is there now")

// unavailable is the error for everything the database refuses. It keeps the cause
// and says what to do about it where we know.
func unavailable(doing string, err error) error {
	if hint := hint(err); hint != "" {
		return fmt.Errorf("%s: %w: %s: %w", doing, engine.ErrUnavailable, hint, readable(err))
	}
	return fmt.Errorf("%s: %w: %w", doing, engine.ErrUnavailable, readable(err))
}

// readable is an error in which nothing stands that a terminal would obey: of a damaged file SQLite cites bytes as they are.
func readable(err error) error {
	text := err.Error()
	if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) || !utf8.ValidString(text) {
		return cited{err}
	}
	return err
}

// cited is an error with its bytes quoted.
type cited struct{ error }

func (c cited) Error() string {
	text := strconv.Quote(c.error.Error())
	return strings.ReplaceAll(text[1:len(text)-1], `\"`, `"`)
}

func (c cited) Unwrap() error { return c.error }

// code is SQLite's primary result code, or 0 if the error is not SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

func hint(err error) string {
	switch code(err) {
	case codes.SQLITE_FULL:
		return "the disk is full, free some space"
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return "another process holds the log's write lock, wait for it or stop it"
	case codes.SQLITE_READONLY:
		return "the log is read-only, give this user the right to write the file, those beside it and the directory"
	case codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
		return "the file or its directory cannot be opened, check that both exist and that this user may write them"
	case codes.SQLITE_IOERR:
		return "the disk reports an error, check it and the space left"
	case codes.SQLITE_CORRUPT:
		return "the file is damaged, stop and restore it from a copy"
	case codes.SQLITE_NOTADB:
		return "the file is not a log, choose another path or move it away"
	}
	return ""
}

// alone says whether a request of a failed batch may succeed by itself. It may where
// another request can be to blame, or where it may need less space. It may not where
// the whole store is in trouble: trying again would only add to the wait.
func alone(err error) bool {
	if errors.Is(err, group.ErrGone) {
		return true
	}
	switch code(err) {
	case codes.SQLITE_FULL, codes.SQLITE_CONSTRAINT, codes.SQLITE_TOOBIG, codes.SQLITE_MISMATCH:
		return true
	}
	return false
}

// taken says that the place of a record is in use: somebody else wrote it.
func taken(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == codes.SQLITE_CONSTRAINT_UNIQUE
}
