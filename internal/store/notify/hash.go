package notify

import (
	"context"

	"github.com/tidemark/tidemark/internal/audit"
)

// HashAt is the hash of a session's record; the zero Hash where there is none.
func (s *Store) HashAt(ctx context.Context, session string, at uint64) (audit.Hash, error) {
	if h, ok := s.store.(interface {
		HashAt(ctx context.Context, session string, at uint64) (audit.Hash, error)
	}); ok {
		return h.HashAt(ctx, session, at)
	}
	for rec, err := range s.store.Load(ctx, session, at-1) {
		if err != nil || rec.Seq == at {
			return rec.Hash, err
		}
		break
	}
	return audit.Hash{}, nil
}
