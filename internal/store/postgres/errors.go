package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/internal/group"
)

// unavailable is the error for everything the database refuses. It keeps the cause
// and says what to do about it where we know.
func unavailable(doing string, err error) error {
	if hint := hint(err); hint != "" {
		return fmt.Errorf("%s: %w: %s: %w", doing, engine.ErrUnavailable, hint, err)
	}
	return fmt.Errorf("%s: %w: %w", doing, engine.ErrUnavailable, err)
}

// explained puts the hint first, if there is one and it was not given yet.
func explained(err error) error {
	if hint := hint(err); hint != "" && !errors.Is(err, engine.ErrUnavailable) {
		return fmt.Errorf("%s: %w", hint, err)
	}
	return err
}

// code is the SQLSTATE of an error, or "" if it is not the database's.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func hint(err error) string {
	switch c := code(err); {
	case c == "53100":
		return "the database's disk is full, free some space"
	case c == "53300":
		return "the database takes no more connections, raise max_connections"
	case c == "25006":
		return "the database is read-only, perhaps a standby: add target_session_attrs=read-write to the address"
	case c == "55P03":
		return "another server holds the log's lock, wait for it or stop it"
	case c == "3D000":
		return "there is no such database, create it"
	case c == "42501":
		return "this user may not do that, grant it the right to create a schema or to use ours"
	case len(c) == 5 && c[:2] == "28":
		return "the database does not let this user in, check name and password"
	case len(c) == 5 && c[:3] == "57P":
		return "the database is starting or stopping, wait for it"
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return "the database cannot be reached, check that it runs and that the address is right"
	}
	return ""
}

// alone says whether a request of a failed batch may succeed by itself: where another request can
// be to blame. Not where the database itself is in trouble.
func alone(err error) bool {
	if errors.Is(err, group.ErrGone) {
		return true
	}
	c := code(err)
	if len(c) != 5 {
		return false
	}
	switch c[:2] {
	case "22", "23", "54":
		return true
	}
	return false
}

// lost says that a connection was gone before anything could be asked: after a database was started again all those in a pool
// are. One that cannot be made is another matter, and neither is an answer of the database, but for the one that it gives to
// everybody when it ends.
func lost(err error) bool {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return false
	}
	c := code(err)
	return c == "" || c == "57P01"
}

// taken says that the place of a record is in use: somebody else wrote it.
func taken(err error) bool { return code(err) == "23505" }
