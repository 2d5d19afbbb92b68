package rows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/internal/audit"
)

// HashAt is the hash of a session's record; the zero Hash where there is none. The record itself is not read.
func (r *Reader) HashAt(ctx context.Context, session string, at uint64) (audit.Hash, error) {
	var raw []byte
	var hash audit.Hash
	const query = `SELECT hash FROM records WHERE session = (SELECT id FROM sessions WHERE name = ?) AND seq = ?`
	err := r.row(ctx, query, session, int64(at)).Scan(&raw) // as it is stored
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return hash, nil
	case err != nil:
		return hash, r.as.Unavailable(fmt.Sprintf("look at session %q", session), err)
	case len(raw) != len(hash):
		return hash, r.as.Unavailable(fmt.Sprintf("look at session %q", session), audit.ErrBroken)
	}
	copy(hash[:], raw)
	return hash, nil
}
