//go:build judges

package sdkcompat_test

import (
	"runtime"
	"syscall"
	"time"
)

// busy is how many times longer this machine takes for a piece of work than the work alone would,
// because others work on it too: what the clock says over what the processor was given. It is 1 where
// that cannot be known.
func busy() float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, before := time.Now(), processor()
	work := 50 * time.Millisecond
	for before > 0 && processor()-before < work {
		for i := range 100_000 {
			spin += i
		}
	}
	if before <= 0 {
		return 1
	}
	return float64(time.Since(began)) / float64(work)
}

// spin keeps the compiler from leaving the work out.
var spin int

// processor is the time of processors that this thread was given, 0 where the system does not say.
func processor() time.Duration {
	const thread = 1 // RUSAGE_THREAD of Linux
	var u syscall.Rusage
	if syscall.Getrusage(thread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
