package relay

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// maxNames is how many names a box may ask for: each has an address and doors of its own, for as long as the box lives.
const maxNames = 250

// Numbers of the protocol of names.
const (
	typeA, typeAAAA  = 1, 28
	classInternet    = 1
	answerFault      = 2
	answerNotFound   = 3
	answerNotDone    = 4
	answerSeconds    = 60
	headerSize       = 12
	largestNameQuery = 1232
)

// answerNames answers what programs in the box ask about names. Nothing is asked outside.
func (r *Relay) answerNames(c net.PacketConn) {
	buf := make([]byte, largestNameQuery)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			if r.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			continue // one who asked is gone
		}
		if out := r.answerName(buf[:n]); out != nil {
			_, _ = c.WriteTo(out, from) // who asked may be gone
		}
	}
}

// answerName is the answer to one packet; nil: it is no question.
func (r *Relay) answerName(packet []byte) []byte {
	if len(packet) < headerSize || packet[2]&0x80 != 0 || binary.BigEndian.Uint16(packet[4:]) != 1 {
		return nil
	}
	name, end, ok := questionName(packet)
	if !ok || len(packet) < end+4 {
		return nil
	}
	kind, class := binary.BigEndian.Uint16(packet[end:]), binary.BigEndian.Uint16(packet[end+2:])
	out := append([]byte{}, packet[:end+4]...)
	out[2], out[3] = 0x80|packet[2]&0x79, 0x80 // an answer, to the same kind of question, as one who finds names for others
	clear(out[6:headerSize])
	if packet[2]&0x78 != 0 || class != classInternet {
		out[3] |= answerNotDone
		return out
	}
	addresses, code := r.lookUp(name, kind)
	out[3] |= code
	for _, a := range addresses {
		raw := a.AsSlice()
		out = append(out, 0xc0, headerSize)
		out = binary.BigEndian.AppendUint16(out, kind)
		out = binary.BigEndian.AppendUint16(out, classInternet)
		out = binary.BigEndian.AppendUint32(out, answerSeconds)
		out = binary.BigEndian.AppendUint16(out, uint16(len(raw))) // 4 or 16
		out = append(out, raw...)
		out[7]++
	}
	return out
}

// questionName reads the name in a packet, and where it ends.
func questionName(packet []byte) (name string, end int, ok bool) {
	var labels []string
	for at := headerSize; at < len(packet); {
		size := int(packet[at])
		if at++; size == 0 {
			return strings.ToLower(strings.Join(labels, ".")), at, true
		}
		if size > 63 || at+size > len(packet) {
			return "", 0, false
		}
		label := string(packet[at : at+size])
		if strings.Contains(label, ".") {
			return "", 0, false
		}
		labels = append(labels, label)
		at += size
	}
	return "", 0, false
}

// lookUp is what a name leads to in the box.
func (r *Relay) lookUp(name string, kind uint16) ([]netip.Addr, byte) {
	if name == "localhost" {
		switch kind {
		case typeA:
			return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}, 0
		case typeAAAA:
			return []netip.Addr{netip.IPv6Loopback()}, 0
		}
		return nil, 0
	}
	if !publicName(name) {
		return nil, answerNotFound
	}
	if kind != typeA {
		return nil, 0
	}
	a, err := r.addressOf(name)
	if err != nil {
		return nil, answerFault
	}
	return []netip.Addr{a}, 0
}

// publicName reports whether a name may be that of a computer of the public network, spelt as such names are.
func publicName(name string) bool {
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	if len(name) > 253 || len(labels) < 2 || slices.Contains(nowhere, last) || strings.Trim(last, "0123456789") == "" {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return !strings.Contains(last, "_")
}

var errManyNames = errors.New("more names were asked for than a box may")

// addressOf is the address that stands for a name in this box, with its doors open. No address ever stands for another name.
func (r *Relay) addressOf(name string) (netip.Addr, error) {
	r.mu.Lock()
	a, known := r.addresses[name]
	n := len(r.addresses)
	r.mu.Unlock()
	if known {
		return a, nil
	}
	if n >= maxNames {
		r.tell("It asked for more names than it may")
		return netip.Addr{}, errManyNames
	}
	const first = 1 << 8 // those below are the relay's own
	at := first + n
	a = netip.AddrFrom4([4]byte{127, 66, byte(at >> 8), byte(at&0xff) + 1})
	var doors []net.Listener
	for _, port := range doorPorts {
		l, err := r.net.Listen(net.JoinHostPort(a.String(), port))
		if err != nil {
			for _, d := range doors {
				_ = d.Close()
			}
			return netip.Addr{}, err
		}
		doors = append(doors, l)
	}
	for i, l := range doors {
		r.openDoor(l, name, doorPorts[i])
	}
	r.mu.Lock()
	r.addresses[name] = a
	r.mu.Unlock()
	return a, nil
}

// openDoor carries what comes to a port of a name's address.
func (r *Relay) openDoor(l net.Listener, name, port string) {
	if port == strconv.Itoa(plainPort) {
		r.serveHTTP(l, r.plainDoor(name))
		return
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		panic("relay: " + err.Error()) // it is in the data
	}
	r.accept(l, func(c net.Conn) { r.held(c, name, number) })
}
