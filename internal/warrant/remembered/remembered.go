// Package remembered is what earlier sessions left in a folder: files that were written after somebody but the user had spoken.
// Running one is judged as in the session that wrote it, so what was known of its text there is kept with its label.
//
// Invariants:
//   - a name may mean every file whose path it is the end of: nobody knows in which folder it is said;
//   - a file of which nothing is known may do what nobody can tell;
//   - a build, a test, a commit and a program that was built run every file of the folder that is not plainly data.
//
// It is pure.
package remembered

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/wordlist"
)

// What is known of a file, beside the effects of its text, which are the lowest bits.
const (
	Came   = 1 << (16 + iota) // it came from elsewhere
	Theirs                    // lines of it stand in what came from outside
	Deaf                      // its text was not kept
	Lead                      // it is a second name
	Opaque                    // nobody here can tell what it does

	effects = Came - 1
)

// File is a file of an earlier session's.
type File struct {
	Name string // in full where that is known
	What uint64
	Far  bool // it lies in another folder: it counts where it is named, and not in what a build runs
}

// Does is what is known of its text.
func (f *File) Does() shell.Effects { return shell.Effects(f.What & effects) }

// Is reports whether something is known of it. Of a file of which nothing is, nobody can tell what it does.
func (f *File) Is(bit uint64) bool { return f.What&bit != 0 || f.What == 0 && bit == Opaque }

// Files are those of one folder. They are a past in which nothing else happened.
type Files []File

var _ shell.Past = Files(nil)

// Clean is a path as files are compared by: case says nothing.
func Clean(file string) string {
	file = strings.ToLower(strings.ReplaceAll(file, `\`, "/"))
	if file == "" {
		return ""
	}
	return strings.TrimPrefix(path.Clean(file), "./")
}

// Same reports whether two clean paths may be one file: nobody knows in which folder each was
// said, so that one may be the end of the other.
func Same(a, b string) bool {
	a, b = strings.TrimPrefix(a, "~"), strings.TrimPrefix(b, "~")
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || a != "" && strings.HasSuffix(b, a) && (a[0] == '/' || b[len(b)-len(a)-1] == '/')
}

// Matching reports whether a pattern of a shell's may mean a file.
func Matching(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	want, have := strings.Split(pattern, "/"), strings.Split(name, "/")
	for i := range min(len(want), len(have)) {
		ok, err := path.Match(want[len(want)-1-i], have[len(have)-1-i])
		if err == nil && !ok {
			return false
		}
	}
	return true
}

// Fit are the files that a name may mean.
func (l Files) Fit(name string) Files {
	var out Files
	name = Clean(name)
	for _, f := range l {
		if have := Clean(f.Name); Same(have, name) || Matching(name, have) {
			out = append(out, f)
		}
	}
	return out
}

// Runs are the files that a line may run.
func (l Files) Runs(line *shell.Line) Files {
	if line.Builds || Commits(line) || slices.ContainsFunc(line.Ran, built) || line.Effects.Has(shell.Unparsed) {
		return slices.DeleteFunc(slices.Clone(l), func(f File) bool { return f.Far || shell.Data(f.Name) })
	}
	var out Files
	for _, name := range line.Ran {
		out = append(out, l.Fit(name)...)
	}
	for i := range line.Scripts {
		out = append(out, l.Fit(line.Scripts[i].File)...)
	}
	return out
}

var (
	//go:embed looks.txt
	looksText string
	//go:embed words.txt
	wordsText string

	lists = wordlist.Read(wordsText)
)

// looks are the programs of looks.txt, with the words by which they only look; none: always.
var looks = sync.OnceValue(func() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for line := range strings.Lines(looksText) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		out[words[0]] = map[string]bool{}
		for _, w := range words[1:] {
			out[words[0]][w] = true
		}
	}
	return out
})

// onlyLooks reports whether a line runs nothing that it is given, and puts nothing elsewhere.
func onlyLooks(line *shell.Line) bool {
	if Passes(line) || line.Fed || line.Opens || line.Unsure {
		return false
	}
	return !slices.ContainsFunc(line.Runs, func(r shell.Run) bool {
		verbs, ok := looks()[r.Name]
		return !ok || len(verbs) > 0 && (len(r.Args) == 0 || !verbs[r.Args[0].Text])
	})
}

// Meant are the files that a line may run, or pass on so that something else may.
func (l Files) Meant(line *shell.Line) Files {
	if len(l) == 0 {
		return nil
	}
	out := l.Runs(line)
	if !onlyLooks(line) {
		out = append(out, l.Named(line)...)
	}
	return out
}

// What is all that is known of some files.
func (l Files) What() (what uint64) {
	for i := range l {
		if what |= l[i].What; l[i].What == 0 {
			what |= Opaque
		}
	}
	return what
}

// Named are the files that the words of a line name: what it prints, or puts elsewhere, may be theirs.
func (l Files) Named(line *shell.Line) Files {
	var out Files
	for i := range line.Runs {
		for _, a := range line.Runs[i].Args {
			if a.Text != "" && !strings.HasPrefix(a.Text, "-") {
				out = append(out, l.Fit(a.Text)...)
			}
		}
	}
	return out
}

// Passes reports whether a line puts something into files, under other names too.
func Passes(line *shell.Line) bool {
	return len(line.Made)+len(line.Leaves)+len(line.Links) > 0
}

// built reports whether a file that is run may have been made of others: it lies here and is no script.
func built(file string) bool { return path.Ext(file) == "" && !strings.HasPrefix(file, "/") }

// committing are the words by which git runs what a repository's hooks name.
var committing = lists.Set("committing")

// Commits reports whether a line may run hooks of a repository.
func Commits(line *shell.Line) bool {
	return slices.ContainsFunc(line.Runs, func(r shell.Run) bool {
		return r.Name == "git" && slices.ContainsFunc(r.Args, func(a shell.Word) bool { return committing[a.Text] })
	})
}

// Came implements [shell.Past].
func (l Files) Came(file string) bool {
	return slices.ContainsFunc(l.Fit(file), func(f File) bool { return f.Is(Came) })
}

// Held implements [shell.Past].
func (l Files) Held(file string) (shell.Held, bool) {
	fit := l.Fit(file)
	h := shell.Held{Deaf: true}
	for i := range fit {
		h.Does |= fit[i].Does()
	}
	return h, len(fit) > 0
}

// Spilled implements [shell.Past].
func (Files) Spilled() bool { return false }

// Inside implements [shell.Past].
func (Files) Inside() bool { return false }

// Leads implements [shell.Past].
func (Files) Leads() [][2]string { return nil }
