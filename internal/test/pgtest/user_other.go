//go:build !unix

package pgtest

import "os/exec"

func drop(*exec.Cmd, *attributes) {}
