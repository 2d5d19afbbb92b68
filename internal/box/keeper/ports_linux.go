package keeper

import (
	"encoding/hex"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// given are the ports that the kernel gives to whoever asks for any: what listens there is nobody's service.
const given = 32768

// services are the ports below those at which something listens on this machine's loopback.
func services() []int {
	var out []int
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // no service is known
		}
		for line := range strings.Lines(string(raw)) {
			if port, ok := listens(line); ok && port < given && !slices.Contains(out, port) {
				out = append(out, port)
			}
		}
	}
	slices.Sort(out)
	return out
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
