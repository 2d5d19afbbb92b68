package install

import (
	"testing"
	"testing/synctest"
	"time"
)

// An agent that prints or asks now and then is waited for, however slow it is; one that is quiet is given up.
func TestAnAgentThatIsHeardOfIsNotGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, given := 0, false
		l := &lively{signs: func() int { return asked }}
		stop := l.watch(time.Minute, func() { given = true })
		for i := range 8 {
			time.Sleep(50 * time.Second)
			l.mu.Lock()
			if asked++; i%2 == 0 {
				asked--
				l.text.WriteString("still here\n")
			}
			l.mu.Unlock()
		}
		if given {
			t.Fatal("it was given up while it was heard of")
		}
		time.Sleep(70 * time.Second)
		synctest.Wait()
		if !given {
			t.Error("it was quiet for longer than it may be, and was not given up")
		}
		stop()
	})
}
