package keeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tidemark/tidemark/internal/base/filelock"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/box/frame"
)

// ErrTaken says that another keeper has the data folder.
var ErrTaken = errors.New("another box keeper has this data folder")

// Keeper owns boxes.
type Keeper struct {
	o        Options
	lock     *os.File
	listener *net.UnixListener
	boxes    shelf
	turns    turns
	stop     func()
	work     sync.WaitGroup // requests, and what is told afterwards
}

// grace is how much longer a keeper waits that has had no box yet: somebody has just started it.
const grace = time.Minute

// New makes the keeper of a data folder, and looks for what earlier ones left.
func New(o Options) (*Keeper, error) {
	if o.Data == "" || o.Home == "" || o.Redeemer == nil || o.Take == nil {
		return nil, errors.New("make keeper: data folder, home folder, a redeemer and snapshots are needed")
	}
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	if err := os.MkdirAll(boxesIn(o.Data), 0o700); err != nil {
		return nil, fmt.Errorf("make keeper: %w", err)
	}
	k := &Keeper{o: o, boxes: shelf{o: o, held: map[string]*held{}, used: time.Now().Add(grace)}}
	var err error
	if k.lock, err = os.OpenFile(filepath.Join(o.Data, "keeper.lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("make keeper: %w", err)
	}
	if mine, err := filelock.Try(k.lock); err != nil || !mine {
		return nil, errors.Join(ErrTaken, err, k.lock.Close())
	}
	if err := settleLeft(o.Data); err != nil {
		o.Say("look for what was left: %v", err)
	}
	if err := k.listen(); err != nil {
		return nil, errors.Join(err, k.lock.Close())
	}
	return k, nil
}

// listen makes the socket, for this user alone. It is named below the open folder: paths of sockets are short.
func (k *Keeper) listen() error {
	name := entry.Socket(k.o.Data)
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("listen: %w", err)
	}
	dir, err := os.Open(k.o.Data)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer dir.Close()
	short := fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(name))
	before := unix.Umask(0o177)
	k.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	unix.Umask(before)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	k.listener.SetUnlinkOnClose(false) // by then the number is another folder's
	return nil
}

// Serve answers until the context ends, or until nobody has needed a box for a while. Then every box is ended.
func (k *Keeper) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.stop = cancel
	stop := context.AfterFunc(ctx, func() { _ = k.listener.Close() })
	defer stop()
	k.boxes.left = func(h *held) { k.left(ctx, h) }
	go k.tidy(ctx, cancel)
	go k.boxes.fill()
	var err error
	for {
		conn, bad := k.listener.AcceptUnix()
		if bad != nil {
			if ctx.Err() == nil {
				err = fmt.Errorf("listen: %w", bad)
			}
			break
		}
		k.work.Add(1)
		go func() {
			defer k.work.Done()
			defer conn.Close()
			if err := k.answer(ctx, conn); err != nil {
				k.o.Say("%v", err)
			}
		}()
	}
	_ = os.Remove(entry.Socket(k.o.Data)) // a client that comes now starts another
	k.boxes.endAll()
	k.work.Wait()
	return errors.Join(err, k.lock.Close())
}

// tidy ends boxes that nobody has used for a while, and the keeper when it has had none for as long.
func (k *Keeper) tidy(ctx context.Context, cancel func()) {
	every := time.NewTicker(min(max(k.o.Idle/8, 20*time.Millisecond), time.Minute))
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			if k.boxes.endIdle(now.Add(-k.o.Idle)) {
				cancel()
			}
		}
	}
}

// patience is how long a client may take to say what it wants.
const patience = 10 * time.Second

func (k *Keeper) answer(ctx context.Context, conn *net.UnixConn) error {
	peer, err := entry.Peer(conn)
	if err != nil {
		return fmt.Errorf("find out who asks: %w", err)
	}
	if int(peer.Uid) != os.Getuid() {
		return fmt.Errorf("user %d asked, and was not answered", peer.Uid)
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	body, files, err := frame.Receive(conn)
	_ = conn.SetReadDeadline(time.Time{})
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	if err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	var r entry.Request
	if err := strictjson.UnmarshalKnown(body, &r); err != nil {
		return reply(conn, no(fmt.Errorf("the request cannot be read: %w", err)))
	}
	if (r.Do == entry.Run || r.Do == entry.Shell) && !k.boxes.touch() {
		return reply(conn, entry.Answer{Again: true}) // before the ticket is used up
	}
	c := &call{keeper: k, conn: conn, request: r, pid: int(peer.Pid), files: files}
	switch r.Do {
	case entry.Run:
		return reply(conn, c.run(ctx))
	case entry.Shell:
		return reply(conn, c.shell())
	case entry.List:
		return reply(conn, entry.Answer{Boxes: k.boxes.list(), Left: LeftIn(k.o.Data)})
	case entry.End:
		err := reply(conn, entry.Answer{Boxes: k.boxes.end(r.Session)})
		if r.Session == "" { // a new version of the program takes its place at the next command
			k.stop()
		}
		return err
	}
	return reply(conn, no(fmt.Errorf("%q is nothing that can be asked for", r.Do)))
}
