package box

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// firstName is what a box's first process is called. A program that is started under this name becomes one.
const firstName = "tidemark-box"

// Become makes this process the first process of a box if it was started to be that, and does not return then.
func Become() {
	if len(os.Args) == 1 && (os.Args[0] == firstName || os.Args[0] == reducedName) {
		os.Exit(beFirst())
	}
}

// first is the first process of a box. It makes the view, starts commands, and takes the box down with it when it ends. It is not
// behind the locks that commands are behind, and no command can look at it, trace it or end it.
type first struct {
	wire  *wire
	fence *fence
	view  *view

	reduced bool // there are no namespaces that would end commands with this process

	mu       sync.Mutex
	commands map[int]running // guarded by mu: by their processes
	seen     map[syscall.Signal]sentToAll
}

// running is a command that has not ended.
type running struct {
	id    int
	leads bool // it leads a session of its own
	// handed is how many of the signals that this process was sent are accounted for: those of before it, and those that its owner
	// handed on after the whole group had them.
	handed map[syscall.Signal]int
}

func beFirst() int {
	const owner = 3
	limit(os.Args[0] == reducedName)
	if err := shut(); err != nil {
		fmt.Fprintf(os.Stderr, "tidemark: shut the box's first process: %v\n", err)
		return ExitNoBox
	}
	conn, err := net.FileConn(os.NewFile(owner, "owner"))
	if err != nil {
		fmt.Fprintf(os.Stderr, "tidemark: reach the box's owner: %v\n", err)
		return ExitNoBox
	}
	f := &first{wire: &wire{conn: conn.(*net.UnixConn)}, commands: map[int]running{}, seen: map[syscall.Signal]sentToAll{}}
	children, signals := make(chan os.Signal, 1), make(chan os.Signal, 64) // apart: a flood of others must not hide that a child ended
	signal.Notify(children, unix.SIGCHLD)
	signal.Notify(signals, slices.Concat(Passed(), deadly())...)
	if err := ignoreRest(); err != nil {
		fmt.Fprintf(os.Stderr, "tidemark: ignore signals: %v\n", err)
		return ExitNoBox
	}
	go func() {
		for range children {
			f.reap()
		}
	}()
	go f.heed(signals)
	err = f.serve()
	if f.reduced {
		f.endAll()
	}
	if err != nil {
		_ = f.wire.send(message{Fault: err.Error()})
		return ExitNoBox
	}
	return 0
}

// shut keeps everybody else out of this process: it cannot be traced or read, hands on no file that it was not told to, and dies
// with its owner.
func shut() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	if os.Args[0] == reducedName {
		return unix.CloseRange(3, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC)
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	return unix.CloseRange(3, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC)
}

// serve does what the owner says, until there is no owner.
func (f *first) serve() error {
	for {
		m, files, err := f.wire.receive()
		switch {
		case err != nil:
			return nil //nolint:nilerr // the owner is gone, and the box goes with it
		case m.Plan != nil:
			if err := f.make(m.Plan); err != nil {
				return err
			}
			if err := f.wire.send(message{Ready: true}); err != nil {
				return nil //nolint:nilerr // as above
			}
		case m.Ask:
			_ = f.wire.send(message{Ready: true, Counts: f.counts()})
		case m.Signal != 0:
			go f.pass(m.ID, syscall.Signal(m.Signal))
		case m.Listen != "":
			f.listen(m)
		case m.Find != "":
			go f.tell(m)
		case len(m.Args) > 0:
			f.start(m, files)
		}
		for _, h := range files {
			_ = h.Close()
		}
	}
}

func (f *first) make(p *plan) error {
	if p.Reduced {
		return f.makeReduced(p)
	}
	f.view = &view{plan: p}
	if err := f.view.enter(); err != nil {
		return err
	}
	if err := bringUp("lo"); err != nil {
		return fmt.Errorf("bring up loopback: %w", err)
	}
	if p.Way {
		if err := addAddress("lo:way", [4]byte{127, 66, 0, 1}); err != nil {
			return fmt.Errorf("address the way out: %w", err)
		}
	}
	var err error
	f.fence, err = newFence(p)
	return err
}

// bringUp starts a network interface.
func bringUp(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd) // nothing was written
	req, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}

// start starts a command and takes down whose it is before its end can be heard of.
func (f *first) start(m message, files []*os.File) {
	if m.Screen != nil && len(files) == 0 {
		far, err := f.makeScreen(m.ID, *m.Screen)
		if err != nil {
			_ = f.wire.send(message{ID: m.ID, Ended: true, Fault: "make terminal: " + err.Error(), Exit: Exit{Code: ExitNoBox}})
			return
		}
		defer far.Close()
		files = []*os.File{far, far, far}
	}
	if len(files) != 3 && len(files) != 4 {
		_ = f.wire.send(message{ID: m.ID, Ended: true, Fault: "three files are needed", Exit: Exit{Code: ExitNoBox}})
		return
	}
	f.mu.Lock()
	pid, err := f.launch(m, files)
	if err == nil {
		f.commands[pid] = running{m.ID, m.Leads, f.sent()}
	}
	f.mu.Unlock()
	if err == nil {
		return
	}
	code := ExitNoBox
	switch {
	case errors.Is(err, os.ErrNotExist):
		code = ExitNotFound
	case errors.Is(err, errNotStarted):
		code = ExitNotStarted
	}
	_ = f.wire.send(message{ID: m.ID, Ended: true, Fault: err.Error(), Exit: Exit{Code: code}})
}

// heed takes in the signals of this process: what the terminal or somebody outside sent to all, and what commands send it.
func (f *first) heed(signals <-chan os.Signal) {
	for s := range signals {
		f.mu.Lock()
		was := f.seen[s.(syscall.Signal)]
		f.seen[s.(syscall.Signal)] = sentToAll{was.times + 1, time.Now()}
		f.mu.Unlock()
	}
}

// reap takes leave of all processes that have ended, and tells of those that are commands.
func (f *first) reap() {
	for {
		var status syscall.WaitStatus
		f.mu.Lock()
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		ended, command := f.commands[pid]
		delete(f.commands, pid)
		f.mu.Unlock()
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if !command {
			continue
		}
		exit := Exit{Code: status.ExitStatus()}
		if status.Signaled() {
			exit = Exit{Code: 128 + int(status.Signal()), Signal: int(status.Signal())}
		}
		_ = f.wire.send(message{ID: ended.id, Ended: true, Exit: exit, Counts: f.counts()})
	}
}

// sentToAll is how often this process was sent a signal, and when last.
type sentToAll struct {
	times int
	last  time.Time
}

// sent is how often each signal was sent to this process by now. f.mu is held.
func (f *first) sent() map[syscall.Signal]int {
	out := map[syscall.Signal]int{}
	for s, was := range f.seen {
		out[s] = was.times
	}
	return out
}

const (
	// together is how long a signal that was sent to a whole group of processes may take to reach all of it: on a machine with much to do
	// its members are not woken at once.
	together = 250 * time.Millisecond
	// apart is from when on a signal that its owner hands on is another one than was sent here.
	apart = 5 * time.Second
)

// pass hands a command a signal that its owner was sent. A signal that this process was sent as well went to the whole group, as the
// terminal sends it, and has reached the command already. Each such one takes back one that is handed on, however late it comes.
func (f *first) pass(id int, s syscall.Signal) {
	if f.lead(id, s) {
		return
	}
	for until := time.Now().Add(together); !f.reached(id, s); time.Sleep(together / 50) {
		if time.Now().After(until) {
			f.hand(id, s)
			return
		}
	}
}

// reached reports whether a signal was sent to the whole group and so to a command, once for each time that it was.
func (f *first) reached(id int, s syscall.Signal) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.seen[s]
	for _, of := range f.commands {
		if of.id != id {
			continue
		}
		if time.Since(was.last) > apart {
			of.handed[s] = was.times // nobody handed it on, so it is none of what comes now
		}
		if of.handed[s] < was.times {
			of.handed[s]++
			return true
		}
	}
	return false
}

// hand sends a command a signal.
func (f *first) hand(id int, s syscall.Signal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for pid, of := range f.commands {
		if of.id == id {
			_ = syscall.Kill(pid, s)
		}
	}
}

// lead hands a signal to a command that leads a session, and to what it started: nobody else can have sent it to them.
func (f *first) lead(id int, s syscall.Signal) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for pid, of := range f.commands {
		if of.id == id && of.leads {
			_ = syscall.Kill(-pid, s)
			return true
		}
	}
	return false
}

// makeScreen makes a terminal of the box's own for a command and hands its near end to the owner.
func (f *first) makeScreen(id int, size Size) (far *os.File, err error) {
	maker := "/dev/pts/ptmx"
	if f.reduced {
		maker = "/dev/ptmx"
	}
	near, err := os.OpenFile(maker, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer near.Close()
	if err := unix.IoctlSetPointerInt(int(near.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	_ = unix.IoctlSetWinsize(int(near.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Columns}) // or it has none
	n, err := unix.IoctlGetInt(int(near.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	if far, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, err
	}
	if err := f.wire.send(message{ID: id, Given: true}, near); err != nil {
		return nil, errors.Join(err, far.Close())
	}
	return far, nil
}

// counts reads what the kernel has counted in this box.
func (f *first) counts() counts {
	c := counts{}
	if f.reduced { // the rest is the machine's
		c.Processes = len(childrenOf(os.Getpid()))
		return c
	}
	if f.view != nil {
		c.NotShown = f.view.notShown
	}
	text, _ := os.ReadFile("/proc/self/net/snmp")
	c.Unrouted = counter(string(text), "Ip", "OutNoRoutes")
	text, _ = os.ReadFile("/proc/self/net/snmp6")
	for line := range strings.Lines(string(text)) {
		if n := 0; strings.HasPrefix(line, "Ip6OutNoRoutes") {
			_, _ = fmt.Sscan(strings.TrimPrefix(line, "Ip6OutNoRoutes"), &n)
			c.Unrouted += n
		}
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	c.Processes = len(processes) - 1
	return c
}

// counter finds a count in the kernel's two-line tables: names, then figures.
func counter(text, table, name string) int {
	var names []string
	for line := range strings.Lines(text) {
		head, rest, _ := strings.Cut(line, ":")
		if head != table {
			continue
		}
		if names == nil {
			names = strings.Fields(rest)
			continue
		}
		for i, figure := range strings.Fields(rest) {
			if n := 0; i < len(names) && names[i] == name {
				_, _ = fmt.Sscan(figure, &n)
				return n
			}
		}
	}
	return 0
}
