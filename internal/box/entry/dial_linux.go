package entry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tidemark/tidemark/internal/base/filelock"
	"github.com/tidemark/tidemark/internal/base/fileowner"
	"github.com/tidemark/tidemark/internal/base/launch"
)

// ErrNoKeeper says that no keeper runs.
var ErrNoKeeper = errors.New("no box keeper is running")

// startTime is how long a keeper may take to come up, and again how long is waited before it is looked for once more.
const (
	startTime = 15 * time.Second
	again     = 5 * time.Millisecond
)

// dial connects to the keeper of a data folder. The folder is opened first and the socket named below it: paths of sockets are short.
func dial(data string) (*net.UnixConn, error) {
	dir, err := os.Open(data)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("find the box keeper: there is no data folder %s (tidemark init makes it)", data)
	}
	if err != nil {
		return nil, fmt.Errorf("find the box keeper: %w", err)
	}
	defer dir.Close()
	info, err := dir.Stat()
	if err != nil {
		return nil, fmt.Errorf("find the box keeper: %w", err)
	}
	if !fileowner.Mine(info) || fileowner.Open(info, 0o022) {
		return nil, fmt.Errorf("find the box keeper: the data folder %s is not this user's alone to change", data)
	}
	name := fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(Socket(data)))
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: name, Net: "unix"})
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, ErrNoKeeper
	}
	if err != nil {
		return nil, fmt.Errorf("reach the box keeper: %w", err)
	}
	peer, err := Peer(conn)
	if err == nil && int(peer.Uid) != os.Getuid() {
		err = fmt.Errorf("user %d listens there", peer.Uid)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reach the box keeper: %w", err), conn.Close())
	}
	return conn, nil
}

// Peer is the process at the other end, as the kernel took it down when they connected.
func Peer(conn *net.UnixConn) (*unix.Ucred, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Ucred
	var bad error
	if err := raw.Control(func(fd uintptr) { cred, bad = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return nil, err
	}
	return cred, bad
}

// reach connects to the keeper, and starts one where none runs. Of many clients at once one starts it and the others wait.
func reach(data string) (*net.UnixConn, error) {
	conn, err := dial(data)
	if !errors.Is(err, ErrNoKeeper) {
		return conn, err
	}
	lock, err := os.OpenFile(filepath.Join(data, "keep.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start the box keeper: %w", err)
	}
	defer lock.Close() // lets go of it
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	var ended <-chan error
	for ours := false; ; {
		if conn, err = dial(data); !errors.Is(err, ErrNoKeeper) {
			return conn, err
		}
		if !ours {
			if ours, err = filelock.Try(lock); err != nil {
				return nil, fmt.Errorf("start the box keeper: %w", err)
			}
		}
		if ours && ended == nil {
			if ended, err = start(data); err != nil {
				return nil, fmt.Errorf("start the box keeper: %w", err)
			}
		}
		select {
		case err := <-ended:
			if err != nil {
				return nil, fmt.Errorf("the box keeper was started and ended (%w; see %s)", err, Log(data))
			}
			ended = nil // another one has the folder: it answers, or lets go
			time.Sleep(10 * again)
		case <-ctx.Done():
			return nil, fmt.Errorf("no box keeper came up in time (see %s)", Log(data))
		case <-time.After(again):
		}
	}
}

// start starts the keeper: the program that stands beside this one, with nothing of this process's environment. What an agent has there
// is what repositories and content can shape.
func start(data string) (<-chan error, error) {
	if !filepath.IsAbs(data) {
		return nil, fmt.Errorf("%q is no whole path of a data folder", data)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(filepath.Dir(self), "tidemark")
	info, err := os.Stat(program)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || fileowner.Open(info, 0o002) {
		return nil, fmt.Errorf("%s is no program that only its owner can change", program)
	}
	return launch.Program{
		Path: program, Args: []string{"box", "keep", "--data", data}, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}, Dir: "/",
		Log: Log(data),
	}.Start()
}
