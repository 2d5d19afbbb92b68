package postgres

import (
	"context"
	"fmt"

	"github.com/tidemark/tidemark/internal/datafolder"
)

// CheckKey refuses a server whose key is another than that of the first server of the log: it could not know again what others kept,
// and would find everything lost.
func CheckKey(ctx context.Context, s *Store, key []byte, file string) error {
	alike, err := s.Alike(ctx, "words.key", datafolder.Derive(key, "which key this is"))
	if err != nil {
		return err
	}
	if !alike {
		return fmt.Errorf("open log: %s is another key than that of the other servers of this log "+
			"(copy words.key and tokens.json from the data folder of one of them)", file)
	}
	return nil
}
