package box

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newest is the last call of the kernel that was known when this was written: what came later is not there for commands in the box.
const newest = unix.SYS_RSEQ_SLICE_YIELD

// spaces are the flags that ask for new namespaces, in which a command would have rights again.
const spaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS |
	unix.CLONE_NEWCGROUP

const newTime = 0x80 // CLONE_NEWTIME, which clone takes for part of a signal

// refused are calls that no program of a developer needs without rights over the machine, and in which the kernel has had many faults.
var refused = append([]uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS,
	unix.SYS_CHROOT, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_KEXEC_LOAD,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_FANOTIFY_INIT, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_LISTNS,
}, refusedHere...)

// Where the parts of a call stand in what a filter looks at; arguments by their lower halves, which is all the kernel takes of these.
const (
	atNumber = 0
	atArch   = 4
	atFirst  = 16
	atSecond = 24
	atThird  = 32
)

var (
	allow        = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	notPermitted = answer(unix.EPERM)
	notThere     = answer(unix.ENOSYS)
	notSupported = answer(unix.EAFNOSUPPORT)
)

func answer(e unix.Errno) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(e)}
}

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func jump(how uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, K: k, Jt: yes, Jf: no}
}

// calling is a part of the filter for one call: it is skipped for any other, and ends in an answer.
func calling(number uint32, then ...unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{jump(unix.BPF_JEQ, number, 0, uint8(len(then)))}, then...) // a handful
}

// filter is what the kernel asks about every call of a command.
func filter(reduced bool) []unix.SockFilter {
	p := []unix.SockFilter{
		load(atArch), jump(unix.BPF_JEQ, arch, 1, 0), notPermitted,
		load(atNumber), jump(unix.BPF_JGT, newest, 0, 1), notThere,
	}
	if reduced {
		p = append(p, alone()...)
	}
	for _, n := range refused {
		p = append(p, calling(n, notPermitted)...)
	}
	p = append(p, calling(unix.SYS_CLONE3, notThere)...) // its flags cannot be looked at; callers take clone instead
	p = append(p, calling(unix.SYS_CLONE, load(atFirst), jump(unix.BPF_JSET, spaces, 0, 1), notPermitted, allow)...)
	p = append(p, calling(unix.SYS_UNSHARE, load(atFirst), jump(unix.BPF_JSET, spaces|newTime, 0, 1), notPermitted, allow)...)
	p = append(p, calling(unix.SYS_SOCKET,
		load(atFirst), jump(unix.BPF_JEQ, unix.AF_UNIX, 5, 0), jump(unix.BPF_JEQ, unix.AF_INET, 4, 0),
		jump(unix.BPF_JEQ, unix.AF_INET6, 3, 0), jump(unix.BPF_JEQ, unix.AF_NETLINK, 0, 3),
		load(atThird), jump(unix.BPF_JEQ, unix.NETLINK_ROUTE, 0, 1), allow, notSupported)...)
	// typing into the terminal of others, and pasting on the consoles of the kernel
	p = append(p, calling(unix.SYS_IOCTL, load(atSecond), jump(unix.BPF_JEQ, unix.TIOCSTI, 1, 0), jump(unix.BPF_JEQ, unix.TIOCLINUX, 0, 1),
		notPermitted, allow)...)
	p = append(p, calling(unix.SYS_OPENAT2, notThere)...) // its modes cannot be looked at; callers take openat instead
	p = append(p, modes()...)
	return append(p, allow)
}

// alone refuses what namespaces would have made harmless: sockets of every kind, memory and messages that all processes of the user
// share, and limits of other processes. A pair of sockets leads nowhere.
func alone() []unix.SockFilter {
	p := calling(unix.SYS_SOCKET, notSupported)
	for _, n := range []uint32{
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
		unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	} {
		p = append(p, calling(n, notPermitted)...)
	}
	return append(p, calling(unix.SYS_PRLIMIT64, load(atFirst), jump(unix.BPF_JEQ, 0, 1, 0), notPermitted, allow)...)
}

// asOwner is the mode of a file that runs with the rights of its owner, whoever starts it: outside the box as well.
const asOwner = unix.S_ISUID

// modes refuses to make a file such a one.
func modes() []unix.SockFilter {
	var p []unix.SockFilter
	for number, at := range modeAt {
		p = append(p, calling(number, load(at), jump(unix.BPF_JSET, asOwner, 0, 1), notPermitted, allow)...)
	}
	for number, at := range openAt { // the mode counts if a file is made
		p = append(p, calling(number, load(at), jump(unix.BPF_JSET, unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY, 0, 3),
			load(at+8), jump(unix.BPF_JSET, asOwner, 0, 1), notPermitted, allow)...)
	}
	return p
}

// holdCalls puts the calling thread behind the filter.
func holdCalls(reduced bool) error {
	if arch == 0 {
		return &Lack{What: "there is no filter of calls for this kind of processor"}
	}
	p := filter(reduced)
	program := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]} // some hundred
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))); e != 0 {
		return fmt.Errorf("go behind the filter of calls: %w", e)
	}
	return nil
}
