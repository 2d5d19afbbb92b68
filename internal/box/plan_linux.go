package box

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// What a step of a plan does. Each makes the path To, which is seen from inside; From is a path outside.
const (
	doFolder = "folder" // a folder that was not there, in memory
	doVoid   = "void"   // an empty folder in memory, with mode Mode
	doSeal   = "seal"   // what was made there in memory can be changed no more
	doLink   = "link"   // a link that says From
	doShow   = "show"   // From as it is, for reading
	doBorrow = "borrow" // From for reading, without what listens in it
	doOpen   = "open"   // From for reading and writing
	doLayer  = "layer"  // From below a layer, which takes what is written
	doPin    = "pin"    // it cannot be renamed
	doKeep   = "keep"   // it cannot be changed
	doHide   = "hide"   // it is there and nothing can be seen of it
	doDevice = "device" // a device of the machine
	doMount  = "mount"  // a file system of the kind From
)

// step is one thing that is done to make the view of a box.
type step struct {
	Do       string
	From, To string
	Layer    string // a folder of State
	Mode     uint32
	Options  string
	Write    bool // commands may write below it
	Spare    bool // where it cannot be had the box is made without it
}

// plan is the view of a box, in the order in which it is made.
type plan struct {
	Root  string // an empty folder outside, on which the view is made
	Empty string // another, which stays empty
	Steps []step
	Way   bool // there is a way out

	layers int
	made   map[string]bool
}

func (p *plan) add(s step) { p.Steps = append(p.Steps, s) }

// planFor says how the view is made for what is wanted, from what stands on the machine.
func planFor(w Want, s *survey) (*plan, error) {
	p := &plan{Root: filepath.Join(w.State, "root"), Empty: filepath.Join(w.State, "empty"), made: map[string]bool{}}
	mounts, err := readMounts()
	if err != nil {
		return nil, err
	}
	if err := p.machine(w, mounts); err != nil {
		return nil, err
	}
	p.kernel(w)
	p.own(w)
	p.names(w)
	if err := p.home(w, mounts); err != nil {
		return nil, err
	}
	p.workspace(w, s)
	for _, path := range w.Read {
		p.add(step{Do: doShow, From: path, To: path})
	}
	for _, path := range w.Write {
		p.add(step{Do: doOpen, From: path, To: path, Write: true})
	}
	for _, path := range append([]string{w.State}, w.Hide...) {
		p.add(step{Do: doHide, To: path})
	}
	for _, to := range []string{w.Home, "/run", "/dev"} {
		p.add(step{Do: doSeal, To: to})
	}
	return p, nil
}

// machine shows the folders at the top that hold programs, and those that something of the caller's lies in.
func (p *plan) machine(w Want, mounts []string) error {
	entries, err := os.ReadDir("/")
	if err != nil {
		return fmt.Errorf("read the top folder: %w", err)
	}
	system, machine := places.of("system"), append(places.of("machine"), partsAtTop(w)...)
	for _, e := range entries {
		path := "/" + e.Name()
		switch {
		case slices.Contains([]string{"/proc", "/sys", "/dev", "/run", "/tmp", "/home", "/root"}, path):
		case e.Type()&fs.ModeSymlink != 0:
			if to, err := os.Readlink(path); err == nil {
				p.add(step{Do: doLink, From: to, To: path})
			}
		case !e.IsDir():
		case slices.Contains(system, e.Name()):
			p.add(step{Do: doShow, From: path, To: path})
		case slices.Contains(machine, e.Name()):
			p.borrow(path, mounts, w)
		}
	}
	if os.Geteuid() == 0 { // whose files are root's cannot be told from the caller's by their owner
		for _, path := range closedFiles() {
			p.add(step{Do: doHide, To: path})
		}
	}
	return nil
}

// borrow shows a folder and the file systems mounted below it.
func (p *plan) borrow(path string, mounts []string, w Want) {
	p.add(step{Do: doBorrow, From: path, To: path, Spare: true})
	for _, m := range mounts {
		if strings.HasPrefix(m, path+"/") && !inside(m, w.State) && !inside(m, w.Home) {
			p.add(step{Do: doBorrow, From: m, To: m, Spare: true})
		}
	}
}

// partsAtTop are the folders at the top in which the workspace lies, and programs of the caller's.
func partsAtTop(w Want) []string {
	var out []string
	paths := []string{w.Workspace}
	for _, e := range w.Env {
		if list, ok := strings.CutPrefix(e, "PATH="); ok {
			paths = append(paths, filepath.SplitList(list)...)
		}
	}
	for _, path := range paths {
		if first, rest, ok := strings.Cut(strings.TrimPrefix(filepath.Clean(path), "/"), "/"); ok && rest != "" && filepath.IsAbs(path) {
			out = append(out, first)
		}
	}
	return out
}

// closedFiles are what root alone may read of the settings and the data of the machine.
func closedFiles() []string {
	var out []string
	for _, top := range []string{"/etc", "/var/lib", "/var/log", "/var/spool", "/var/cache", "/var/backups", "/var/mail", "/opt", "/srv"} {
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Type()&fs.ModeSymlink != 0 {
				return nil //nolint:nilerr // what cannot be read is not shown
			}
			info, err := d.Info()
			if err == nil && info.Mode().Perm()&0o004 == 0 {
				out = append(out, path)
				if d.IsDir() {
					return fs.SkipDir
				}
			}
			if d.IsDir() && top != "/etc" && path != top {
				return fs.SkipDir
			}
			return nil
		})
	}
	return out
}

// kernel makes what the kernel shows of itself, and the devices that any command needs.
func (p *plan) kernel(w Want) {
	p.add(step{Do: doMount, From: "proc", To: "/proc"})
	p.add(step{Do: doMount, From: "sysfs", To: "/sys", Spare: true})
	p.add(step{Do: doShow, From: "/sys/fs/cgroup", To: "/sys/fs/cgroup", Spare: true})
	p.add(step{Do: doVoid, To: "/dev", Mode: 0o755, Write: true})
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		p.add(step{Do: doDevice, From: "/dev/" + name, To: "/dev/" + name})
	}
	if w.Terminal != "" {
		p.add(step{Do: doDevice, From: w.Terminal, To: "/dev/console", Spare: true})
	}
	for name, to := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		p.add(step{Do: doLink, From: to, To: "/dev/" + name})
	}
	p.add(step{Do: doMount, From: "devpts", To: "/dev/pts", Options: "newinstance,ptmxmode=0666,mode=0620", Write: true})
	p.add(step{Do: doVoid, To: "/dev/shm", Mode: 0o1777, Write: true})
}

// own makes the folders that are the box's own.
func (p *plan) own(w Want) {
	p.add(step{Do: doOpen, From: filepath.Join(w.State, "tmp"), To: "/tmp", Write: true})
	p.add(step{Do: doOpen, From: filepath.Join(w.State, "vartmp"), To: "/var/tmp", Write: true, Spare: true})
	if info, err := os.Lstat("/var/run"); err == nil && info.IsDir() {
		p.add(step{Do: doHide, To: "/var/run"})
	}
	p.add(step{Do: doVoid, To: "/run", Mode: 0o755})
	p.add(step{Do: doVoid, To: "/run/lock", Mode: 0o1777, Write: true})
	p.add(step{Do: doVoid, To: runtimeFolder(), Mode: 0o700, Write: true})
}

func runtimeFolder() string { return "/run/user/" + strconv.Itoa(os.Getuid()) }

// home shows of the home folder what has no dot and what the list names, and lays a layer over what programs write by themselves.
func (p *plan) home(w Want, mounts []string) error {
	entries, err := os.ReadDir(w.Home)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the home folder: %w", err)
	}
	p.add(step{Do: doVoid, To: w.Home, Mode: 0o755})
	layers := places.of("home-layer")
	for _, e := range entries {
		if path := filepath.Join(w.Home, e.Name()); e.Name()[0] != '.' && !slices.Contains(layers, e.Name()) && path != w.Workspace {
			p.entry(path, mounts, w)
		}
	}
	for _, name := range places.of("home-read") {
		p.entry(filepath.Join(w.Home, name), mounts, w)
	}
	for _, dir := range pathFolders(w) {
		p.entry(dir, nil, w)
	}
	for _, name := range layers {
		p.layer(w, filepath.Join(w.Home, name))
	}
	for _, name := range places.of("home-hide") {
		if path := filepath.Join(w.Home, name); exists(path) {
			p.add(step{Do: doHide, To: path})
		}
	}
	return nil
}

// entry shows one file, folder or link of the home folder.
func (p *plan) entry(path string, mounts []string, w Want) {
	info, err := os.Lstat(path)
	if err != nil || p.made[path] || !throughFolders(w.Home, path) {
		return
	}
	p.made[path] = true
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		if to, err := os.Readlink(path); err == nil {
			p.add(step{Do: doLink, From: to, To: path})
		}
	case info.IsDir():
		p.borrow(path, mounts, w)
	case info.Mode().IsRegular():
		p.add(step{Do: doShow, From: path, To: path, Spare: true})
	}
}

// pathFolders are the folders of programs below the home folder that no list names.
func pathFolders(w Want) []string {
	var out []string
	shown := append(places.of("home-read"), places.of("home-layer")...)
	for _, e := range w.Env {
		list, ok := strings.CutPrefix(e, "PATH=")
		for _, dir := range filepath.SplitList(list) {
			name, err := filepath.Rel(w.Home, filepath.Clean(dir))
			if !ok || err != nil || name == "." || name[0] != '.' || strings.HasPrefix(name, "..") {
				continue
			}
			if !slices.ContainsFunc(shown, func(s string) bool { return inside(name, s) }) {
				out = append(out, filepath.Clean(dir))
			}
		}
	}
	return out
}

// layer lays a layer over a folder of the home folder; one that is not there is in the layer alone.
func (p *plan) layer(w Want, path string) {
	if !throughFolders(w.Home, path) {
		return
	}
	p.layers++
	kept := filepath.Join(w.State, "layer", strconv.Itoa(p.layers))
	s := step{Do: doLayer, From: path, To: path, Layer: kept, Write: true, Spare: true}
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		if name, bad := filepath.Rel(w.Home, path); err == nil || bad != nil || !slices.Contains(places.of("home-made"), name) {
			return // a file or a link of that name stays what it is, unseen
		}
		s = step{Do: doOpen, From: filepath.Join(kept, "up"), To: path, Write: true}
	}
	p.add(s)
}

// workspace opens the workspace, and guards in it what stands there.
func (p *plan) workspace(w Want, s *survey) {
	p.add(step{Do: doOpen, From: w.Workspace, To: w.Workspace, Write: true})
	for _, dir := range s.kept {
		p.add(step{Do: doOpen, From: dir, To: dir, Write: true})
	}
	pinned := map[string]bool{}
	var pins, keeps []string
	for _, g := range s.places {
		for _, pin := range g.pins {
			if !pinned[pin] {
				pinned[pin] = true
				pins = append(pins, s.abs(pin))
			}
		}
		if g.link == "" {
			keeps = append(keeps, s.abs(g.path))
		}
	}
	byDepth := func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	}
	slices.SortFunc(pins, byDepth)
	slices.SortFunc(keeps, byDepth)
	for _, path := range pins {
		p.add(step{Do: doPin, To: path})
	}
	for _, path := range keeps {
		p.add(step{Do: doKeep, To: path})
	}
	for _, path := range s.sockets {
		p.add(step{Do: doHide, To: s.abs(path)})
	}
}

// throughFolders reports whether every part of a path between two folders is a folder, or not there.
func throughFolders(from, path string) bool {
	for dir := filepath.Dir(path); dir != from && len(dir) > len(from); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			return false
		}
	}
	return true
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// readMounts are the points at which file systems are mounted, from the top.
func readMounts() ([]string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, &Lack{What: "the file systems of this machine cannot be listed", Err: err}
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var out []string
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 4 {
			out = append(out, unescape.Replace(f[4]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
