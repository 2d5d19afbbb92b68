package box

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// addAddress gives an interface one more address. Without one besides the usual loopback address, programs that ask for what their
// computer can reach find no name at all.
func addAddress(name string, address [4]byte) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd) // nothing was written
	for _, do := range []struct {
		call  uint
		value [4]byte
	}{{unix.SIOCSIFADDR, address}, {unix.SIOCSIFNETMASK, [4]byte{255, 255, 255, 255}}} {
		req, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		if err := req.SetInet4Addr(do.value[:]); err != nil {
			return err
		}
		if err := unix.IoctlIfreq(fd, do.call, req); err != nil {
			return err
		}
	}
	return nil
}

// listen makes a socket in the box's network for the owner.
func (f *first) listen(m message) {
	s, err := socketAt(m.Listen)
	if err != nil {
		_ = f.wire.send(message{ID: m.ID, Ended: true, Fault: fmt.Sprintf("%s: %v", m.Listen, err)})
		return
	}
	_ = f.wire.send(message{ID: m.ID, Ended: true}, s)
	_ = s.Close()
}

// socketAt makes a socket that listens at what is said as "tcp 127.0.0.1:80".
func socketAt(what string) (*os.File, error) {
	network, address, _ := strings.Cut(what, " ")
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return nil, errors.New("no address of the box")
	}
	kind, family, place := unix.SOCK_STREAM, unix.AF_INET, unix.Sockaddr(&unix.SockaddrInet4{Port: int(at.Port())})
	if network == "udp" {
		kind = unix.SOCK_DGRAM
	}
	if at.Addr().Is4() {
		place.(*unix.SockaddrInet4).Addr = at.Addr().As4()
	} else {
		family, place = unix.AF_INET6, &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	s := os.NewFile(uintptr(fd), what)
	err = errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1), unix.Bind(fd, place))
	if err == nil && kind == unix.SOCK_STREAM {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// tell answers which program has a connection.
func (f *first) tell(m message) {
	_ = f.wire.send(message{ID: m.ID, Ended: true, Program: programAt(m.Find)})
}

// programAt is the name of the process that has the connection whose own end is an address; empty: none was found.
func programAt(address string) string {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().Unmap().Is4() {
		return ""
	}
	four := at.Addr().Unmap().As4()
	own := fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(four[:]), at.Port())
	inode := ""
	for _, table := range []string{"tcp", "tcp6"} {
		text, _ := os.ReadFile("/proc/self/net/" + table)
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 9 && strings.HasSuffix(f[1], own) && f[9] != "0" {
				inode = "socket:[" + f[9] + "]"
			}
		}
	}
	if inode == "" {
		return ""
	}
	files, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, name := range files {
		if to, err := os.Readlink(name); err != nil || to != inode {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(name, "/")[2])
		if err != nil || pid == 1 {
			continue
		}
		comm, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
		return strings.TrimSpace(string(comm))
	}
	return ""
}
