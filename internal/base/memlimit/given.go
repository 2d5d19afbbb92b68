package memlimit

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	quarter = 4         // of what is given is for what a server holds of those who speak
	most    = 512 << 20 // bytes, of which more brings nothing
	unknown = 64 << 20  // bytes, where nobody says what is given
)

// Share is how many bytes what a server holds of those who speak may take: a quarter of what it is given, and at most 512 MB.
func Share(given int64) int64 {
	if given <= 0 {
		return unknown
	}
	return max(1, min(given/quarter, most))
}

// Given is how many bytes of memory this process has at the most: of the machine, of its control group on Linux, and of what
// GOMEMLIMIT says. 0: nobody knows.
func Given() int64 {
	given := machine()
	if os.Getenv("GOMEMLIMIT") != "" {
		given = least(given, debug.SetMemoryLimit(-1))
	}
	return given
}

// On is what a Linux system gives, whose files are under root: the least of the machine's memory and of the limits of the control group
// and those above it.
func On(root fs.FS) int64 {
	given := total(root)
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return given
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0" && parts[1] == "":
			given = least(given, limits(root, "sys/fs/cgroup", parts[2], "memory.max", "memory.high"))
		case strings.Contains(","+parts[1]+",", ",memory,"):
			given = least(given, limits(root, "sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
		}
	}
	return given
}

// limits is the least limit of a group and of those above it; 0: there is none. In a container the group's own folder may not be there, and
// what is mounted at the top is the container's.
func limits(root fs.FS, mount, group string, names ...string) (given int64) {
	for at := path.Join("/", group); ; at = path.Dir(at) {
		for _, name := range names {
			raw, err := fs.ReadFile(root, path.Join(mount, at, name))
			if err != nil {
				continue
			}
			if n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil { // else it says max
				given = least(given, n)
			}
		}
		if at == "/" {
			return given
		}
	}
}

// total is the machine's memory; 0: nobody knows.
func total(root fs.FS) int64 {
	raw, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) == 3 && fields[0] == "MemTotal:" && fields[2] == "kB" {
			n, err := strconv.ParseInt(fields[1], 10, 53)
			if err != nil {
				return 0
			}
			return n << 10
		}
	}
	return 0
}

// least is the smaller of two, of which 0 says nothing.
func least(a, b int64) int64 {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}
