package tool

import "bytes"

// Canary is a marker that no honest call holds: a call with it in its arguments is denied
// whatever the policy says. So every door can be tried at any time, and what happens then
// tells whether calls through it are decided at all.
const Canary = "tidemark-canary-must-not-run"

// IsCanary reports whether a call is there to be denied.
func IsCanary(args []byte) bool { return bytes.Contains(args, canary) }

var canary = []byte(Canary)
