package keeper

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/box"
)

// offer is one file, or one thing that was put aside, which a person may keep.
type offer struct {
	path   string // where it would be
	shown  string // the same, as people call it
	what   string // it is; empty: nobody here knows who reads it
	sum    string // of all that it holds
	says   string // how large it is, and how it differs from what is there
	lines  []string
	change *box.Change // of the home of a box that is open
	aside  *Aside      // of a box that has ended
}

// id is the same only for the same thing with the same in it.
func (o *offer) id() string { return o.path + "\x00" + o.sum }

// name is what it is called, with what it is.
func (o *offer) name() string {
	if o.what == "" {
		return o.shown
	}
	return o.shown + " (" + o.what + ")"
}

func keyOf(batch []offer) string {
	var ids []string
	for i := range batch {
		ids = append(ids, batch[i].id())
	}
	return strings.Join(ids, "\x01")
}

// How much of what is new in a file is shown. Of what is known to run all must be: else nobody is asked, and it waits.
const (
	mostLines = 40
	longLine  = 300
	mostShown = 4 << 20 // of something that was put aside
)

// ofChange is what a changed file of the home folder is for people; false: they cannot be shown what they would keep.
func ofChange(home string, c box.Change) (offer, bool) {
	o := offer{path: c.Path, sum: c.Sum, what: c.What, change: &c}
	below, err := filepath.Rel(home, c.Path)
	if err != nil || !filepath.IsLocal(below) {
		return o, false
	}
	o.shown = quoted("~/" + filepath.ToSlash(below))
	return o, o.tell(c.Old, c.Text, c.Was == "") && legibleName(c.Path)
}

// tell says how two texts differ, and reports whether that says enough.
func (o *offer) tell(old, text []byte, fresh bool) bool {
	was := "changed"
	if fresh {
		was = "new"
	}
	o.says = fmt.Sprintf("%s, %d bytes, SHA-256 %s", was, len(text), o.sum)
	if !utf8.Valid(text) || !utf8.Valid(old) || bytes.IndexByte(text, 0) >= 0 {
		o.says += ", no text"
		return true
	}
	gone, came := differing(lines(old), lines(text))
	o.says += fmt.Sprintf(", %d lines new, %d gone", len(came), len(gone))
	whole := true
	for _, part := range []struct {
		sign string
		list []string
	}{{"+ ", came}, {"- ", gone}} {
		for i, line := range part.list {
			if i >= mostLines || len(line) > longLine {
				whole = whole && part.sign == "- " // what goes need not be seen whole
				o.lines = append(o.lines, part.sign+"(more)")
				break
			}
			o.lines = append(o.lines, o.shown+": "+part.sign+line)
		}
	}
	return whole || o.what == ""
}

func lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// differing are the lines in the middle of two texts that begin and end alike.
func differing(old, text []string) (gone, came []string) {
	for len(old) > 0 && len(text) > 0 && old[0] == text[0] {
		old, text = old[1:], text[1:]
	}
	for len(old) > 0 && len(text) > 0 && old[len(old)-1] == text[len(text)-1] {
		old, text = old[:len(old)-1], text[:len(text)-1]
	}
	return old, text
}

// ofAside is what something that was put aside is for people; false: they cannot be shown it, or it cannot be put back.
func ofAside(a Aside) (offer, bool) {
	o := offer{path: a.Path, what: "it would run elsewhere or later"}
	o.shown = quoted(filepath.ToSlash(a.Path))
	if !legibleName(a.Path) || plainBelow(a.Kept) != nil {
		return o, false
	}
	info, err := os.Lstat(a.Kept)
	if err != nil {
		return o, false
	}
	if info.IsDir() {
		return o, o.folder(a.Kept)
	}
	text, ok := readWhole(a.Kept)
	if !ok {
		return o, false
	}
	o.sum = hashOf(text)
	var old []byte
	if a.Home != "" {
		o.shown = quoted("~" + strings.TrimPrefix(filepath.ToSlash(a.Path), filepath.ToSlash(a.Home)))
		o.what = describe(a.Home, a.Path, &box.Change{Mode: info.Mode().Perm(), Text: text})
		old, _ = readWhole(a.Path)
	}
	return o, o.tell(old, text, a.Sum == "")
}

// folder says what is in a folder that was put aside: all of it must be seen.
func (o *offer) folder(kept string) bool {
	var all bytes.Buffer
	files, whole := 0, true
	err := filepath.WalkDir(kept, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		below, err := filepath.Rel(kept, path)
		if err != nil {
			return err
		}
		text, ok := readWhole(path)
		one := offer{shown: quoted(filepath.ToSlash(filepath.Join(o.path, below))), what: o.what}
		whole = whole && ok && legibleName(below) && one.tell(nil, text, true) && all.Len() < mostShown
		o.lines = append(o.lines, one.lines...)
		files++
		fmt.Fprintf(&all, "%q %o %d\n%s", below, modeOf(d), len(text), text)
		return nil
	})
	o.sum = hashOf(all.Bytes())
	o.says = fmt.Sprintf("a new folder of %d files, %d bytes, SHA-256 %s", files, all.Len(), o.sum)
	return err == nil && whole && len(o.lines) <= mostLines
}

func modeOf(d fs.DirEntry) fs.FileMode {
	info, err := d.Info()
	if err != nil {
		return 0
	}
	return info.Mode()
}

// readWhole reads a file of our own folder, or of the user's; false: it is too large, or no file.
func readWhole(path string) ([]byte, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostShown {
		return nil, false
	}
	text, err := os.ReadFile(path)
	return text, err == nil
}

// legibleName reports whether people read the name that it is.
func legibleName(path string) bool {
	return utf8.ValidString(path) && len(path) <= longLine && !strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// quoted is a name that cannot be taken for several, or for words about it.
func quoted(name string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/~+@-", r)
	}
	if !strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return name
	}
	return fmt.Sprintf("%+q", name)
}

// wantedKept is the question about what is to be kept.
func wantedKept(batch []offer, more int, line string) Wanted {
	w := Wanted{Verb: "keep", More: more, Command: line}
	for i := range batch {
		o := &batch[i]
		w.Refs = append(w.Refs, o.name())
		w.Files = append(w.Files, o.shown+": "+o.says)
		w.Lines = append(w.Lines, o.lines...)
	}
	return w
}

// toldKept is what the caller of the command reads.
func toldKept(batch []offer) string {
	var names []string
	for i := range batch {
		names = append(names, batch[i].shown)
	}
	return "a person is asked whether to keep " + strings.Join(names, ", ") + ": until then it is in the box alone"
}
