package relay_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/box/relay"
)

func TestTheListsAreWellFormed(t *testing.T) {
	blocks := relay.Blocks()
	for _, p := range blocks["ports"] {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 1023 {
			t.Errorf("port %s: a command in the box could want it", p)
		}
	}
	for _, h := range blocks["headers"] {
		if slices.Contains([]string{"Authorization", "Cookie", "Referer", "User-Agent", "Origin", "Host"}, h) || strings.HasPrefix(h, "X-") {
			t.Errorf("%s says who somebody is", h)
		}
	}
	for _, n := range blocks["nowhere"] {
		if relay.PublicName("a." + n) {
			t.Errorf("a.%s is public", n)
		}
	}
}

// query is a question for a name.
func query(name string, kind uint16) []byte {
	out := []byte{0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	for l := range strings.SplitSeq(name, ".") {
		out = append(append(out, byte(len(l))), l...)
	}
	out = append(out, 0)
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(out, kind), 1)
}

// Whatever a packet holds, the answer to it is one to the same question, and has an address only where one was asked for.
func FuzzAnswers(f *testing.F) {
	f.Add(query("a.example", 1))
	f.Add(query("localhost", 28))
	f.Add(query("localhost", 1))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, packet []byte) {
		out := relay.AnswerName(packet)
		if out == nil {
			return
		}
		if len(out) < 12 || out[0] != packet[0] || out[1] != packet[1] || out[2]&0x80 == 0 || binary.BigEndian.Uint16(out[4:]) != 1 {
			t.Errorf("%x: %x", packet, out)
		}
		if out[3]&0xf != 0 && binary.BigEndian.Uint16(out[6:]) != 0 {
			t.Errorf("%x: a fault with an answer: %x", packet, out)
		}
	})
}

// A name is public only if it is spelt as names of computers are, with a last part that is no number.
func TestPublicNames(t *testing.T) {
	for name, want := range map[string]bool{
		"a.example": true, "x-1.a.example": true, "_dmarc.a.example": true, "xn--bcher-kva.example": true,
		"": false, "a": false, "localhost": false, "a.localhost": false, ".example": false, "a..example": false, "-a.example": false, "a-.example": false,
		"127.0.0.1": false, "0x7f.1": false, "1.2": false, "a.example.": false, "A.example": false, "a b.example": false, "a/b.example": false, "a:1.example": false, "ä.example": false,
	} {
		if relay.PublicName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		if relay.PublicName(name) && (strings.ContainsAny(name, " /:@[]%\\\x00") || len(name) > 253) {
			t.Fatalf("%q is public", name)
		}
	})
}

// loop is a network whose doors are at any port of this machine's loopback.
type loop struct {
	mu    sync.Mutex
	doors map[string]net.Listener
	texts []string
}

func (l *loop) Listen(address string) (net.Listener, error) {
	d, err := net.Listen("tcp", "127.0.0.1:0")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doors[address] = d
	return d, err
}

func (l *loop) ListenPacket(string) (net.PacketConn, error) {
	return net.ListenPacket("udp", "127.0.0.1:0")
}
func (l *loop) Program(string) string { return "a\x1b[2J\nb\u202e" }

func (l *loop) Tell(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.texts = append(l.texts, text)
}

// dial goes to a door. One who is refused may hear of it before they have gone through.
func (l *loop) dial(t *testing.T, address string) net.Conn {
	t.Helper()
	l.mu.Lock()
	d := l.doors[address]
	l.mu.Unlock()
	c, err := net.Dial("tcp", d.Addr().String())
	if errors.Is(err, syscall.ECONNRESET) {
		c, other := net.Pipe()
		_ = other.Close()
		return c
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Those who want the same wait for one answer; who comes after it asks anew.
func TestOneQuestionForAllWhoWait(t *testing.T) {
	n := &loop{doors: map[string]net.Listener{}}
	asks, answer := make(chan relay.Ask, 10), make(chan relay.Decision)
	r := relay.New(relay.Options{Let: func(ctx context.Context, a relay.Ask) relay.Decision {
		asks <- a
		select {
		case d := <-answer:
			return d
		case <-ctx.Done():
			return relay.Decision{}
		}
	}})
	if err := r.OpenOn(n); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	at, err := r.AddressOf("a.example")
	if err != nil {
		t.Fatal(err)
	}
	const many = 5
	var conns []net.Conn
	for range many {
		conns = append(conns, n.dial(t, at.String()+":22"))
	}
	for r.Waiting("connect a.example:22") < many {
		runtime.Gosched()
	}
	answer <- relay.Decision{Why: "no"}
	for _, c := range conns {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("something came")
		}
	}
	n.dial(t, at.String()+":22")
	first, second := <-asks, <-asks
	if first.Program != "a[2Jb" || len(asks) != 0 || second.Host != "a.example" {
		t.Errorf("%+v %+v", first, second)
	}
}

// No address stands for two names, and there is an end to them.
func TestNamesHaveAnEnd(t *testing.T) {
	n := &loop{doors: map[string]net.Listener{}}
	r := relay.New(relay.Options{})
	if err := r.OpenOn(n); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	seen := map[netip.Addr]bool{}
	for i := range relay.MaxNames {
		a, err := r.AddressOf("n" + strconv.Itoa(i) + ".example")
		if err != nil || seen[a] || !netip.MustParsePrefix("127.66.0.0/16").Contains(a) || a == netip.MustParseAddr("127.66.0.1") {
			t.Fatalf("%d: %v %v", i, a, err)
		}
		seen[a] = true
	}
	if a, err := r.AddressOf("more.example"); err == nil {
		t.Errorf("more.example has %v", a)
	}
	if a, err := r.AddressOf("n1.example"); err != nil || !seen[a] {
		t.Error("a name that was known is forgotten")
	}
}

// A relay whose owner names nobody to ask refuses everything.
func TestTheZeroRelayRefuses(t *testing.T) {
	n := &loop{doors: map[string]net.Listener{}}
	r := relay.New(relay.Options{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			t.Error("a name was asked outside")
			return nil, errors.New("no")
		},
	})
	if err := r.OpenOn(n); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	at, err := r.AddressOf("a.example")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.dial(t, at.String()+":443").Read(make([]byte, 1)); err == nil {
		t.Error("something came")
	}
	if err := r.OpenOn(n); err == nil {
		t.Error("it was opened twice")
	}
}
