//go:build unix

package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// processes are the server and what it started.
func (c *Cluster) processes() []int {
	first := c.server.Process.Pid
	out := []int{first}
	found, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is a good one
	for _, file := range found {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, rest, ok := strings.Cut(string(raw), ") ") // the name before it may hold anything
		fields := strings.Fields(rest)
		if !ok || len(fields) < 2 || fields[1] != strconv.Itoa(first) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

func (c *Cluster) signal(s syscall.Signal) {
	for _, pid := range c.processes() {
		_ = syscall.Kill(pid, s) // it may have ended meanwhile
	}
}

// Crash is kill -9 of all of the server. Start brings it back.
func (c *Cluster) Crash() {
	c.signal(syscall.SIGSTOP) // so that none of them ends in a way of its own, or starts another
	all := c.processes()
	c.signal(syscall.SIGKILL)
	_ = c.server.Wait()
	for range 1000 { // while one of them is left the memory they share is in use
		if !slices.ContainsFunc(all, alive) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// alive reports whether a process is there, and has not ended.
func alive(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(raw), ") ")
	return err == nil && !strings.HasPrefix(rest, "Z")
}

// Pause stops the server where it is, with its connections open; Resume lets it go on.
func (c *Cluster) Pause() { c.signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (c *Cluster) Resume() { c.signal(syscall.SIGCONT) }

// Standby is a second server that takes over what the first one writes, and of which the first one waits: a commit is
// acknowledged when both have it.
func (c *Cluster) Standby(t testing.TB) *Cluster {
	t.Helper()
	if c.fault != nil {
		return &Cluster{fault: c.fault}
	}
	s := &Cluster{bin: c.bin, attr: c.attr}
	t.Cleanup(s.stop)
	if s.fault = s.follow(c); s.fault != nil {
		t.Fatal(s.fault)
	}
	return s
}

func (c *Cluster) follow(first *Cluster) (err error) {
	if c.dir, err = os.MkdirTemp("", "pg"); err != nil {
		return err
	}
	if c.attr != nil {
		if err := os.Chown(c.dir, int(c.attr.uid), int(c.attr.gid)); err != nil {
			return err
		}
	}
	backup := first.command("pg_basebackup", "-h", first.dir, "-U", "postgres", "-D", c.data(), "-R", "-X", "stream",
		"-c", "fast", "--no-sync")
	if out, err := backup.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w: %s", err, out)
	}
	if err := c.Start(); err != nil {
		return err
	}
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if out, err := first.command("psql", "-h", first.dir, "-U", "postgres", "-qtAc", statement).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", statement, err, out)
		}
	}
	return nil
}

// Promote makes a standby the server that takes writes.
func (c *Cluster) Promote() error {
	if out, err := c.command("pg_ctl", "-D", c.data(), "promote", "-w").CombinedOutput(); err != nil {
		return fmt.Errorf("promote: %w: %s", err, out)
	}
	return nil
}

// Dir is the folder of the server's socket.
func (c *Cluster) Dir() string { return c.dir }
