package box

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mostProcesses is how many processes and threads a box may have at once: a bomb of them must not take the machine with it.
const mostProcesses = 8192

// limit bounds what the processes of the box can use up, as far as the kernel lets everybody do so. What cannot be bounded is not a
// reason to make no box.
func limit(reduced bool) {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0) // where memory runs out they are ended before others
	var now unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &now) == nil && now.Max > mostProcesses {
		_ = unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: min(now.Cur, mostProcesses), Max: mostProcesses})
	}
	// the kernel starts a program of the machine for a crash unless the limit is just 1
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1, Max: 1})
	if !reduced && kernelFrom(6, 14) { // before, it was a setting of the whole machine; and the limit above does not hold root
		_ = os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.Itoa(mostProcesses)), 0)
	}
}

// kernelFrom reports whether the kernel is of a version or later.
func kernelFrom(major, minor int) bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return false
	}
	var numbers [2]int
	at := 0
	for _, c := range unix.ByteSliceToString(name.Release[:]) {
		switch {
		case c >= '0' && c <= '9':
			numbers[at] = numbers[at]*10 + int(c-'0')
		case c == '.' && at == 0:
			at++
		default:
			return numbers[0] > major || numbers[0] == major && numbers[1] >= minor
		}
	}
	return numbers[0] > major || numbers[0] == major && numbers[1] >= minor
}

// deadly are signals that end a Go program which does not take them in. A command may send any to the first process.
func deadly() []os.Signal {
	return []os.Signal{
		unix.SIGABRT, unix.SIGILL, unix.SIGTRAP, unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV, unix.SIGSYS, unix.SIGSTKFLT, unix.SIGXCPU,
		unix.SIGXFSZ,
		unix.SIGPWR, unix.SIGIO, unix.SIGPROF, unix.SIGVTALRM, unix.SIGPIPE,
	}
}

// ignoreRest has the first process ignore the signals that the runtime leaves to C libraries (32 and 34): one that is neither answered
// nor ignored can end it, and anybody in the box can send it. Programs that are started ignore them too, until they say otherwise.
func ignoreRest() error {
	ignore := [64]byte{1} // a sigaction of the kernel's whose handler is SIG_IGN
	const maskBytes = 8
	for _, s := range []uintptr{32, 34} {
		_, _, err := unix.RawSyscall6(unix.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&ignore[0])), 0, maskBytes, 0, 0)
		if err != 0 {
			return err
		}
	}
	return nil
}
