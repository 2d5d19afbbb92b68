package keeper

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// given are the ports that the kernel gives to whoever asks for any: what listens there is nobody's service.
const given = 32768

// services are the ports below those at which something listens on this machine's loopback. The kernel is asked for what listens and for
// nothing else: the files below /proc list every connection, and take milliseconds for each command.
func services() []int {
	var out []int
	add := func(port int) {
		if port < given && !slices.Contains(out, port) {
			out = append(out, port)
		}
	}
	for family, file := range map[byte]string{unix.AF_INET: "/proc/net/tcp", unix.AF_INET6: "/proc/net/tcp6"} {
		if ports, err := listening(family); err == nil {
			for _, port := range ports {
				add(port)
			}
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // no service is known
		}
		for line := range strings.Lines(string(raw)) {
			if port, ok := listens(line); ok {
				add(port)
			}
		}
	}
	slices.Sort(out)
	return out
}

// What the kernel is asked, and answers (linux/inet_diag.h): a header of messages, then who is meant.
const (
	byFamily    = 20 // SOCK_DIAG_BY_FAMILY
	stateListen = 10 // TCP_LISTEN
	requestSize = unix.NLMSG_HDRLEN + 56
	answerSize  = 4 + 48
	portAt      = 4
	addressAt   = 8
)

// listening asks the kernel who listens for this machine's own, of one family of addresses.
func listening(family byte) ([]int, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		return nil, err
	}
	request := make([]byte, requestSize)
	order := binary.NativeEndian
	order.PutUint32(request, requestSize)
	order.PutUint16(request[4:], byFamily)
	order.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	request[unix.NLMSG_HDRLEN], request[unix.NLMSG_HDRLEN+1] = family, unix.IPPROTO_TCP
	order.PutUint32(request[unix.NLMSG_HDRLEN+4:], 1<<stateListen)
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	var out []int
	buffer := make([]byte, 64<<10)
	for {
		n, _, err := unix.Recvfrom(fd, buffer, 0)
		if err != nil {
			return nil, err
		}
		more, err := listeners(buffer[:n], &out)
		if err != nil || !more {
			return out, err
		}
	}
}

// listeners reads messages of the kernel's, and reports whether there are more to come.
func listeners(raw []byte, out *[]int) (more bool, err error) {
	order := binary.NativeEndian
	for len(raw) >= unix.NLMSG_HDRLEN {
		size, kind := int(order.Uint32(raw)), order.Uint16(raw[4:])
		if size < unix.NLMSG_HDRLEN || size > len(raw) {
			return false, unix.EBADMSG
		}
		body := raw[unix.NLMSG_HDRLEN:size]
		switch {
		case kind == unix.NLMSG_DONE:
			return false, nil
		case kind != byFamily || len(body) < answerSize:
			return false, unix.EBADMSG // an error among it: then the files are read
		}
		wide := 4
		if body[0] == unix.AF_INET6 {
			wide = 16
		}
		a, _ := netip.AddrFromSlice(body[addressAt : addressAt+wide])
		if a = a.Unmap(); a.IsLoopback() || a.IsUnspecified() {
			*out = append(*out, int(binary.BigEndian.Uint16(body[portAt:])))
		}
		raw = raw[min(len(raw), (size+3)&^3):]
	}
	return true, nil
}

// listens reads a line of the kernel's: the port at which somebody listens for this machine's own.
func listens(line string) (port int, ok bool) {
	const state, listening = 3, "0A"
	fields := strings.Fields(line)
	if len(fields) <= state || fields[state] != listening {
		return 0, false
	}
	address, at, _ := strings.Cut(fields[1], ":")
	raw, err := hex.DecodeString(address)
	number, err2 := strconv.ParseUint(at, 16, 16)
	if err != nil || err2 != nil || len(raw)%4 != 0 {
		return 0, false
	}
	for i := 0; i+3 < len(raw); i += 4 { // each four bytes as a number of this machine's
		slices.Reverse(raw[i : i+4])
	}
	a, ok := netip.AddrFromSlice(raw)
	a = a.Unmap()
	return int(number), ok && (a.IsLoopback() || a.IsUnspecified())
}
