package app

import (
	"time"

	"github.com/tidemark/tidemark/internal/config"
)

// Alarm tells people of a host as the watch over hosts does.
func (a *App) Alarm(about, text string) {
	if a.alarms.Raise(about, text, time.Now()) {
		a.moved()
	}
}

// MemoryLine is what doctor says of memory.
func MemoryLine(cfg *config.Config, given int64) string { return memoryLine(cfg, given) }
