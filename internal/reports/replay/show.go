package replay

import "github.com/tidemark/tidemark/internal/engine"

// Show is a question as the person reads it, on every surface alike.
func Show(q *engine.Question) string { return q.Text() }
