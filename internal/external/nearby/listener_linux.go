package nearby

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Listener is who listens at a port of this machine: the user's number and the program. Empty: nobody, or it cannot be told.
func Listener(port int) string {
	uid, inode := listening("/proc/net/tcp", port)
	if inode == "" {
		uid, inode = listening("/proc/net/tcp6", port)
	}
	if inode == "" {
		return ""
	}
	program := "?" // somebody else's
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && to == "socket:["+inode+"]" {
			if exe, err := os.Readlink(filepath.Join(filepath.Dir(filepath.Dir(l)), "exe")); err == nil {
				program = exe
			}
			break
		}
	}
	return uid + " " + program
}

// listening reads a table of sockets. Its columns are fixed: local address, remote address, state, …, user, timeout, inode.
func listening(table string, port int) (uid, inode string) {
	f, err := os.Open(table)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	end := fmt.Sprintf(":%04X", port)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		c := strings.Fields(lines.Text())
		if len(c) > 9 && strings.HasSuffix(c[1], end) && c[3] == "0A" {
			return c[7], c[9]
		}
	}
	return "", ""
}
