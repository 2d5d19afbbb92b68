// Package bodypace bounds how long clients may take to send the body of a request.
package bodypace

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Pace is how long clients may take to send the body of a request, whoever they are: one that sends a byte now and then would hold a
// connection for good, and needs no token for it.
type Pace struct {
	Whole time.Duration // for all of a body, besides what its bytes take
	Bytes int64         // that come in a second at least
	Piece time.Duration // for each piece of it
	Slow  time.Duration // after which a body that has not come is a slow one
	Most  int           // slow ones of a peer at once
}

// Usual is that of a server.
var Usual = Pace{Whole: time.Minute, Bytes: 16 << 10, Piece: 10 * time.Second, Slow: time.Second, Most: 128}

// Handler cuts connections whose body does not come.
func Handler(next http.Handler, p Pace) http.Handler {
	peers := &slowBodies{most: p.Most, of: map[string]int{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
			b := &pacedBody{
				ReadCloser: r.Body, control: http.NewResponseController(w), pace: p, until: time.Now().Add(p.Whole),
				peers: peers, peer: peerOf(r),
			}
			if b.wait() == nil {
				// Who waits to be told to send gets an answer that needs no body at once: for that net/http looks at its own request.
				if r.Header.Get("Expect") != "" {
					r = r.WithContext(r.Context())
				}
				b.timer = time.AfterFunc(p.Slow, b.slow)
				defer b.came()
				r.Body = b
			}
		}
		next.ServeHTTP(w, r)
	})
}

// peerOf is the machine a request comes from.
func peerOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// slowBodies counts the slow bodies of each peer.
type slowBodies struct {
	most int
	mu   sync.Mutex
	of   map[string]int // guarded by mu
}

func (s *slowBodies) take(peer string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[peer] >= s.most {
		return false
	}
	s.of[peer]++
	return true
}

func (s *slowBodies) give(peer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[peer]--; s.of[peer] <= 0 {
		delete(s.of, peer)
	}
}

// pacedBody takes the deadline away when the body has come: the connection is watched for the client leaving, which may be long.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	pace    Pace
	until   time.Time // all of it must have come
	next    time.Time // the deadline that is set
	peers   *slowBodies
	peer    string
	timer   *time.Timer

	mu      sync.Mutex
	done    bool // guarded by mu; it has come, or nobody reads it
	counted bool // guarded by mu; it is one of the peer's slow ones
	cut     bool // guarded by mu; the peer has too many
}

// errSlow is what is read of a body that is one too many.
var errSlow = errors.New("too many requests of this peer do not come")

// wait sets the deadline of the next piece.
func (b *pacedBody) wait() error {
	now := time.Now()
	if b.next.Sub(now) > b.pace.Piece/2 { // a deadline for each read would cost more than the read
		return nil
	}
	b.next = now.Add(b.pace.Piece)
	if b.until.Before(b.next) {
		b.next = b.until
	}
	return b.control.SetReadDeadline(b.next)
}

func (b *pacedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	cut := b.cut
	b.mu.Unlock()
	if cut {
		return 0, errSlow
	}
	_ = b.wait() // it could be set
	n, err := b.ReadCloser.Read(p)
	b.until = b.until.Add(time.Duration(int64(n) * int64(time.Second) / b.pace.Bytes))
	if errors.Is(err, io.EOF) {
		b.came()
		_ = b.control.SetReadDeadline(time.Time{}) // it could be set
	}
	return n, err
}

// slow counts a body that has not come yet, and ends it where the peer has too many.
func (b *pacedBody) slow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return
	}
	if b.counted = b.peers.take(b.peer); !b.counted {
		b.cut = true
		_ = b.control.SetReadDeadline(time.Unix(1, 0)) // long ago: it ends the reading
	}
}

// came is that nobody waits for it any more.
func (b *pacedBody) came() {
	b.timer.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done = true; b.counted {
		b.peers.give(b.peer)
		b.counted = false
	}
}
