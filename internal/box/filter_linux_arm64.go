package box

import "golang.org/x/sys/unix"

const arch uint32 = unix.AUDIT_ARCH_AARCH64

// refusedHere are calls that not every kind of processor has.
var refusedHere = []uint32{unix.SYS_KEXEC_FILE_LOAD, unix.SYS_NFSSERVCTL, unix.SYS_LOOKUP_DCOOKIE}
