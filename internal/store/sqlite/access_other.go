//go:build !(darwin || freebsd || linux || netbsd || openbsd)

package sqlite

// mayWrite cannot be asked here; the first write will tell.
func mayWrite(string) error { return nil }
