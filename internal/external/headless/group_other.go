//go:build !unix

package headless

import "os/exec"

// Supported reports whether a program can be ended with everything it started.
const Supported = false

func alone(*exec.Cmd) {}

func end(cmd *exec.Cmd) error { return cmd.Process.Kill() }
