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

	Reduced bool // there is no view: what is allowed is named
	Allowed []allowed

	layers  int
	made    map[string]bool
	folders []string // what is made outside, empty, before the view is
	files   map[string]string

	homeUp string            // where the home folder is on the disk, if all of it is a layer
	copies map[string]string // files of the home folder that are copied there, by their paths below it
	copied int64             // how much that is
	kept   []int             // the steps that lay a layer over other folders of it than caches
}

func (p *plan) add(s step) { p.Steps = append(p.Steps, s) }

// planFor says how the view is made for what is wanted, from what stands on the machine.
func planFor(w Want, s *survey, granted []*survey) (*plan, error) {
	p := &plan{
		Root: filepath.Join(w.State, "root"), Empty: filepath.Join(w.State, "empty"), made: map[string]bool{}, files: map[string]string{},
	}
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
	p.grants(w, granted, func(path string) bool { return inside(w.Workspace, path) })
	p.workspace(w.Workspace, s)
	p.grants(w, granted, func(path string) bool { return !inside(w.Workspace, path) })
	for _, path := range append([]string{w.State}, w.Hide...) {
		p.add(step{Do: doHide, To: path})
	}
	for _, to := range []string{w.Home, "/run", "/dev"} {
		if to != w.Home || p.homeUp == "" {
			p.add(step{Do: doSeal, To: to})
		}
	}
	return p, nil
}

// grants opens what is granted besides the workspace. What holds the workspace comes before it, or it would lie over its guards.
func (p *plan) grants(w Want, granted []*survey, which func(string) bool) {
	for _, path := range w.Read {
		if which(path) {
			p.add(step{Do: doShow, From: path, To: path})
		}
	}
	for _, path := range w.Write {
		at := slices.IndexFunc(granted, func(s *survey) bool { return s.root == path })
		switch {
		case !which(path):
		case at < 0:
			p.add(step{Do: doOpen, From: path, To: path, Write: true})
		default:
			p.workspace(path, granted[at])
		}
	}
}

// elsewhere are the folders at the top that are shown in another way, or not at all.
var elsewhere = []string{"/proc", "/sys", "/dev", "/run", "/tmp", "/home", "/root"}

// machine shows the folders at the top that hold programs, and those that something of the caller's lies in.
func (p *plan) machine(w Want, mounts []string) error {
	entries, err := os.ReadDir("/")
	if err != nil {
		return fmt.Errorf("read the top folder: %w", err)
	}
	system, machine := places.of("system"), places.of("machine")
	for _, e := range entries {
		path := "/" + e.Name()
		switch {
		case slices.Contains(elsewhere, path):
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
	p.around(w, mounts, slices.Concat(system, machine))
	if os.Geteuid() == 0 { // whose files are root's cannot be told from the caller's by their owner
		for _, path := range closedFiles() {
			p.add(step{Do: doHide, To: path})
		}
	}
	return nil
}

// borrow shows a folder. One in which file systems are mounted is shown entry by entry: the mounts are the machine's, and the kernel
// lets no box look below them.
func (p *plan) borrow(path string, mounts []string, w Want) {
	if path == w.Home || path == w.State { // they are shown in their own way
		return
	}
	if !mountedBelow(path, mounts) {
		p.add(step{Do: doBorrow, From: path, To: path, Spare: true})
		return
	}
	p.add(step{Do: doFolder, To: path})
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		below := filepath.Join(path, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			if to, err := os.Readlink(below); err == nil {
				p.add(step{Do: doLink, From: to, To: below, Spare: true})
			}
		case e.IsDir():
			p.borrow(below, mounts, w)
		case e.Type().IsRegular():
			p.add(step{Do: doShow, From: below, To: below, Spare: true})
		}
	}
}

func mountedBelow(path string, mounts []string) bool {
	return slices.ContainsFunc(mounts, func(m string) bool { return m != path && inside(m, path) })
}

// around shows what lies beside a workspace that is neither in the home folder nor in one of the system's, without what begins with a
// dot, and the folders of programs that the caller has elsewhere.
func (p *plan) around(w Want, mounts, shown []string) {
	apart := func(path string) bool {
		top, _, below := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		return filepath.IsAbs(path) && (below || top != "") && !slices.Contains(shown, top) && !slices.Contains(elsewhere, "/"+top) &&
			!inside(path, w.Home) && !inside(w.Home, path)
	}
	if beside := filepath.Dir(w.Workspace); apart(beside) {
		p.borrow(beside, mounts, w)
		entries, _ := os.ReadDir(beside)
		for _, e := range entries {
			if path := filepath.Join(beside, e.Name()); e.Name()[0] == '.' && path != w.Workspace {
				p.add(step{Do: doHide, To: path})
			}
		}
	}
	for _, e := range w.Env {
		list, ok := strings.CutPrefix(e, "PATH=")
		for _, dir := range filepath.SplitList(list) {
			if dir = filepath.Clean(dir); filepath.Base(dir) == "bin" && apart(filepath.Dir(dir)) {
				dir = filepath.Dir(dir) // its libraries lie beside
			}
			info, err := os.Stat(dir)
			if ok && apart(dir) && err == nil && info.IsDir() && !p.made[dir] && !inside(filepath.Dir(w.Workspace), dir) {
				p.made[dir] = true
				p.borrow(dir, mounts, w)
			}
		}
	}
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
	p.add(step{Do: doVoid, To: "/dev", Mode: 0o755, Write: true, Options: "size=1m"})
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
	p.add(step{Do: doVoid, To: "/dev/shm", Mode: 0o1777, Write: true, Options: "size=25%"})
}

// own makes the folders that are the box's own.
func (p *plan) own(w Want) {
	p.add(step{Do: doOpen, From: filepath.Join(w.State, "tmp"), To: "/tmp", Write: true})
	p.add(step{Do: doOpen, From: filepath.Join(w.State, "vartmp"), To: "/var/tmp", Write: true, Spare: true})
	if info, err := os.Lstat("/var/run"); err == nil && info.IsDir() {
		p.add(step{Do: doHide, To: "/var/run"})
	}
	p.add(step{Do: doVoid, To: "/run", Mode: 0o755, Options: "size=1m"})
	p.add(step{Do: doVoid, To: "/run/lock", Mode: 0o1777, Write: true, Options: "size=4m"})
	p.add(step{Do: doVoid, To: runtimeFolder(), Mode: 0o700, Write: true, Options: "size=64m"})
}

func runtimeFolder() string { return "/run/user/" + strconv.Itoa(os.Getuid()) }

// home shows of the home folder what has no dot and what the list names, and lays a layer over what programs write by themselves.
func (p *plan) home(w Want, mounts []string) error {
	entries, err := os.ReadDir(w.Home)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the home folder: %w", err)
	}
	p.homeFolder(w)
	layers, shut := places.of("home-layer"), places.of("home-shut")
	for _, e := range entries {
		name := e.Name()
		unnamed := name[0] != '.' && !slices.Contains(layers, name) && !slices.Contains(shut, name)
		if path := filepath.Join(w.Home, name); unnamed && path != w.Workspace {
			p.entry(path, mounts, w)
		}
	}
	inOwn := func(name string) bool {
		return slices.ContainsFunc(places.of("home-own"), func(own string) bool { return inside(name, own) })
	}
	for _, below := range []bool{false, true} { // what lies in a layer comes after it
		for _, name := range places.of("home-read") {
			if inOwn(name) == below {
				p.entry(filepath.Join(w.Home, name), mounts, w)
			}
		}
		if below {
			break
		}
		for _, dir := range pathFolders(w) {
			p.entry(dir, mounts, w)
		}
		for _, name := range slices.Concat(layers, places.of("home-cache")) {
			p.layer(w, name, mounts)
		}
	}
	p.ownFolders(w)
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
		p.homeDir(w, path, mounts)
	case info.Mode().IsRegular():
		p.homeFile(w, path, info)
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

// layer lays a layer over a folder of the home folder; one that is not there, whose contents are nobody's business, or in which file
// systems are mounted, is in the layer alone.
func (p *plan) layer(w Want, name string, mounts []string) {
	path := filepath.Join(w.Home, name)
	if !throughFolders(w.Home, path) {
		return
	}
	if w.Layer == LayerNone {
		if !slices.Contains(places.of("home-own"), name) {
			p.entry(path, mounts, w)
		}
		return
	}
	p.layers++
	kept := filepath.Join(w.State, "layer", strconv.Itoa(p.layers))
	s := step{Do: doLayer, From: path, To: path, Layer: kept, Write: true, Spare: true}
	own := slices.Contains(places.of("home-own"), name) || mountedBelow(path, mounts)
	if info, err := os.Lstat(path); own || err != nil || !info.IsDir() {
		if err == nil && !info.IsDir() || err != nil && !slices.Contains(places.of("home-made"), name) {
			return // a file or a link of that name stays what it is, unseen
		}
		s = step{Do: doOpen, From: filepath.Join(kept, "up"), To: path, Write: true}
	}
	if own {
		p.empties(path, s.From)
	}
	p.add(s)
}

// ownFolders makes folders of the home folder that are the box's own, with what the caller puts there.
func (p *plan) ownFolders(w Want) {
	for _, name := range w.Own {
		p.layers++
		kept := filepath.Join(w.State, "layer", strconv.Itoa(p.layers), "up")
		p.add(step{Do: doOpen, From: kept, To: filepath.Join(w.Home, name), Write: true})
		for file, text := range w.Files {
			if below, err := filepath.Rel(name, file); err == nil && filepath.IsLocal(below) {
				p.files[filepath.Join(kept, below)] = text
			}
		}
	}
}

// empties has the folders that lie in one made in another, with nothing in them: programs that made them go by their being there.
func (p *plan) empties(in, to string) {
	entries, _ := os.ReadDir(in)
	for _, e := range entries {
		if e.IsDir() {
			p.folders = append(p.folders, filepath.Join(to, e.Name()))
		}
	}
}

// workspace opens a folder, and guards in it what stands there.
func (p *plan) workspace(path string, s *survey) {
	p.add(step{Do: doOpen, From: path, To: path, Write: true})
	for _, dir := range s.kept {
		p.add(step{Do: doOpen, From: dir, To: dir, Write: true})
	}
	pinned := map[string]bool{}
	var pins, keeps []string
	for _, g := range s.places {
		if g.judged {
			continue
		}
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
	hidden := map[string]bool{}
	for _, path := range s.sockets { // a cover that is covered once more could not be put away
		if path = s.abs(path); !hidden[path] {
			hidden[path] = true
			p.add(step{Do: doHide, To: path})
		}
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
