//go:build !linux

package box

// Spare is what there is none of on this system.
type Spare struct{}
