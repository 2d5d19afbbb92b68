package box

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tidemark/tidemark/internal/base/filelock"
)

// Box is a box that commands can be run in, held by this process: it ends with it.
type Box struct {
	want     Want
	env      []string
	withheld []string
	before   *survey
	granted  []*survey // of folders besides the workspace that may be changed
	plan     *plan

	asides  map[string]int // how often a path was put aside; by the watcher, and when that has ended by Close
	moved   int
	dropped int

	placed map[string]*placed // by path; as asides
	stood  map[standing]bool  // as asides
	waits  []waiting          // as asides

	unasked atomic.Int32 // how many of them were not asked about yet
	given   int          // of what was moved, how much was put in place; as asides
	over    bool         // nothing runs in it any more

	homeMu  sync.Mutex
	homeWas map[string]string // guarded by homeMu: what the copies of the home folder were, by their SHA-256
	homeNo  map[string]string // guarded by homeMu: changes of it that somebody said no to

	cmd  *exec.Cmd
	wire *wire
	lock *os.File
	gone chan struct{} // closed when the first process has ended

	mu    sync.Mutex
	jobs  map[int]*Job     // guarded by mu
	errs  map[int]*os.File // guarded by mu: where commands complain, if there is a way out to say something
	next  int              // guarded by mu
	asked chan counts
	asks  sync.Mutex // held by who asks

	watch   *watcher
	reduced bool
}

// Open makes a box. Where the machine lacks something for it the error is a *Lack, and there is no box.
func Open(w Want) (*Box, error) {
	if err := w.settle(); err != nil {
		return nil, err
	}
	b := &Box{
		want: w, asides: map[string]int{}, placed: map[string]*placed{}, stood: map[standing]bool{},
		jobs: map[int]*Job{}, errs: map[int]*os.File{}, asked: make(chan counts, 1),
	}
	b.env, b.withheld = chooseEnvironment(w.Env, w.Keep)
	b.before = look(w.Workspace, w.Home)
	for _, path := range w.Guard {
		b.before.guard(path)
	}
	for _, dir := range w.Write {
		if !inside(dir, w.Workspace) {
			b.granted = append(b.granted, look(dir, w.Home))
		}
	}
	var err error
	if b.plan, err = planFor(w, b.before, b.granted); err != nil {
		return nil, err
	}
	if err := b.makeState(); err != nil {
		return nil, err
	}
	if err := b.begin(); err != nil {
		err = errors.Join(err, b.clear())
		if !w.Reduced {
			return nil, err
		}
		if why := b.openReduced(); why != nil {
			return nil, errors.Join(err, why, b.clear())
		}
	}
	if err := b.openWay(); err != nil {
		return nil, errors.Join(err, b.closeWay(), b.end(), b.clear())
	}
	b.watch = watchFor(b)
	return b, nil
}

// makeState makes the folder of this box, and takes it: a folder that nobody holds is left from a box whose owner was ended.
func (b *Box) makeState() error {
	state := b.want.State
	for _, dir := range []string{state, b.plan.Root, b.plan.Empty, filepath.Join(state, "tmp"), filepath.Join(state, "vartmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make box: %w", err)
		}
	}
	for _, name := range []string{"tmp", "vartmp"} {
		if err := os.Chmod(filepath.Join(state, name), 0o777|os.ModeSticky); err != nil {
			return fmt.Errorf("make box: %w", err)
		}
	}
	for _, s := range b.plan.Steps {
		if dir := s.layerFolder(state); dir != "" {
			if err := os.MkdirAll(filepath.Join(dir, "up"), 0o700); err != nil {
				return fmt.Errorf("make box: %w", err)
			}
			if err := os.MkdirAll(filepath.Join(dir, "work"), 0o700); s.Do == doLayer && err != nil {
				return fmt.Errorf("make box: %w", err)
			}
		}
	}
	if err := b.writeResolvConf(); err != nil {
		return fmt.Errorf("make box: %w", err)
	}
	for _, dir := range b.plan.folders {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make box: %w", err)
		}
	}
	for path, text := range b.plan.files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return fmt.Errorf("make box: %w", err)
		}
	}
	if err := b.copyHome(); err != nil {
		return err
	}
	return b.take()
}

// take locks the folder for as long as this process lives. The lock has its name only when it is held: whoever clears leftovers
// would take it otherwise.
func (b *Box) take() error {
	name := filepath.Join(b.want.State, "lock")
	if exists(name) {
		return fmt.Errorf("make box: %s belongs to another box", b.want.State)
	}
	var err error
	if b.lock, err = os.OpenFile(name+".new", os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return fmt.Errorf("make box: %w", err)
	}
	if held, err := filelock.Try(b.lock); err != nil || !held {
		return fmt.Errorf("make box: %s belongs to another box (%v)", b.want.State, err) //nolint:errorlint // it may be nil
	}
	if err := os.Rename(name+".new", name); err != nil {
		return fmt.Errorf("make box: %w", err)
	}
	return nil
}

// layerFolder is where a step keeps what is written to a layer.
func (s *step) layerFolder(state string) string {
	if s.Layer != "" {
		return s.Layer
	}
	if s.Do == doOpen && inside(s.From, filepath.Join(state, "layer")) {
		return filepath.Dir(s.From)
	}
	return ""
}

// begin has the first process make the view: the one that waits for it, or one that is started now.
func (b *Box) begin() error {
	s := b.want.Spare
	if s == nil || b.reduced || !s.fits(b.want) {
		var err error
		if s, err = startFirst(b.want.First, b.want.Terminal == "", b.reduced); err != nil {
			return err
		}
	}
	b.cmd, b.wire, b.gone = s.cmd, s.wire, s.gone
	if err := b.wire.send(message{Plan: b.plan}); err != nil {
		return errors.Join(fmt.Errorf("make box: %w", err), b.end())
	}
	m, _, err := b.wire.receive()
	switch {
	case err != nil:
		return errors.Join(lackOfNamespaces(fmt.Errorf("the first process ended: %w", err)), b.end())
	case !m.Ready:
		return errors.Join(lackOfMounts(m.Fault), b.end())
	}
	go b.listen()
	return nil
}

// sameIDs maps every user, or group, that there is here to itself: root in a container may have a few of them only.
func sameIDs(file string, otherwise []syscall.SysProcIDMap) []syscall.SysProcIDMap {
	text, err := os.ReadFile(file) // the kernel's
	if err != nil {
		return otherwise
	}
	var out []syscall.SysProcIDMap
	for line := range strings.Lines(string(text)) {
		var first, outside, size int
		if n, err := fmt.Sscan(line, &first, &outside, &size); n != 3 || err != nil {
			return otherwise
		}
		out = append(out, syscall.SysProcIDMap{ContainerID: first, HostID: first, Size: size})
	}
	return out
}

// Reduced reports whether the box was made without namespaces. Then it has no loopback and no sockets at all, commands see which other
// processes there are, there is no layer over caches and no /tmp, and what is guarded is put back, not kept.
func (b *Box) Reduced() bool { return b.reduced }

// Process is the number of the box's first process.
func (b *Box) Process() int { return b.cmd.Process.Pid }

// Gone is closed when every process of the box has ended, whoever ended it.
func (b *Box) Gone() <-chan struct{} { return b.gone }

// listen takes in what the box says, until it has ended.
func (b *Box) listen() {
	for {
		m, files, err := b.wire.receive()
		if err != nil {
			b.mu.Lock()
			for id, job := range b.jobs {
				close(job.screen)
				close(job.ended)
				delete(b.jobs, id)
				b.unhear(id)
			}
			b.jobs = nil
			b.mu.Unlock()
			return
		}
		if m.Ready {
			select {
			case b.asked <- m.Counts:
			default: // whoever asked waits no more
			}
			continue
		}
		b.mu.Lock()
		job := b.jobs[m.ID]
		if m.Ended {
			delete(b.jobs, m.ID)
			b.unhear(m.ID)
		}
		b.mu.Unlock()
		b.hear(job, m, files)
	}
}

// hear hands a job what was said about it.
func (b *Box) hear(job *Job, m message, files []*os.File) {
	switch {
	case job != nil && m.Given && len(files) == 1:
		job.screen <- files[0]
		return
	case job != nil && m.Ended:
		close(job.screen)
		m.files = files
		job.ended <- m
		return
	}
	for _, f := range files {
		_ = f.Close()
	}
}

// Job is a command that runs in a box.
type Job struct {
	box   *Box
	id    int
	ended chan message

	screen chan *os.File // closed when it has ended
}

// Start starts a command. That it could not be started is heard at Wait, as shells have it.
func (b *Box) Start(c Command) (*Job, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("run in box: no command")
	}
	b.mu.Lock()
	if b.jobs == nil {
		b.mu.Unlock()
		return nil, fmt.Errorf("run in box: %w", errEnded)
	}
	b.next++
	j := &Job{box: b, id: b.next, ended: make(chan message, 1), screen: make(chan *os.File, 1)}
	b.jobs[j.id] = j
	b.heed(j.id, c.Files[2])
	b.mu.Unlock()
	env := b.env
	if c.Env != nil {
		env, _ = chooseEnvironment(c.Env, b.want.Keep)
	}
	if b.want.Out != nil {
		env = withInstead(env, environment.of("way-out"))
	}
	env = append(withInstead(env, []string{"XDG_RUNTIME_DIR=" + runtimeFolder()}), "PWD="+c.Dir)
	if b.reduced {
		env = b.reducedEnvironment(env)
	}
	m, files := message{ID: j.id, Args: c.Args, Env: env, Dir: c.Dir, Leads: c.Leads || c.Screen != nil, Screen: c.Screen}, c.Files[:]
	if c.Beside != nil {
		files = append(slices.Clone(files), c.Beside)
	}
	if c.Screen != nil {
		files = nil
	}
	if err := b.wire.send(m, files...); err != nil {
		return nil, fmt.Errorf("run in box: %w", err)
	}
	return j, nil
}

// Terminal is the near end of the terminal that was made for the command, or nil if there is none. It is the caller's to close.
func (j *Job) Terminal() *os.File { return <-j.screen }

// Signal hands the command a signal that its owner was sent.
func (j *Job) Signal(s syscall.Signal) {
	_ = j.box.wire.send(message{ID: j.id, Signal: int(s)}) // a box that has ended needs none
}

// Wait waits until the command has ended. An error says that it was not started, and the exit's code why.
func (j *Job) Wait() (Exit, error) {
	m, ok := <-j.ended
	if b := j.box; b.reduced && b.watch != nil {
		b.watch.look() // what is guarded was not kept from being changed
	}
	switch {
	case !ok:
		return Exit{Code: ExitNoBox}, fmt.Errorf("run in box: %w", errEnded)
	case m.Fault != "":
		return m.Exit, errors.New(m.Fault)
	}
	return m.Exit, nil
}

// lackOfNamespaces says why the kernel gave no namespaces, as far as its settings tell.
func lackOfNamespaces(err error) error {
	l := &Lack{What: "the system gives this user no namespaces", Err: err}
	switch {
	case setting("user/max_user_namespaces") == "0" || errors.Is(err, unix.ENOSPC):
		l.Help = "sysctl user.max_user_namespaces must be above 0"
	case setting("kernel/unprivileged_userns_clone") == "0":
		l.Help = "sysctl kernel.unprivileged_userns_clone must be 1"
	case setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
		l.Help = "AppArmor keeps them from programs that have no profile with userns: packages bring one, /etc/apparmor.d/tidemark"
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS):
		l.Help = "a container or another sandbox around this program keeps them from it"
	}
	return l
}

// lackOfMounts says why no view could be made in namespaces that were given.
func lackOfMounts(fault string) error {
	l := &Lack{What: "the view of the box could not be made: " + fault}
	switch {
	case setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
		l.Help = "AppArmor keeps mounts from programs that have no profile with userns"
	case strings.HasPrefix(fault, "mount /proc"):
		l.Help = "a container around this program covers parts of /proc"
	}
	return l
}

func setting(name string) string {
	text, _ := os.ReadFile("/proc/sys/" + name)
	return strings.TrimSpace(string(text))
}
