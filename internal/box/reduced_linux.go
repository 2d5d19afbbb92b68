package box

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A reduced box is what is left where there are no namespaces: Landlock and the filter of calls, without a view. It names what may be
// read and written instead of showing it; there are no sockets at all; what of the workspace is guarded can be changed, and is put back.

// reducedName is what the first process of a reduced box is called: it has no namespace that would end its commands with it, so it
// ends them itself.
const reducedName = "tidemark-box-reduced"

// landlockReduced is the first version that keeps signals in.
const landlockReduced = 6

// allowed is what a reduced box lets commands do with a place.
type allowed struct {
	Path   string
	Write  bool
	Device bool // read and written, not made or removed
}

// openReduced makes a reduced box, if the machine has what that needs.
func (b *Box) openReduced() error {
	version, err := landlockVersion()
	switch {
	case err != nil:
		return err
	case version < landlockReduced:
		return &Lack{
			What: fmt.Sprintf("without namespaces a Landlock of version %d is needed, and this is %d", landlockReduced, version),
			Help: "Linux 6.12 has it",
		}
	case b.want.Out != nil:
		return &Lack{What: "without namespaces there is no way out of a box"}
	case len(b.want.Own) > 0:
		return &Lack{What: "without namespaces a box has no folder of the home folder for itself"}
	}
	b.reduced, b.gone = true, make(chan struct{})
	b.plan = &plan{Reduced: true, Allowed: reads(b.want, b.before)}
	state := b.want.State
	for _, dir := range []string{"tmp", "cache", "run"} {
		if err := os.MkdirAll(filepath.Join(state, dir), 0o700); err != nil {
			return fmt.Errorf("make box: %w", err)
		}
		b.plan.Allowed = append(b.plan.Allowed, allowed{Path: filepath.Join(state, dir), Write: true})
	}
	if err := b.take(); err != nil {
		return err
	}
	for i, s := range append([]*survey{b.before}, b.granted...) {
		if err := s.hold(filepath.Join(state, "guards", fmt.Sprint(i))); err != nil {
			return err
		}
		b.plan.Allowed = append(b.plan.Allowed, allowed{Path: s.root, Write: true})
		for _, dir := range s.kept {
			b.plan.Allowed = append(b.plan.Allowed, allowed{Path: dir, Write: true})
		}
	}
	for _, path := range b.want.Write {
		b.plan.Allowed = append(b.plan.Allowed, allowed{Path: path, Write: true})
	}
	return b.begin()
}

// reads are the places that commands may read: what a whole box shows of the machine and of the home folder, and nothing that is hidden.
func reads(w Want, s *survey) []allowed {
	hidden := slices.Concat([]string{w.State, "/var/tmp", "/var/run", "/var/lock", "/var/spool", "/var/mail"}, w.Hide)
	for _, name := range slices.Concat(places.of("home-hide"), places.of("home-own")) {
		hidden = append(hidden, filepath.Join(w.Home, name))
	}
	if os.Geteuid() == 0 {
		hidden = append(hidden, closedFiles()...)
	}
	var paths []string
	for _, name := range slices.Concat(places.of("system"), places.of("machine")) {
		paths = append(paths, except("/"+name, hidden)...)
	}
	shut := slices.Concat(places.of("home-layer"), places.of("home-shut"))
	entries, _ := os.ReadDir(w.Home) // what cannot be listed is not read
	for _, e := range entries {
		if name := e.Name(); name[0] != '.' && !slices.Contains(shut, name) {
			paths = append(paths, except(filepath.Join(w.Home, name), hidden)...)
		}
	}
	for _, name := range slices.Concat(places.of("home-read"), places.of("home-layer")) {
		paths = append(paths, except(filepath.Join(w.Home, name), hidden)...)
	}
	for _, name := range places.of("home-cache") { // below what is the box's own otherwise
		if path := filepath.Join(w.Home, name); exists(path) && !slices.Contains(hidden, path) {
			paths = append(paths, path)
		}
	}
	paths = append(paths, programs(w, hidden)...)
	paths = append(paths, w.Read...)
	out := []allowed{{Path: "/proc"}, {Path: "/sys"}}
	for _, path := range paths {
		out = append(out, allowed{Path: path})
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		out = append(out, allowed{Path: "/dev/" + name, Device: true})
	}
	if w.Terminal != "" {
		out = append(out, allowed{Path: w.Terminal, Device: true})
	}
	return out
}

// programs are the folders of programs that the caller has, with the libraries beside them.
func programs(w Want, hidden []string) []string {
	var out []string
	for _, e := range w.Env {
		list, ok := strings.CutPrefix(e, "PATH=")
		for _, dir := range filepath.SplitList(list) {
			dir = filepath.Clean(dir)
			if !ok || !filepath.IsAbs(dir) || inside(w.Home, dir) || inside(w.Home, filepath.Dir(dir)) {
				continue
			}
			if up := filepath.Dir(dir); filepath.Base(dir) == "bin" && strings.Count(up, "/") > 1 && !inside(dir, w.Home) {
				dir = up
			}
			out = append(out, except(dir, hidden)...)
		}
	}
	return out
}

// except are the paths that make up one, without those that are hidden: Landlock can allow and not forbid.
func except(path string, hidden []string) []string {
	if slices.ContainsFunc(hidden, func(h string) bool { return inside(path, h) }) {
		return nil
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink != 0 && !leadsIn(path, hidden) {
		return nil
	}
	if !slices.ContainsFunc(hidden, func(h string) bool { return inside(h, path) }) {
		return []string{path}
	}
	var out []string
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		out = append(out, except(filepath.Join(path, e.Name()), hidden)...)
	}
	return out
}

// leadsIn reports whether a link leads to a part of the system: /bin is one on most machines. What others lead to is allowed under its
// own name or not at all.
func leadsIn(path string, hidden []string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && filepath.Dir(path) == "/" && inside(real, "/usr") && !slices.Contains(hidden, real)
}

// reducedFirst is the first process of a reduced box.
func reducedFirst(program string, alone bool, owner *os.File) *exec.Cmd {
	return &exec.Cmd{
		Path: program, Args: []string{reducedName}, Env: []string{}, Dir: "/", ExtraFiles: []*os.File{owner}, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setsid: alone},
	}
}

// reducedEnvironment has commands write where they may: there is no layer over caches, and no /tmp.
func (b *Box) reducedEnvironment(env []string) []string {
	tmp, cache := filepath.Join(b.want.State, "tmp"), filepath.Join(b.want.State, "cache")
	return withInstead(env, []string{
		"TMPDIR=" + tmp, "TMP=" + tmp, "TEMP=" + tmp, "TMUX_TMPDIR=" + tmp, "XDG_RUNTIME_DIR=" + filepath.Join(b.want.State, "run"),
		"XDG_CACHE_HOME=" + cache, "GOCACHE=" + filepath.Join(cache, "go-build"), "npm_config_cache=" + filepath.Join(cache, "npm"),
		"PIP_CACHE_DIR=" + filepath.Join(cache, "pip"), "PYTHONPYCACHEPREFIX=" + filepath.Join(cache, "pyc"),
	})
}

// makeReduced is all that a first process without namespaces has to make: whoever its commands leave behind becomes its own child.
func (f *first) makeReduced(p *plan) error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("keep processes together: %w", err)
	}
	f.reduced = true
	f.fence = &fence{handled: landlockFirst | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE}
	f.fence.handled |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	f.fence.scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	for _, a := range p.Allowed {
		at, err := openPlace(a.Path)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
			continue
		}
		if err != nil {
			return err
		}
		switch {
		case a.Write:
			f.fence.write = append(f.fence.write, at)
		case a.Device:
			f.fence.devices = append(f.fence.devices, at)
		default:
			f.fence.reads = append(f.fence.reads, at)
		}
	}
	return nil
}

// endAll ends every process that commands have started and left: all of them are children of this one sooner or later.
func (f *first) endAll() {
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		children := childrenOf(os.Getpid())
		if len(children) == 0 {
			return
		}
		for _, pid := range children {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		f.reap()
	}
}

// childrenOf are the processes whose parent is one. A process that has ended and is not yet taken leave of is one too.
func childrenOf(parent int) []int {
	var out []int
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range files {
		text, _ := os.ReadFile(name)
		_, rest, found := strings.Cut(string(text), ") ") // names may hold anything, the last bracket ends them
		for found && strings.Contains(rest, ") ") {
			_, rest, _ = strings.Cut(rest, ") ")
		}
		var state string
		var of, pid int
		if n, _ := fmt.Sscan(rest, &state, &of); n == 2 && of == parent {
			if _, err := fmt.Sscan(filepath.Base(filepath.Dir(name)), &pid); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}
