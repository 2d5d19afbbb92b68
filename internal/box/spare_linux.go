package box

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Spare is the first process of a box that is yet to be made: it has its namespaces, and waits to be told what to show. Most of the time
// that it takes to make a box goes into starting it, and none of that depends on what the box is for.
type Spare struct {
	first string
	alone bool
	cmd   *exec.Cmd
	wire  *wire
	gone  chan struct{} // closed when it has ended
}

// Prepare starts the first process of a box for a Want with the same First and without a Terminal.
func Prepare(first string) (*Spare, error) { return startFirst(first, true, false) }

// fits reports whether it can be the first process of that box, and lives.
func (s *Spare) fits(w Want) bool {
	select {
	case <-s.gone:
		return false
	default:
		return s.first == w.First && s.alone == (w.Terminal == "")
	}
}

// End ends one that was not used.
func (s *Spare) End() {
	_ = s.wire.conn.Close() // it ends when it hears that
	<-s.gone
}

func startFirst(first string, alone, reduced bool) (*Spare, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make box: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "box"), os.NewFile(uintptr(ends[1]), "owner")
	defer theirs.Close() // or its end would not be heard
	conn, err := net.FileConn(ours)
	_ = ours.Close()
	if err != nil {
		return nil, fmt.Errorf("make box: %w", err)
	}
	s := &Spare{first: first, alone: alone, wire: &wire{conn: conn.(*net.UnixConn)}, gone: make(chan struct{})}
	if s.cmd = firstProcess(first, alone, theirs); reduced {
		s.cmd = reducedFirst(s.cmd.Path, alone, theirs)
	}
	started := make(chan error)
	go s.hold(started)
	if err := <-started; err != nil {
		return nil, errors.Join(lackOfNamespaces(err), conn.Close())
	}
	return s, nil
}

// firstProcess is this program, started anew in namespaces of its own. It is given nothing of the environment.
func firstProcess(program string, alone bool, owner *os.File) *exec.Cmd {
	if program == "" {
		program = "/proc/self/exe"
	}
	uid, gid := os.Getuid(), os.Getgid()
	uids := []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	gids := []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	if uid == 0 && os.Geteuid() == 0 { // whoever may name all users sees them by their names
		uids, gids = sameIDs("/proc/self/uid_map", uids), sameIDs("/proc/self/gid_map", gids)
	}
	return &exec.Cmd{
		Path: program, Args: []string{firstName}, Env: []string{}, Dir: "/", ExtraFiles: []*os.File{owner}, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{
			Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS |
				syscall.CLONE_NEWPID,
			UidMappings: uids, GidMappings: gids, Pdeathsig: syscall.SIGKILL,
			Setsid: alone, // whoever is given no terminal has no way to the caller's
			AmbientCaps: []uintptr{
				unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER,
				unix.CAP_CHOWN, unix.CAP_KILL, unix.CAP_SYS_CHROOT, unix.CAP_NET_BIND_SERVICE,
			},
		},
	}
}

// hold starts the first process on a thread that lives as long as it: the kernel ends it when this thread ends.
func (s *Spare) hold(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := s.cmd.Start()
	started <- err
	if err == nil {
		_ = s.cmd.Wait() // how it ended says nothing: commands have told how they did
		close(s.gone)
	}
}
