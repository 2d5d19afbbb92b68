package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// errNotStarted is a command that is there and could not be started.
var errNotStarted = errors.New("cannot be started")

// launch starts a command behind every lock. The locks are put on a thread that does nothing else and ends afterwards: what it
// starts is behind them from the beginning, and this process is not.
func (f *first) launch(m message, files []*os.File) (int, error) {
	var pid int
	var err error
	onOwnThread(func() { pid, err = f.lockAndStart(m, files) })
	return pid, err
}

// onOwnThread has a thread do something that does nothing else and ends afterwards. It is never the first thread of the process, which
// stands for all of it: a command that is behind the same fence as that one could signal this process.
func onOwnThread(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread must not be used for anything else
		if unix.Gettid() == unix.Getpid() {
			onOwnThread(do) // while this one is taken
			runtime.UnlockOSThread()
			return
		}
		do()
	}()
	<-done
}

func (f *first) lockAndStart(m message, files []*os.File) (int, error) {
	path, err := find(m.Args[0], m.Dir, m.Env)
	if err != nil {
		return 0, err
	}
	if info, err := os.Stat(m.Dir); err != nil || !info.IsDir() {
		return 0, fmt.Errorf("the folder %s cannot be seen in the box", m.Dir)
	}
	if err := dropRights(f.reduced); err != nil {
		return 0, fmt.Errorf("drop rights: %w", err)
	}
	if err := f.fence.hold(files); err != nil {
		return 0, err
	}
	if err := holdCalls(f.reduced); err != nil {
		return 0, err
	}
	numbers := make([]uintptr, len(files))
	for i, h := range files {
		numbers[i] = h.Fd()
	}
	pid, err := syscall.ForkExec(path, m.Args, &syscall.ProcAttr{ //nolint:gosec // running it is what was asked for
		Dir: m.Dir, Env: m.Env, Files: numbers,
		Sys: &syscall.SysProcAttr{Setsid: m.Leads, Setctty: m.Screen != nil},
	})
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return 0, fmt.Errorf("start %s: %w", m.Args[0], err)
		}
		return 0, fmt.Errorf("start %s: %w: %w", m.Args[0], errNotStarted, err)
	}
	return pid, nil
}

// find is the file of a program, as shells look for it.
func find(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	list := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			list = v
		}
	}
	for _, in := range filepath.SplitList(list) {
		path := filepath.Join(in, name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("find %s: %w", name, os.ErrNotExist)
}

// dropRights takes from the calling thread, and from what it starts, every right over the box, for good.
func dropRights(reduced bool) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	for right := uintptr(0); right < 64; right++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0); err != nil {
			if errors.Is(err, unix.EINVAL) || reduced && errors.Is(err, unix.EPERM) {
				break // the kernel knows no more; or there are none to take, and none can be had any more
			}
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	none := [2]unix.CapUserData{}
	return unix.Capset(&head, &none[0])
}
