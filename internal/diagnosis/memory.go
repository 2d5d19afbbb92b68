package diagnosis

import (
	"fmt"

	"github.com/tidemark/tidemark/internal/base/memlimit"
	"github.com/tidemark/tidemark/internal/config"
)

// memoryLine says what sessions may take in memory, and why so much.
func memoryLine(cfg *config.Config, given int64) string {
	const what = "sessions take at most %d MB together"
	switch {
	case cfg.Server.Memory > 0:
		return fmt.Sprintf(what+" (server.sessionMemoryMB)", cfg.Server.Memory>>20)
	case given <= 0:
		return fmt.Sprintf(what+": nobody says what the machine has (server.sessionMemoryMB says another bound)", memlimit.Share(given)>>20)
	}
	return fmt.Sprintf(what+": a quarter of the %d MB that are given here, and at most 512 (server.sessionMemoryMB says another bound)",
		memlimit.Share(given)>>20, given>>20)
}
