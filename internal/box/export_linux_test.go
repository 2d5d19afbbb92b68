package box

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// RefuseNamespaces has the kernel refuse this process new namespaces, as the filters of container engines do.
func RefuseNamespaces() error {
	p := []unix.SockFilter{load(atNumber)}
	p = append(p, calling(unix.SYS_CLONE3, notThere)...)
	p = append(p, calling(unix.SYS_CLONE, load(atFirst), jump(unix.BPF_JSET, spaces, 0, 1), notPermitted, allow)...)
	p = append(p, allow)
	program := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		return e
	}
	return nil
}

// NoNewRights lets a filter be set by who has no rights.
func NoNewRights() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// OnOwnThread has a thread of its own do something.
func OnOwnThread(do func()) { onOwnThread(do) }
