package approvalproof

import "sync"

// fresh reads a log for many who ask at once. Who asks gets a read that began after they asked, so that it has whatever was written
// by then; those who come while one is under way share the next.
type fresh struct {
	under sync.Mutex // held by the read that is under way

	mu   sync.Mutex
	next *reading // guarded by mu; one that has not begun; nil: nobody waits for one
}

type reading struct {
	done chan struct{}
	err  error // set before done
}

func (f *fresh) read(load func() error) error {
	f.mu.Lock()
	r, ours := f.next, f.next == nil
	if ours {
		r = &reading{done: make(chan struct{})}
		f.next = r
	}
	f.mu.Unlock()
	if !ours {
		<-r.done
		return r.err
	}
	f.under.Lock()
	defer f.under.Unlock()
	f.mu.Lock()
	f.next = nil
	f.mu.Unlock()
	defer close(r.done)
	r.err = load()
	return r.err
}
