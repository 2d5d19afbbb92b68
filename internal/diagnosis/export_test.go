package diagnosis

import "github.com/tidemark/tidemark/internal/config"

// MemoryLine is what doctor says of memory.
func MemoryLine(cfg *config.Config, given int64) string { return memoryLine(cfg, given) }
