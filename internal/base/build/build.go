// Package build says which program this is: its version, and what tells it from other builds.
package build

import (
	"crypto/rand"
	"fmt"
	"os"
	"runtime/debug"
)

// stamped is what scripts/release calls the tree it builds, for where the Go command cannot tell.
var stamped string

// Version is the version of this program.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case ok && info.Main.Version != "" && info.Main.Version != "(devel)":
		return info.Main.Version
	case stamped != "":
		return stamped
	}
	return "devel"
}

// ID tells this build from others. Two builds may have one version, so the file counts that it was started from; one that cannot
// be looked at is another at each start.
func ID() string {
	if self, err := os.Executable(); err == nil {
		if info, err := os.Stat(self); err == nil {
			return fmt.Sprintf("%s %d %d", Version(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return fmt.Sprintf("%s %s", Version(), rand.Text())
}
