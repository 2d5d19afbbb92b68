//go:build !linux && !darwin && !windows

package heap

func machine() int64 { return 0 }
