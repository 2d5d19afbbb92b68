package torture_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// cutter stands between a server and its database, and cuts all connections when so many pieces went through.
type cutter struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	open  map[net.Conn]bool
	left  int  // pieces until the cut; below 0: none comes
	late  bool // the piece it is cut at still arrives: what is lost is the answer
	fired bool
}

// newCutter makes one, and the address of the database behind it.
func newCutter(t testing.TB, cluster *pgtest.Cluster) (c *cutter, address string) {
	t.Helper()
	address = cluster.New(t)
	dir := t.TempDir()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	c = &cutter{listener: listener, to: filepath.Join(cluster.Dir(), ".s.PGSQL.5432"), open: map[net.Conn]bool{}, left: -1}
	t.Cleanup(func() {
		_ = listener.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cut()
	})
	go c.serve()
	return c, strings.Replace(address, url.QueryEscape(cluster.Dir()), url.QueryEscape(dir), 1)
}

func (c *cutter) serve() {
	for {
		in, err := c.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("unix", c.to)
		if err != nil {
			_ = in.Close()
			continue
		}
		c.mu.Lock()
		c.open[in], c.open[out] = true, true
		c.mu.Unlock()
		go c.carry(in, out)
		go c.carry(out, in)
	}
}

func (c *cutter) carry(from, to net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && !c.pass(to, buf[:n]) || err != nil {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range []net.Conn{from, to} {
		delete(c.open, conn)
		_ = conn.Close() // both ends with it
	}
}

// pass hands a piece on, unless this is where the cut comes.
func (c *cutter) pass(to net.Conn, piece []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	here := c.left == 0
	if c.left >= 0 {
		c.left--
	}
	if !here || c.late {
		if _, err := to.Write(piece); err != nil {
			return false
		}
	}
	if here {
		c.fired = true
		c.cut()
	}
	return !here
}

// cut closes everything. Preconditions: mu is held.
func (c *cutter) cut() {
	for conn := range c.open {
		_ = conn.Close()
	}
	clear(c.open)
}

// arm has the cut come after so many pieces.
func (c *cutter) arm(after int, late bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.late, c.fired = after, late, false
}

// disarm ends the waiting for a cut, and says whether it came.
func (c *cutter) disarm() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = -1
	return c.fired
}

// SEQ-09 BEY-12: the connection to the database is cut at every step of a session with all kinds of records, before a message and
// after it: what was acknowledged is there, and nothing was spent twice.
func TestCuts(t *testing.T) {
	cluster := pgtest.Start(t)
	c, address := newCutter(t, cluster)
	h, f := newHouse(t, address), &faults{}
	s := h.must(t)
	log, began, every := newLedger(), time.Now(), many("TORTURE_EVERY", 40, 1)
	cuts, steps := 0, 0
	for after := 0; f.count() == 0; after += every {
		came := false
		for _, late := range []bool{false, true} {
			l := newLife(fmt.Sprintf("cut-%d-%t", after, late), uint64(after), f)
			c.arm(after, late)
			if err := l.live(t.Context(), s); err != nil {
				t.Fatalf("cut at %d (%t): %v", after, late, err)
			}
			if c.disarm() {
				cuts, came = cuts+1, true
			}
			steps = max(steps, after)
			if err := l.check(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if err := examine(t.Context(), h, log, l, f); err != nil {
				t.Fatal(err)
			}
		}
		if after%20 == 0 {
			say("cut after %d pieces", after)
		}
		if !came {
			break
		}
	}
	if reader, err := h.openLog(t.Context()); err != nil {
		t.Error(err)
	} else if err := verify(t.Context(), reader, nil, f); err != nil {
		t.Error(err)
	} else {
		_ = reader.Close()
	}
	table(t, "connection to PostgreSQL cut at every step", []string{"", ""}, [][]string{
		{"steps", strconv.Itoa(steps)}, {"cuts", strconv.Itoa(cuts)}, {"records", strconv.FormatInt(log.after, 10)},
		{"approvals spent", strconv.Itoa(len(log.spent))}, {"took", time.Since(began).Round(time.Second).String()},
		{"violations", strconv.Itoa(f.count())},
	})
	f.none(t)
	if cuts == 0 {
		t.Error("no cut came")
	}
}

// live goes once through everything a session does, again and again at what failed.
func (l *life) live(ctx context.Context, s *server) error {
	for _, f := range []flow{{l.speak, l.look}, l.deploy(), l.remember(), l.leave(), l.grant(), l.spawn(), {l.model}, {l.seal}} {
		l.flow = f
		for failed := 0; len(l.flow) > 0; {
			if err := l.step(ctx, s); err != nil {
				if failed++; failed == 200 {
					return err
				}
				pause(ctx, 10*time.Millisecond)
			}
		}
	}
	return nil
}

// examine holds the log against what one session was told.
func examine(ctx context.Context, h *house, log *ledger, l *life, f *faults) error {
	reader, err := h.openLog(ctx)
	if err != nil {
		return err
	}
	defer reader.Close()
	if err := log.read(ctx, reader); err != nil {
		return err
	}
	log.holds([]*life{l}, f)
	return nil
}
