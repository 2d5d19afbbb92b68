package peer

import (
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Known says that processes can be looked at here.
const Known = true

// caller is the process at the other end, as the kernel says: 0 where it is in a space of processes that is not seen from here.
func caller(c net.Conn) (int, bool) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0, false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, false
	}
	var cred *syscall.Ucred
	var bad error
	err = raw.Control(func(fd uintptr) {
		cred, bad = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err != nil || bad != nil {
		return 0, false
	}
	return int(cred.Pid), true
}

// boot tells this start of the machine from others.
var boot = sync.OnceValue(func() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "-"
	}
	return strings.TrimSpace(string(raw))
})

// look reads what the kernel says of a process. Of one that is not there, its number is kept.
func look(pid int) (process, bool) {
	p := process{pid: pid}
	if pid <= 0 {
		return p, false
	}
	folder := "/proc/" + strconv.Itoa(pid)
	raw, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return p, false
	}
	text := string(raw)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // the name before may hold blanks and brackets
	if len(fields) < 20 {
		return p, false
	}
	if p.parent, err = strconv.Atoi(fields[1]); err != nil {
		return p, false
	}
	p.name = boot() + "/" + strconv.Itoa(pid) + "/" + fields[19]
	if line, err := os.ReadFile(folder + "/cmdline"); err == nil {
		p.args = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	}
	return p, true
}

// pidOf is the number in a name; 0: it is none of this start of the machine.
func pidOf(name string) int {
	rest, ok := strings.CutPrefix(name, boot()+"/")
	number, _, _ := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(number)
	if !ok || err != nil {
		return 0
	}
	return pid
}
