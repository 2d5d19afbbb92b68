package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/strictjson"
)

// verify compares the settings with the record. The record is nil where there is none, or
// none that can be read, which is a problem like any other.
func verify(w World, a *agent) (*manifest, []string) {
	m, err := readManifest(w, a.name)
	if err != nil {
		return nil, append([]string{err.Error() + "; install again"}, a.turnedOff(w, nil)...)
	}
	var problems []string
	if m == nil {
		if a.hooked(w) {
			problems = append(problems, "Tidemark's hooks are in the settings, but there is no record of the installation; install again")
		}
		return nil, append(problems, a.turnedOff(w, nil)...)
	}
	for _, e := range m.Files {
		problems = append(problems, w.compare(e)...)
	}
	problems = append(problems, a.trusted(w, m)...)
	problems = append(problems, m.program()...)
	return m, append(problems, a.turnedOff(w, m)...)
}

// program compares the hook program with the one that was installed.
func (m *manifest) program() []string {
	info, err := os.Stat(m.Hook)
	if err != nil {
		return []string{fmt.Sprintf("the hook program %s is not there", m.Hook)}
	}
	if info.Mode().Perm()&0o111 == 0 {
		return []string{fmt.Sprintf("the hook program %s cannot be started any more", m.Hook)}
	}
	if hash, err := hashFile(m.Hook); err != nil || hash != m.HookHash {
		return []string{fmt.Sprintf("the hook program %s was replaced since it was installed; if that was an update, install again", m.Hook)}
	}
	return nil
}

// compare says what happened to one file.
func (w World) compare(e entry) []string {
	src, err := os.ReadFile(e.Path)
	if errors.Is(err, os.ErrNotExist) {
		return []string{fmt.Sprintf("%s is gone", e.Path)}
	}
	if err != nil {
		return []string{err.Error()}
	}
	if hashOf(src) == e.Hash {
		return nil
	}
	switch {
	case e.Own:
		return []string{fmt.Sprintf("%s was changed", e.Path)}
	case e.Block != "":
		if block, ok := blockOf(src); !ok {
			return []string{fmt.Sprintf("%s: Tidemark's part was removed", e.Path)}
		} else if block != e.Block {
			return []string{fmt.Sprintf("%s: Tidemark's part was changed", e.Path)}
		}
		return nil
	}
	t, err := openText(e.Path, src, e.Comments)
	if err != nil {
		return []string{fmt.Sprintf("%v; the agent may ignore the whole file", err)}
	}
	var out []string
	for _, p := range e.Parts {
		if why := t.missing(w, p); why != "" {
			out = append(out, fmt.Sprintf("%s: %s", e.Path, why))
		}
	}
	return out
}

// missing says why a part is not there as it was written.
func (t *text) missing(w World, p part) string {
	n := t.find(p.Path...)
	name := strings.Join(p.Path, ".")
	if !p.List {
		if n == nil || !sameJSON(t.raw(n), p.Value) {
			return fmt.Sprintf("%s is no longer %s", name, p.Value)
		}
		return ""
	}
	why := fmt.Sprintf("the hook for %s was removed", p.Path[len(p.Path)-1])
	if n == nil || n.kind != '[' {
		return why
	}
	for _, v := range n.values {
		raw := t.raw(v)
		if sameJSON(raw, p.Value) {
			return ""
		}
		if isOurs(raw, w) || strings.Contains(string(raw), hookName) {
			why = fmt.Sprintf("the hook for %s was changed%s", p.Path[len(p.Path)-1], difference(p.Value, raw))
		}
	}
	return why
}

// difference names the change that matters most.
func difference(was, is strictjson.Value) string {
	before, after := flatten(was), flatten(is)
	if before == nil || after == nil {
		return ""
	}
	b, a := before.Timeout+before.Limit, after.Timeout+after.Limit
	switch {
	case a != b && a < b && a != 0:
		return fmt.Sprintf(" (timeout lowered from %d to %d: when it passes, the tool runs)", b, a)
	case before.OnFailure != after.OnFailure || before.OnFail != after.OnFail || before.Closed != after.Closed:
		return " (it no longer blocks when it fails)"
	case before.Command != after.Command || before.Exec != after.Exec || !slices.Equal(before.Args, after.Args):
		return " (another command)"
	}
	return ""
}

// flatten is the one handler of an element.
func flatten(raw strictjson.Value) *handler {
	var g group
	if strictjson.Unmarshal(raw, &g) == nil && len(g.Hooks) > 0 {
		return &g.Hooks[0]
	}
	h := new(handler)
	if strictjson.Unmarshal(raw, h) != nil {
		return nil
	}
	return h
}

// trusted looks whether what Codex has been told to trust is what stands there now: a hook
// that moved within its list is skipped without a word.
func (a *agent) trusted(w World, m *manifest) []string {
	files, err := a.files(w, m.options())
	if err != nil {
		return nil
	}
	contents := map[string][]byte{}
	for _, f := range files {
		src, err := os.ReadFile(f.path)
		if err != nil {
			continue // said by compare
		}
		contents[f.path] = src
		if f.block == nil {
			continue
		}
		want, err := f.block(contents)
		if err != nil {
			continue // said by compare
		}
		if got, ok := blockOf(src); ok && got != want {
			return []string{fmt.Sprintf("%s: the hooks are not at the place that is trusted, so %s skips them; install again", f.path, a.title)}
		}
	}
	return nil
}

// turnedOff looks for settings that turn hooks off, in every file where they can stand.
func (a *agent) turnedOff(w World, m *manifest) []string {
	var files []string
	if m != nil {
		for _, e := range m.Files {
			if !e.Own && e.Block == "" {
				files = append(files, e.Path)
			}
		}
	} else if path, err := a.path(w); err == nil {
		files = append(files, path)
	}
	for _, rel := range a.also {
		folders := []string{w.Home, w.Project}
		if w.Getenv != nil {
			folders = append(folders, w.Getenv("PWD"))
		}
		for _, folder := range folders {
			if folder != "" {
				files = append(files, filepath.Join(folder, filepath.FromSlash(rel)))
			}
		}
	}
	slices.Sort(files)
	var out []string
	for _, f := range slices.Compact(files) {
		out = append(out, a.switches(f)...)
	}
	return out
}

func (a *agent) switches(path string) []string {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil // not there, or not readable to the agent either
	}
	t, err := openText(path, src, true)
	if err != nil {
		return nil // said where it matters
	}
	var out []string
	for _, s := range a.off {
		if n := t.find(s.path...); n != nil && s.matches(t.raw(n)) {
			out = append(out, fmt.Sprintf("%s: %s is %s, which turns the hooks off", path, strings.Join(s.path, "."), t.raw(n)))
		}
	}
	return out
}

// matches compares a value; a list matches a list that holds its element.
func (s toggle) matches(raw strictjson.Value) bool {
	want := strictjson.Value(s.value)
	if want.Kind() != '[' {
		return sameJSON(raw, want)
	}
	var have, any []string
	if strictjson.Unmarshal(raw, &have) != nil || strictjson.Unmarshal(want, &any) != nil {
		return false
	}
	return slices.ContainsFunc(any, func(x string) bool { return slices.Contains(have, x) })
}
