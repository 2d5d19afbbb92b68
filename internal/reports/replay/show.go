package replay

import "github.com/tidemark/tidemark"

// Show is a question as the person reads it, on every surface alike.
func Show(q *tidemark.Question) string { return q.Text() }
