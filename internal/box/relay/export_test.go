package relay

import (
	"net/netip"
)

// AnswerName answers a packet as a relay with nothing behind it does.
func AnswerName(packet []byte) []byte {
	r := New(Options{})
	r.net = nothing{}
	defer r.Close() // it has none
	return r.answerName(packet)
}

// PublicName is publicName.
var PublicName = publicName

// MaxNames is maxNames.
const MaxNames = maxNames

// Waiting is how many connections wait for the answer about one place.
func (r *Relay) Waiting(where string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q := r.questions[where]; q != nil {
		return q.waiting
	}
	return 0
}

// AddressOf is addressOf.
func (r *Relay) AddressOf(name string) (netip.Addr, error) { return r.addressOf(name) }

// OpenOn opens the doors of a relay in a network that is no box's.
func (r *Relay) OpenOn(n network) error { return r.open(n) }

// Blocks are the lists of the data.
func Blocks() map[string][]string {
	return map[string][]string{"ports": doorPorts, "nowhere": nowhere, "headers": readHeaders}
}
