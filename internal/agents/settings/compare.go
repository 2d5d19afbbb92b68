package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// HookName is the name of the hook program.
const HookName = "tidemark-hook"

// HookFile is the hook program in a folder.
func HookFile(folder string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(folder, HookName+".exe")
	}
	return filepath.Join(folder, HookName)
}

// Reader is how files are got at. The zero Reader reads JSON from disk.
type Reader struct {
	File  func(path string) ([]byte, error)             // nil: ReadFile
	Parse func(src []byte, comments bool) (*Doc, error) // nil: Parse; hosts have dialects
}

func (r Reader) file(path string) ([]byte, error) {
	if r.File != nil {
		return r.File(path)
	}
	return ReadFile(path)
}

func (r Reader) parse(src []byte, comments bool) (*Doc, error) {
	if r.Parse != nil {
		return r.Parse(src, comments)
	}
	return Parse(src, comments)
}

// Open reads and parses a JSON file, with comments.
func (r Reader) Open(path string) (*Doc, error) {
	src, err := r.file(path)
	if err != nil {
		return nil, err
	}
	return r.parse(src, true)
}

// Compare says what is no longer as the record has it, file by file; nothing is good news.
func (r Reader) Compare(rec *Record) []string {
	var out []string
	for _, e := range rec.Files {
		src, err := r.file(e.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, e.Path+" is gone")
		case err != nil:
			out = append(out, fmt.Sprintf("the settings cannot be read: %v", err))
		default:
			out = append(out, e.mode()...)
			out = append(out, r.compare(e, src)...)
		}
	}
	return out
}

// mode looks whether a file that is started can be.
func (e Entry) mode() []string {
	info, err := os.Stat(e.Path)
	if err != nil || info.Mode().Perm()&e.Mode == e.Mode {
		return nil // one that is not there is said elsewhere
	}
	return []string{fmt.Sprintf("%s: its mode is %o and must have %o: the agent cannot start it", e.Path, info.Mode().Perm(), e.Mode)}
}

func (r Reader) compare(e Entry, src []byte) []string {
	if Hash(src) == e.Hash {
		return nil
	}
	switch {
	case e.Own:
		return []string{e.Path + " was changed"}
	case e.Block != "":
		if _, _, _, ok := Around(src); !ok {
			return []string{e.Path + ": Tidemark's part was removed"}
		} else if !HasBlock(src, e.Block) {
			return []string{e.Path + ": Tidemark's part was changed"}
		}
		return nil
	}
	d, err := r.parse(src, e.Comments)
	if err != nil {
		return []string{fmt.Sprintf("%s cannot be read for certain: %v; the agent may ignore the whole file", e.Path, err)}
	}
	var out []string
	for _, p := range e.Parts {
		if why := d.missing(p); why != "" {
			out = append(out, e.Path+": "+why)
		}
	}
	return out
}

// missing says why a part is not there as it was written.
func (d *Doc) missing(p Part) string {
	n := d.Find(p.Path...)
	if !p.List {
		if n == nil || !Same(d.Raw(n), p.Value) {
			return fmt.Sprintf("%s is no longer %s", strings.Join(p.Path, "."), p.Value)
		}
		return ""
	}
	what := p.name()
	why := fmt.Sprintf("the hook for %s was removed", what)
	if n == nil || n.Kind != '[' {
		return why
	}
	for _, v := range n.Values {
		raw := d.Raw(v)
		if Same(raw, p.Value) {
			return ""
		}
		if what == (Part{Path: p.Path, Value: raw}).name() && LooksLikeOurs(raw) {
			why = fmt.Sprintf("the hook for %s was changed%s", what, difference(p.Value, raw))
		}
	}
	return why
}

// name is the event that a part is for.
func (p Part) name() string {
	var r struct {
		Trigger string `json:"trigger"`
	}
	if p.Value.Kind() == '{' && strictjson.Unmarshal(p.Value, &r) == nil && r.Trigger != "" {
		return r.Trigger
	}
	return p.Path[len(p.Path)-1]
}

// difference names the change that matters most.
func difference(was, is strictjson.Value) string {
	before, after := Handlers(was), Handlers(is)
	if len(before) != 1 || len(after) != 1 {
		return ""
	}
	x, y := before[0], after[0]
	b, a := x.Timeout+x.Limit, y.Timeout+y.Limit
	switch {
	case a != b && a < b && a != 0:
		return fmt.Sprintf(" (timeout lowered from %d to %d: when it passes, the tool runs)", b, a)
	case x.OnFailure != y.OnFailure || x.OnFail != y.OnFail || x.Closed != y.Closed:
		return " (it no longer blocks when it fails)"
	case x.Command != y.Command || x.Exec != y.Exec || !slices.Equal(x.Args, y.Args):
		return " (another command)"
	}
	return ""
}

// Same reports whether two values are equal, whatever their white space and the order of
// their members.
func Same(a, b strictjson.Value) bool {
	x, y := strictjson.Value(bytes.Clone(a)), strictjson.Value(bytes.Clone(b))
	return x.Canonicalize() == nil && y.Canonicalize() == nil && bytes.Equal(x, y)
}
