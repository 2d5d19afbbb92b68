//go:build !unix

package install

import "io/fs"

// ownerOf knows nothing here: files belong to whom their folder says.
func ownerOf(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }
