package warrant

import (
	"path"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/remembered"
	"github.com/tidemark/tidemark/internal/warrant/shell"
)

// What is fetched or written now may be run later: two calls are one deed. A conversation
// remembers of the files that its calls wrote what they hold, or no more than what that does,
// and of what was fetched that it was. After a restart the last names are known by hashes.

// The bounds on what is remembered of files. Where one is reached, a file that is run may be
// any of those that were forgotten.
const (
	maxFiles    = 1024
	maxHeld     = 64 << 10 // bytes of one text
	maxHeldAll  = 1 << 20  // of all of them
	maxLeads    = 32       // second names
	maxCame     = 256      // files and folders from elsewhere
	maxTraced   = 128      // files in one trace
	maxProvenBy = 400      // lines of a text that are looked up
)

// What a trace says of a file beside what it does.
const (
	cameBit   = remembered.Came
	theirsBit = remembered.Theirs
	deafBit   = remembered.Deaf
	leadBit   = remembered.Lead
	opaqueBit = remembered.Opaque
)

// What stands for no file in traces; it is the hash of no name.
const (
	spillSum  = iota // the place of the work, where an archive was taken apart
	insideSum        // whether the work was left in a folder from elsewhere
	fullSum          // that there was more than could be kept
	goingSum         // that something goes on that may run files of the work
)

// file is what is known of one file.
type file struct {
	name   string // cleaned, in lower case
	held   shell.Held
	theirs bool // lines of it stand in what came from outside
	opaque bool // nobody here can tell what it does
}

// past is what the calls of a conversation did to files.
type past struct {
	files    []*file // newest last
	came     []string
	leads    [][2]string
	size     int
	full     bool              // something was forgotten
	in       bool              // the work was left in a folder from elsewhere
	stray    bool              // second names were forgotten
	spill    bool              // an archive from elsewhere was taken apart here
	going    bool              // something was started that goes on, and may run files of the work
	jobs     []string          // the files that it was started with
	labelled remembered.Files  // of earlier sessions
	sums     map[uint64]uint64 // of earlier processes, by the hash of the last name
	sum      func(string) uint64
}

// cleanPath is a path as files are compared by.
func cleanPath(file string) string { return remembered.Clean(file) }

// same reports whether two clean paths may be one file.
func same(a, b string) bool { return remembered.Same(a, b) }

// fit are the files that a name may mean, the latest first: nobody knows in which folder it is
// said, and the harmless one must not hide another.
func (p *past) fit(name string) []*file {
	var out []*file
	name = cleanPath(name)
	for _, f := range slices.Backward(p.files) {
		if same(f.name, name) || remembered.Matching(name, f.name) {
			out = append(out, f)
		}
	}
	for _, f := range p.labelled.Fit(name) {
		out = append(out, earlier(&f))
	}
	return out
}

// earlier is a file of another session's as one of this one's.
func earlier(f *remembered.File) *file {
	return &file{
		name: cleanPath(f.Name), held: shell.Held{Deaf: true, Does: f.Does()}, theirs: f.Is(theirsBit), opaque: f.Is(opaqueBit),
	}
}

// recall adds what an earlier process knew of files.
func (p *past) recall(files []keptFile) {
	if len(files) > 0 && p.sums == nil {
		p.sums = map[uint64]uint64{}
	}
	for _, f := range files {
		if f.sum == insideSum {
			p.sums[f.sum] = f.what // the work may have left it again
			continue
		}
		p.sums[f.sum] |= f.what
	}
}

// kept is what an earlier process knew of a name.
func (p *past) kept(name string) uint64 {
	if len(p.sums) == 0 {
		return 0
	}
	return p.sums[p.sum(path.Base(cleanPath(name)))]
}

// Came reports whether a file, or a folder it is in, came from elsewhere.
func (p *past) Came(name string) bool {
	if p.labelled.Came(name) {
		return true
	}
	name = cleanPath(name)
	for end, from := 0, 0; end <= len(name); end++ {
		if end < len(name) && name[end] != '/' {
			continue
		}
		upto, part := name[:end], name[from:end]
		from = end + 1
		if part == "" || part == "." || part == ".." {
			continue
		}
		if slices.ContainsFunc(p.came, func(c string) bool { return same(c, upto) }) || p.kept(part)&cameBit != 0 {
			return true
		}
	}
	return false
}

// Held is what was written into a file, or into each that the name may mean.
func (p *past) Held(name string) (shell.Held, bool) {
	if list := p.fit(name); len(list) > 0 {
		return together(list), true
	}
	k := p.kept(name)
	if strings.ContainsAny(name, "*?[") {
		for _, what := range p.sums { // any of them may be meant
			k |= what
		}
	}
	if k&^(cameBit|leadBit) != 0 {
		return shell.Held{Deaf: true, Does: shell.Effects(k & 0xffff)}, true
	}
	if p.full || p.sums[fullSum] != 0 {
		return shell.Held{Deaf: true, Does: shell.Unparsed}, true
	}
	return shell.Held{}, false
}

// together is what some files hold, as one.
func together(list []*file) shell.Held {
	out := list[0].held
	for _, f := range list[1:] {
		out.Text, out.Part = out.Text+"\n"+f.held.Text, true
		out.Does, out.Deaf = out.Does|f.held.Does, out.Deaf || f.held.Deaf
	}
	return out
}

// Leads are the links that were made.
func (p *past) Leads() [][2]string { return p.leads }

// Inside reports whether the work was left in a folder that came from elsewhere.
func (p *past) Inside() bool { return p.in || p.sums[insideSum]&cameBit != 0 }

// went notes the folder that a command stays in: some hosts begin the next one there.
func (p *past) went(folder string) {
	inner := !strings.HasPrefix(folder, "/") && !strings.HasPrefix(folder, "~") && !strings.HasPrefix(folder, "..")
	p.in = p.Came(folder) || p.Inside() && inner
	delete(p.sums, insideSum)
}

// Spilled reports whether an archive from elsewhere was taken apart where the work is.
func (p *past) Spilled() bool { return p.spill || p.sums[spillSum]&cameBit != 0 }

// reach is a file and what it leads to by links.
func (p *past) reach(name string) []string {
	out := []string{name}
	for i := 0; i < len(out) && len(out) < maxLeads; i++ {
		parts := strings.Split(out[i], "/")
		for k, part := range parts {
			for _, l := range p.leads {
				if strings.EqualFold(part, l[0]) {
					to := path.Join(append([]string{l[1]}, parts[k+1:]...)...)
					if !slices.Contains(out, to) {
						out = append(out, to)
					}
				}
			}
		}
	}
	return out
}

// led reports whether a name may lead somewhere by a link that only an earlier process knew, or
// that was forgotten.
func (p *past) led(name string) bool {
	return p.stray || slices.ContainsFunc(strings.Split(cleanPath(name), "/"), func(part string) bool { return p.kept(part)&leadBit != 0 })
}

// put remembers what is put into a file.
func (p *past) put(m *shell.Made) *file {
	name := cleanPath(m.File)
	if name == "" {
		return nil
	}
	f := &file{name: name, held: shell.Held{Text: m.Text, Part: m.Part || !m.Known}}
	if i := slices.IndexFunc(p.files, func(o *file) bool { return o.name == name }); i >= 0 {
		if was := p.files[i]; m.Part {
			f.held.Text, f.held.Part = strings.TrimSuffix(was.held.Text, "\n")+"\n"+m.Text, was.held.Part
			f.theirs, f.opaque = was.theirs, was.opaque
			f.held.Deaf, f.held.Does = was.held.Deaf, was.held.Does
		}
		p.size -= len(p.files[i].held.Text)
		p.files = slices.Delete(p.files, i, i+1)
	} else if k := p.kept(name); m.Part && k != 0 {
		f.held = shell.Held{Text: m.Text, Part: true, Deaf: true, Does: shell.Effects(k & 0xffff)}
		f.theirs, f.opaque = k&theirsBit != 0, k&opaqueBit != 0
	}
	p.files = append(p.files, f)
	p.size += len(f.held.Text)
	return f
}

// bound forgets texts, and then files, where there are too many. What a text does was read.
func (p *past) bound() {
	for _, f := range p.files {
		if len(f.held.Text) > maxHeld || p.size > maxHeldAll {
			p.size -= len(f.held.Text)
			f.held.Text, f.held.Deaf = "", true
		}
	}
	if n := len(p.files) - maxFiles; n > 0 {
		p.files, p.full = slices.Delete(p.files, 0, n), true
	}
}

// bring remembers a file or folder from elsewhere.
func (p *past) bring(name string) {
	if name = cleanPath(name); name == "" || slices.Contains(p.came, name) {
		return
	}
	if p.came = append(p.came, name); len(p.came) > maxCame {
		p.came, p.full = p.came[1:], true
	}
}

// link remembers a second name.
func (p *past) link(l [2]string) {
	if slices.Contains(p.leads, l) {
		return
	}
	if p.leads = append(p.leads, l); len(p.leads) > maxLeads {
		p.leads, p.full, p.stray = p.leads[1:], true, true
	}
}
