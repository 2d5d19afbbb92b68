package serverproof

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Life is a process as it announces itself: its number alone is soon somebody else's.
type Life struct {
	PID   int    `json:"pid"`
	Since string `json:"since,omitzero"` // when it started, in the kernel's own count
	Space string `json:"space,omitzero"` // in which numbers are given; those of another say nothing here
}

// Own is this process. Where the system does not say more, the number is all there is.
func Own() Life { return life(os.Getpid()) }

func life(pid int) Life {
	l := Life{PID: pid}
	if since, err := started(l.PID); err == nil {
		l.Since, l.Space = since, space()
	}
	return l
}

// Over reports whether the process is certainly gone. One that cannot be looked at may live:
// then the proof alone tells.
func (l Life) Over() bool {
	if l.Since == "" || l.PID <= 0 || l.Space == "" || l.Space != space() {
		return false
	}
	since, err := started(l.PID)
	return errors.Is(err, fs.ErrNotExist) || err == nil && since != l.Since
}

// space is the set of numbers that this process is counted in; "" where there is only one.
func space() string {
	s, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return s
}

// started reads when a process started: the 22nd field, counted after the name, which may
// hold blanks and brackets.
func started(pid int) (string, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", err
	}
	_, rest, ok := strings.Cut(string(raw[max(0, strings.LastIndexByte(string(raw), ')')):]), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return "", errors.New("the process cannot be read")
	}
	return fields[19], nil
}
