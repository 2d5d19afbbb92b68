package broker

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// What poetry reads of a project is read here first, and written anew with what is known: names, versions and conditions of packages. So
// nothing that it is given while it reaches the registry names a file, a computer, a plugin or a program.

const (
	poetryIs   = `[A-Za-z0-9.*+!^~<>=,| ()-]*`
	poetryWhen = `[A-Za-z0-9_.'"<>=!~() ,*+-]*`
)

var (
	poetryName  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	poetryNeeds = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*( ?\[[A-Za-z0-9,._ -]+\])?` + poetryIs + `( ?;` + poetryWhen + `)?$`)
	poetryRange = regexp.MustCompile(`^` + poetryIs + `$`)
	poetryMark  = regexp.MustCompile(`^` + poetryWhen + `$`)
	poetryFile  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+!-]*$`)
	poetrySum   = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	poetryExact = regexp.MustCompile(`^[0-9][A-Za-z0-9.!+]*$`)
	poetryHash  = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// wholeOf is a table of what was read.
type wholeOf = map[string]any

// poetryProject is the list of a project: written anew, and what it needs for people.
type poetryProject struct {
	text  []byte
	needs []string
}

// rewriting writes a list anew. The first thing that it does not know ends it.
type rewriting struct {
	needs []string
	err   error
}

func (r *rewriting) refuse(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// readPoetry reads the list of a project.
func readPoetry(raw []byte) (*poetryProject, error) {
	var all wholeOf
	if err := toml.Unmarshal(raw, &all); err != nil {
		return nil, errors.New("it cannot be read")
	}
	var r rewriting
	out := wholeOf{}
	if p := r.table(all, "project"); p != nil {
		out["project"] = r.project(p)
	}
	if g := r.table(all, "dependency-groups"); len(g) > 0 {
		groups := wholeOf{}
		for name, list := range g {
			groups[r.name(name)] = r.group(list)
		}
		out["dependency-groups"] = groups
	}
	tool := r.table(r.table(all, "tool"), "poetry")
	if tool == nil && out["project"] == nil {
		r.refuse("it is no project of poetry's")
	}
	out["tool"] = wholeOf{"poetry": r.poetry(tool)}
	text, err := toml.Marshal(out)
	slices.Sort(r.needs)
	return &poetryProject{text, slices.Compact(r.needs)}, errors.Join(r.err, err)
}

// table is a table of a table; nil: there is none.
func (r *rewriting) table(of wholeOf, key string) wholeOf {
	v, ok := of[key]
	if !ok {
		return nil
	}
	t, ok := v.(wholeOf)
	if !ok {
		r.refuse("%s is no table", key)
	}
	return t
}

func (r *rewriting) name(v any) string { return r.word(v, poetryName, "a name") }

// word is a text of a form.
func (r *rewriting) word(v any, form *regexp.Regexp, what string) string {
	s, ok := v.(string)
	if !ok || !form.MatchString(s) {
		r.refuse("%.80q is not %s that is known", fmt.Sprint(v), what)
	}
	return s
}

// words is a list of texts of a form.
func (r *rewriting) words(v any, form *regexp.Regexp, what string) []any {
	list, ok := v.([]any)
	if !ok {
		r.refuse("%.80q is no list", fmt.Sprint(v))
	}
	out := make([]any, 0, len(list))
	for _, e := range list {
		out = append(out, r.word(e, form, what))
	}
	return out
}

// requires is a list of packages by their names.
func (r *rewriting) requires(v any) []any {
	out := r.words(v, poetryNeeds, "a package of the registry by its name")
	for _, e := range out {
		name, _, _ := strings.Cut(e.(string), ";")
		if name = strings.TrimSpace(name); pipArchive.MatchString(name) {
			r.refuse("%.80q is no package by its name", name)
		}
		r.needs = append(r.needs, name)
	}
	return out
}

// project is the table of that name.
func (r *rewriting) project(p wholeOf) wholeOf {
	out := wholeOf{"version": "0"}
	if name, ok := p["name"]; ok {
		out["name"] = r.name(name)
	}
	if v, ok := p["requires-python"]; ok {
		out["requires-python"] = r.word(v, poetryRange, "a range of versions")
	}
	if v, ok := p["dependencies"]; ok {
		out["dependencies"] = r.requires(v)
	}
	if extras := r.table(p, "optional-dependencies"); extras != nil {
		lists := wholeOf{}
		for name, list := range extras {
			lists[r.name(name)] = r.requires(list)
		}
		out["optional-dependencies"] = lists
	}
	if list, ok := p["dynamic"].([]any); ok {
		kept := []any{}
		for _, e := range list {
			if e == "dependencies" || e == "optional-dependencies" || e == "requires-python" {
				kept = append(kept, e)
			}
		}
		out["dynamic"] = kept
	}
	return out
}

// group is one list of dependency-groups.
func (r *rewriting) group(v any) []any {
	list, ok := v.([]any)
	if !ok {
		r.refuse("a group is no list")
	}
	out := []any{}
	for _, e := range list {
		other, ok := e.(wholeOf)
		if !ok {
			out = append(out, r.requires([]any{e})...)
			continue
		}
		if _, ok := other["include-group"]; !ok || len(other) != 1 {
			r.refuse("a group has something that is not known")
		}
		out = append(out, wholeOf{"include-group": r.name(other["include-group"])})
	}
	return out
}

// poetry is the table of poetry's own.
func (r *rewriting) poetry(p wholeOf) wholeOf {
	out := wholeOf{"package-mode": false}
	if len(r.table(p, "requires-plugins")) > 0 {
		r.refuse("it wants plugins of poetry ([tool.poetry.requires-plugins]), which are programs: run this yourself, or take them out")
	}
	if _, ok := p["source"]; ok {
		r.refuse("it names a source of its own ([[tool.poetry.source]]), and only the registry is asked: run this yourself")
	}
	for _, key := range []string{"dependencies", "dev-dependencies"} {
		if t := r.table(p, key); t != nil {
			out[key] = r.constraints(t)
		}
	}
	if t := r.table(p, "extras"); t != nil {
		extras := wholeOf{}
		for name, list := range t {
			extras[r.name(name)] = r.words(list, poetryName, "a name")
		}
		out["extras"] = extras
	}
	if t := r.table(p, "group"); t != nil {
		groups := wholeOf{}
		for name := range t {
			groups[r.name(name)] = r.poetryGroup(r.table(t, name))
		}
		out["group"] = groups
	}
	return out
}

func (r *rewriting) poetryGroup(g wholeOf) wholeOf {
	out := wholeOf{}
	if v, ok := g["optional"].(bool); ok {
		out["optional"] = v
	}
	if v, ok := g["include-groups"]; ok {
		out["include-groups"] = r.words(v, poetryName, "a name")
	}
	if t := r.table(g, "dependencies"); t != nil {
		out["dependencies"] = r.constraints(t)
	}
	return out
}

// constraints are packages of one of poetry's own tables.
func (r *rewriting) constraints(t wholeOf) wholeOf {
	out := wholeOf{}
	for name, v := range t {
		r.name(name)
		out[name] = r.constraint(name, v)
		if name != "python" {
			text := name
			if is, ok := v.(string); ok {
				text += " " + is
			}
			r.needs = append(r.needs, text)
		}
	}
	return out
}

// constraint is what is said of one: a range, or a table of what is known, or several of those.
func (r *rewriting) constraint(name string, v any) any {
	switch v := v.(type) {
	case string:
		return r.word(v, poetryRange, "a range of versions")
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			out = append(out, r.constraint(name, e))
		}
		return out
	case wholeOf:
		out := wholeOf{}
		for key, e := range v {
			out[key] = r.detail(name, key, e)
		}
		return out
	}
	r.refuse("what is said of %.80q is not known", name)
	return nil
}

func (r *rewriting) detail(name, key string, v any) any {
	switch key {
	case "version", "python":
		return r.word(v, poetryRange, "a range of versions")
	case "markers":
		return r.word(v, poetryMark, "a condition")
	case "platform":
		return r.word(v, poetryName, "a platform")
	case "extras":
		return r.words(v, poetryName, "a name")
	case "optional", "allow-prereleases":
		if b, ok := v.(bool); ok {
			return b
		}
	case "path", "git", "url", "file", "source", "develop":
		r.refuse("%s comes from elsewhere than the registry (%s): run this yourself", name, key)
	}
	r.refuse("%s of %s is not known", key, name)
	return nil
}

// lockedWheel is a package that a lock pins, with the sums of its files.
type lockedWheel struct {
	Name    string            `json:"name"`
	Version string            `json:"version"`
	Files   map[string]string `json:"files"`
}

// readPoetryLock reads a lock: every package from the registry, in one version, with its sums. It is written anew.
func readPoetryLock(raw []byte) ([]byte, []lockedWheel, error) {
	var all wholeOf
	if err := toml.Unmarshal(raw, &all); err != nil {
		return nil, nil, errors.New("it cannot be read")
	}
	var r rewriting
	list, _ := all["package"].([]any)
	about := r.table(all, "metadata")
	out := make([]lockedWheel, 0, len(list))
	written := make([]any, 0, len(list))
	for _, e := range list {
		p, ok := e.(wholeOf)
		if !ok {
			return nil, nil, errors.New("a package of it is no table")
		}
		w := r.wheel(p)
		out, written = append(out, w), append(written, r.pinned(p, w))
	}
	if len(out) == 0 {
		r.refuse("it pins no packages")
	}
	kept := wholeOf{
		"lock-version":    r.word(about["lock-version"], regexp.MustCompile(`^2\.[0-9]+$`), "a version of a lock"),
		"python-versions": r.word(about["python-versions"], poetryRange, "a range of versions"),
		"content-hash":    r.word(about["content-hash"], poetryHash, "a sum"),
	}
	text, err := toml.Marshal(wholeOf{"package": written, "metadata": kept})
	slices.SortFunc(out, func(a, b lockedWheel) int { return strings.Compare(a.Name+"=="+a.Version, b.Name+"=="+b.Version) })
	return text, out, errors.Join(r.err, err)
}

// wheel is what is fetched of a package of a lock.
func (r *rewriting) wheel(p wholeOf) lockedWheel {
	w := lockedWheel{Name: r.name(p["name"]), Version: r.word(p["version"], poetryExact, "a version"), Files: map[string]string{}}
	if from := r.table(p, "source"); from != nil {
		r.refuse("%s comes from elsewhere than the registry (%.80s): run this yourself", w.Name, fmt.Sprint(from["url"]))
	}
	files, _ := p["files"].([]any)
	for _, e := range files {
		f, _ := e.(wholeOf)
		w.Files[r.word(f["file"], poetryFile, "a file")] = r.word(f["hash"], poetrySum, "a sum")
	}
	if len(w.Files) == 0 {
		r.refuse("of %s it has no sums", w.Name)
	}
	return w
}

// pinned is a package of a lock, written anew.
func (r *rewriting) pinned(p wholeOf, w lockedWheel) wholeOf {
	out := wholeOf{"name": w.Name, "version": w.Version, "description": "", "optional": p["optional"] == true}
	files := []any{}
	for _, name := range slices.Sorted(maps.Keys(w.Files)) {
		files = append(files, wholeOf{"file": name, "hash": w.Files[name]})
	}
	out["files"] = files
	if v, ok := p["python-versions"]; ok {
		out["python-versions"] = r.word(v, poetryRange, "a range of versions")
	}
	if v, ok := p["groups"]; ok {
		out["groups"] = r.words(v, poetryName, "a name")
	}
	if v, ok := p["markers"].(string); ok {
		out["markers"] = r.word(v, poetryMark, "a condition")
	} else if t := r.table(p, "markers"); t != nil && p["markers"] != nil {
		by := wholeOf{}
		for group, v := range t {
			by[r.name(group)] = r.word(v, poetryMark, "a condition")
		}
		out["markers"] = by
	}
	if t := r.table(p, "dependencies"); t != nil {
		needs := r.needs // who needs what within the lock is nothing that anybody asked for
		out["dependencies"] = r.constraints(t)
		r.needs = needs
	}
	if t := r.table(p, "extras"); t != nil {
		extras := wholeOf{}
		for name, list := range t {
			extras[r.name(name)] = r.words(list, poetryNeeds, "a package of the registry by its name")
		}
		out["extras"] = extras
	}
	return out
}
