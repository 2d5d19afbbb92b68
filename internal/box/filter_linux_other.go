//go:build linux && !amd64 && !arm64

package box

const arch uint32 = 0 // none is known, so no box is made

var refusedHere []uint32

var modeAt, openAt map[uint32]uint32
