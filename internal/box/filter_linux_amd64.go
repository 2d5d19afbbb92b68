package box

import "golang.org/x/sys/unix"

const arch uint32 = unix.AUDIT_ARCH_X86_64

// refusedHere are calls that only this kind of processor has.
var refusedHere = []uint32{
	unix.SYS_KEXEC_FILE_LOAD, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB, unix.SYS_MODIFY_LDT,
	unix.SYS_CREATE_MODULE, unix.SYS_QUERY_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_NFSSERVCTL, unix.SYS_LOOKUP_DCOOKIE, unix.SYS__SYSCTL,
}

// Where calls that set a mode have it, and where those that may make a file have their flags, before the mode.
var (
	modeAt = map[uint32]uint32{
		unix.SYS_CHMOD: atSecond, unix.SYS_FCHMOD: atSecond, unix.SYS_FCHMODAT: atThird, unix.SYS_FCHMODAT2: atThird,
		unix.SYS_CREAT: atSecond,
		unix.SYS_MKNOD: atSecond, unix.SYS_MKNODAT: atThird,
	}
	openAt = map[uint32]uint32{unix.SYS_OPEN: atSecond, unix.SYS_OPENAT: atThird}
)
