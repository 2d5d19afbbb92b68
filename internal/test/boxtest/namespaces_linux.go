package boxtest

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// spaces are the flags that ask for namespaces.
const spaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS |
	unix.CLONE_NEWCGROUP

// NoNamespaces has the kernel refuse this process, and all that it starts, new namespaces, as the filters of container engines do: what
// asks for one is not permitted, and calls whose flags cannot be looked at are not there.
func NoNamespaces() error {
	const number, first, refuse = 0, 16, unix.SECCOMP_RET_ERRNO
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	jump := func(how uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	p := []unix.SockFilter{
		load(number),
		jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), answer(refuse | uint32(unix.ENOSYS)),
		jump(unix.BPF_JEQ, unix.SYS_MOUNT, 0, 1), answer(refuse | uint32(unix.EPERM)),
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 1, 0), jump(unix.BPF_JEQ, unix.SYS_UNSHARE, 0, 3),
		load(first), jump(unix.BPF_JSET, spaces, 0, 1), answer(refuse | uint32(unix.EPERM)),
		answer(unix.SECCOMP_RET_ALLOW),
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]} // a handful
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		return e
	}
	return nil
}
