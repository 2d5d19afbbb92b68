package box

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Network is the network of a box, as its owner has it from outside: sockets are made in the box and handed out of it.
type Network struct{ box *Box }

// Listen listens for connections at an address of the box's network.
func (n *Network) Listen(address string) (net.Listener, error) {
	f, err := n.socket("tcp " + address)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return net.FileListener(f)
}

// ListenPacket listens for packets at an address of the box's network.
func (n *Network) ListenPacket(address string) (net.PacketConn, error) {
	f, err := n.socket("udp " + address)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return net.FilePacketConn(f)
}

func (n *Network) socket(what string) (*os.File, error) {
	m, err := n.box.call(message{Listen: what})
	if err != nil {
		return nil, fmt.Errorf("listen in box: %w", err)
	}
	if len(m.files) != 1 {
		return nil, errors.New("listen in box: no socket came")
	}
	return m.files[0], nil
}

// Program is what the process calls itself that has a connection whose end in the box is address; empty: nobody knows. A process may
// call itself anything: it is for people to read.
func (n *Network) Program(address string) string {
	m, err := n.box.call(message{Find: address})
	if err != nil {
		return ""
	}
	return m.Program
}

// Tell writes a line to the standard error of the commands that run, so that whoever reads it knows what was refused. A command that
// does not read it out is not waited for.
func (n *Network) Tell(text string) {
	b := n.box
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(text) > 1024 {
		text = text[:1024]
	}
	for _, f := range b.errs {
		poll := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLOUT}} // a descriptor
		if ready, err := unix.Poll(poll, 0); err == nil && ready == 1 && poll[0].Revents&unix.POLLOUT != 0 {
			_, _ = unix.Write(int(f.Fd()), []byte(text+"\n")) // there is room for a line
		}
	}
}

// call asks the first process for something and waits for the answer.
func (b *Box) call(m message) (message, error) {
	answer := &Job{box: b, ended: make(chan message, 1), screen: make(chan *os.File, 1)}
	b.mu.Lock()
	if b.jobs == nil {
		b.mu.Unlock()
		return message{}, errEnded
	}
	b.next++
	m.ID = b.next
	b.jobs[m.ID] = answer
	b.mu.Unlock()
	if err := b.wire.send(m); err != nil {
		return message{}, err
	}
	got, ok := <-answer.ended
	switch {
	case !ok:
		return message{}, errEnded
	case got.Fault != "":
		return message{}, errors.New(got.Fault)
	}
	return got, nil
}

// heed keeps a command's standard error for as long as it runs, for what the way out has to say. The caller holds mu.
func (b *Box) heed(id int, f *os.File) {
	if b.want.Out == nil || f == nil {
		return
	}
	if fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0); err == nil {
		b.errs[id] = os.NewFile(uintptr(fd), "stderr")
	}
}

// unhear lets go of it. The caller holds mu.
func (b *Box) unhear(id int) {
	if f := b.errs[id]; f != nil {
		_ = f.Close()
		delete(b.errs, id)
	}
}

// openWay has the way out open its doors.
func (b *Box) openWay() error {
	if b.want.Out == nil {
		return nil
	}
	if err := b.want.Out.Open(&Network{b}); err != nil {
		return fmt.Errorf("open the way out: %w", err)
	}
	return nil
}

func (b *Box) closeWay() error {
	if b.want.Out == nil {
		return nil
	}
	return b.want.Out.Close()
}

// writeResolvConf writes what the box sees in place of the machine's resolv.conf.
func (b *Box) writeResolvConf() error {
	if b.want.Out == nil {
		return nil
	}
	return os.WriteFile(resolvFile(b.want.State), []byte(resolvConf), 0o644) //nolint:gosec // there is nothing in it
}

func resolvFile(state string) string { return filepath.Join(state, "resolv.conf") }

// names shows the box's own resolv.conf, wherever the machine's is. Where there is none, programs ask the address that is in ours.
func (p *plan) names(w Want) {
	const usual = "/etc/resolv.conf"
	if w.Out == nil {
		return
	}
	p.Way = true
	at := usual
	if to, err := os.Readlink(usual); err == nil {
		if at = to; !filepath.IsAbs(to) {
			at = filepath.Join(filepath.Dir(usual), to)
		}
	} else if !exists(usual) {
		return
	}
	p.add(step{Do: doShow, From: resolvFile(w.State), To: at, Spare: true})
}
