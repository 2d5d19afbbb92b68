package box

import "golang.org/x/sys/unix"

const arch uint32 = unix.AUDIT_ARCH_AARCH64

// refusedHere are calls that not every kind of processor has.
var refusedHere = []uint32{unix.SYS_KEXEC_FILE_LOAD, unix.SYS_NFSSERVCTL, unix.SYS_LOOKUP_DCOOKIE}

// Where calls that set a mode have it, and where those that may make a file have their flags, before the mode.
var (
	modeAt = map[uint32]uint32{
		unix.SYS_FCHMOD: atSecond, unix.SYS_FCHMODAT: atThird, unix.SYS_FCHMODAT2: atThird, unix.SYS_MKNODAT: atThird,
	}
	openAt = map[uint32]uint32{unix.SYS_OPENAT: atThird}
)
