package install

import (
	"bytes"
	"sync"
	"time"
)

// lively is what an agent prints, and when it was last heard of.
type lively struct {
	signs func() int // how often the model was asked

	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lively) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lively) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// heard changes whenever there is a sign of the agent.
func (l *lively) heard() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Len() + l.signs()
}

// watch gives an agent up that has been quiet for so long, until it is stopped.
func (l *lively) watch(quiet time.Duration, give func()) (stop func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(quiet / 20)
		defer tick.Stop()
		last, since := l.heard(), time.Now()
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				if heard := l.heard(); heard != last {
					last, since = heard, now
				} else if now.Sub(since) >= quiet {
					give()
					return
				}
			}
		}
	})
	return func() {
		close(done)
		ended.Wait()
	}
}
