//go:build !linux

package peer

import "net"

// Known says that processes can be looked at here.
const Known = false

func caller(net.Conn) (int, bool) { return 0, false }

func look(pid int) (process, bool) { return process{pid: pid}, false }

func pidOf(string) int { return 0 }
