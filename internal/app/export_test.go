package app

import "time"

// Alarm tells people of a host as the watch over hosts does.
func (a *App) Alarm(about, text string) {
	if a.alarms.Raise(about, text, time.Now()) {
		a.moved()
	}
}
