package relay

import (
	"net/netip"
	"testing"
)

// A computer that its owner's settings name may be in a private network, and is never this machine or what a cloud tells its own.
func TestWhereAKnownComputerMayBe(t *testing.T) {
	for text, want := range map[string][2]bool{
		"8.8.8.8": {true, true}, "10.1.2.3": {true, true}, "192.168.1.7": {true, true}, "fd12::1": {true, true}, "2606:4700::1111": {true, true},
		"127.0.0.1": {false, true}, "::1": {false, true}, "127.9.9.9": {false, true},
		"169.254.169.254": {false, false}, "fd00:ec2::254": {false, false}, "fe80::1": {false, false}, "0.0.0.0": {false, false}, "::": {false, false}, "224.0.0.1": {false, false},
		"100.100.100.200": {false, false}, "255.255.255.255": {false, false},
	} {
		a := netip.MustParseAddr(text)
		if got := [2]bool{(&Known{}).may(a), (&Known{Here: true}).may(a)}; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
