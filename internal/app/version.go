package app

import "runtime/debug"

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
