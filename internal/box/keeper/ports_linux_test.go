package keeper

import (
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What the kernel answers is what its files list.
func TestWhoListensIsWhatTheFilesList(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "[::]:0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Logf("%s: %v", at, err) // a machine without the newer addresses
			continue
		}
		t.Cleanup(func() { _ = l.Close() })
	}
	mine := 0
	for family, file := range map[byte]string{unix.AF_INET: "/proc/net/tcp", unix.AF_INET6: "/proc/net/tcp6"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		ports, err := listening(family)
		if err != nil {
			t.Skip(err)
		}
		for line := range strings.Lines(string(raw)) {
			port, ok := listens(line)
			if !ok {
				continue
			}
			if mine++; !slices.Contains(ports, port) {
				if c, err := net.Dial("tcp", net.JoinHostPort("localhost", strconv.Itoa(port))); err == nil { // it has not just gone
					_ = c.Close()
					t.Errorf("port %d of %s is not among %v", port, file, ports)
				}
			}
		}
	}
	if mine == 0 {
		t.Error("nobody listens")
	}
}

// An answer that cannot be read is no answer.
func TestAnAnswerOfTheKernelsThatIsNone(t *testing.T) {
	for _, raw := range [][]byte{make([]byte, 16), append([]byte{20, 0, 0, 0, 2, 0}, make([]byte, 14)...), append([]byte{255, 0, 0, 0, 20, 0}, make([]byte, 20)...)} {
		var out []int
		if _, err := listeners(raw, &out); err == nil || len(out) > 0 {
			t.Errorf("%v: %v %v", raw, out, err)
		}
	}
}
