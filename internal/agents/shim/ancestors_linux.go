package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// farthest is how many processes are looked at.
const farthest = 12

// ancestors are the processes above this one, each by its program's file: where it lies, which one it is and when it was last changed.
// Of a program that runs a script, the script's file counts too.
func ancestors(stop int) []string {
	var out []string
	for pid := os.Getppid(); pid > 1 && pid != stop && len(out) < farthest; pid = parentOf(pid) {
		name, ok := programOf(pid)
		if !ok {
			break
		}
		out = append(out, name)
	}
	return out
}

// startedWith are the words of the processes above, of those that belong to this user's terminal too: a word too many leaves a command
// to be asked about.
func startedWith() []string {
	var out []string
	for pid, n := os.Getppid(), 0; pid > 1 && n < farthest; pid, n = parentOf(pid), n+1 {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if err != nil {
			break
		}
		out = append(out, strings.Split(string(line), "\x00")...)
	}
	return out
}

func parentOf(pid int) int {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:])) // the name before may hold anything
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

func programOf(pid int) (string, bool) {
	folder := "/proc/" + strconv.Itoa(pid)
	path, err := os.Readlink(folder + "/exe")
	if err != nil {
		return "", false
	}
	name, ok := fileOf(folder+"/exe", path)
	if !ok {
		return "", false
	}
	line, err := os.ReadFile(folder + "/cmdline")
	if err != nil {
		return "", false
	}
	for _, word := range strings.Split(string(line), "\x00")[1:] {
		if filepath.IsAbs(word) {
			if script, ok := fileOf(word, word); ok {
				return name + " " + script, true
			}
		}
		if !strings.HasPrefix(word, "-") {
			break
		}
	}
	return name, true
}

// fileOf tells a file from every other, and from itself once it was changed.
func fileOf(path, name string) (string, bool) {
	info, err := os.Stat(path) //nolint:gosec // it is only looked at
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return fmt.Sprintf("%s %d:%d:%d:%d:%d", name, s.Dev, s.Ino, s.Size, s.Mtim.Nano(), s.Ctim.Nano()), true
}
