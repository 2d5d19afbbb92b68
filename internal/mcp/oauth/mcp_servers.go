package oauth

import "github.com/tidemark/tidemark/internal/mcp/judge"

var _ judge.Transports = transports{}
