// Package openclaw holds the built OpenClaw plugin, so that the program can put it where
// the gateway loads it. It is pure: the files are part of the program.
package openclaw

import "embed"

// Files are the plugin as the gateway needs it: its manifest, package.json and dist.
//
//go:embed openclaw.plugin.json package.json dist/*.js
var Files embed.FS
