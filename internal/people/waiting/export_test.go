package waiting

// Rooms is how many sessions the feed keeps something for.
func (f *Feed) Rooms() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.rooms)
}

// Watches is how many questions of a session are watched.
func (f *Feed) Watches(session string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.rooms[session]; r != nil {
		return len(r.watches)
	}
	return 0
}
