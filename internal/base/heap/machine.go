package heap

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// Share is how much of a machine's memory what can be had again may take: a quarter of it, and no more than most. Where nobody can
// tell what there is, it is a quarter of most.
func Share(most int64) int64 {
	if n := machine(os.ReadFile); n > 0 {
		return min(n/4, most)
	}
	return most / 4
}

// machine is how many bytes of memory there are for this process, by the system and by the groups it runs in; 0: nobody can tell.
func machine(read func(string) ([]byte, error)) int64 {
	least := int64(math.MaxInt64)
	note := func(text string, unit int64) {
		if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil && n > 0 && n < math.MaxInt64/unit { // "max" is none
			least = min(least, n*unit)
		}
	}
	if b, err := read("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if size, ok := strings.CutPrefix(line, "MemTotal:"); ok {
				note(strings.TrimSuffix(strings.TrimSpace(size), "kB"), 1<<10)
			}
		}
	}
	for _, file := range groups(read) {
		if b, err := read(file); err == nil {
			note(string(b), 1)
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// groups are the files in which the groups of this process may say how much memory they have.
func groups(read func(string) ([]byte, error)) []string {
	const root = "/sys/fs/cgroup"
	out := []string{root + "/memory.max", root + "/memory/memory.limit_in_bytes"}
	b, err := read("/proc/self/cgroup")
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(b)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		kinds, folder, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		for ; folder != "/" && folder != "." && folder != ""; folder = path.Dir(folder) {
			if kinds == "" {
				out = append(out, root+folder+"/memory.max")
			} else if kinds == "memory" {
				out = append(out, root+"/memory"+folder+"/memory.limit_in_bytes")
			}
		}
	}
	return out
}
