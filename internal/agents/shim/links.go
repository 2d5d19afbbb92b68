package shim

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// A link that lies in a repository makes one file of another: what is written to docs/keys.md may land in ~/.ssh. The server sees
// names only, so the hook follows links where they lie and sends both: what was written, and what it is. Both are judged.

// realPaths is the parameter in which what links lead to is sent.
const realPaths = "realPaths"

// member is a name for it that the model has not filled in itself: what stands there says nothing about links.
func member(params map[string]strictjson.Value) string {
	name := realPaths
	for params[name] != nil {
		name += "_"
	}
	return name
}

// The bounds on what is followed.
const (
	maxPath  = 4096
	maxWords = 512 // of a command or a patch
	maxLinks = 40  // one after the other, as the kernel has it
	maxReal  = 64  // that are sent
)

// follow adds what the paths of a call of the agent's own tools lead to, where that is another file.
func (a adapter) follow(e *catalogue.Event) error {
	if e.Kind != catalogue.Call && e.Kind != catalogue.Result || !slices.Contains(catalogue.HostTools(a.Name), e.Tool) {
		return nil
	}
	var params map[string]strictjson.Value
	if e.Params.Kind() != '{' || strictjson.Unmarshal(e.Params, &params) != nil {
		return nil //nolint:nilerr // the server says what is wrong with it
	}
	found := linked(e.Cwd, params, e.Tool == "exec")
	if len(found) == 0 {
		return nil
	}
	raw, err := strictjson.Marshal(found)
	if err != nil {
		return err
	}
	params[member(params)] = raw
	e.Params, err = strictjson.Marshal(params)
	return err
}

// linked are the files that names in parameters lead to, in order, each once.
func linked(cwd string, params map[string]strictjson.Value, command bool) []string {
	home, _ := os.UserHomeDir() // without one nothing begins with it
	var out []string
	add := func(name string, word bool) {
		if real := realOf(cwd, home, name, word); real != "" && !slices.Contains(out, real) && len(out) < maxReal {
			out = append(out, real)
		}
	}
	for _, value := range params {
		for _, text := range texts(value) {
			if !command && len(text) <= maxPath && !strings.ContainsAny(text, "\n\x00") {
				add(text, false)
			}
			for _, word := range words(text) {
				add(word, true)
			}
		}
	}
	slices.Sort(out) // members of an object come in no order
	return out
}

// texts are the strings of a value: one, or those of a list.
func texts(v strictjson.Value) []string {
	var one string
	var list []string
	if v.Kind() == '"' && strictjson.Unmarshal(v, &one) == nil {
		return []string{one}
	}
	if v.Kind() == '[' && strictjson.Unmarshal(v, &list) == nil {
		return list
	}
	return nil
}

// words are what may be names of files in a command or a patch: quotes, assignments and redirections end one.
func words(text string) []string {
	all := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`=;|&<>(){}[],:", r) })
	return slices.DeleteFunc(all[:min(len(all), maxWords)], func(w string) bool { return len(w) > maxPath || strings.HasPrefix(w, "-") })
}

// realOf is the file that a name leads to, if that is another one: from the working folder where it lies there, else whole. A word of
// a command or a patch counts only if the link is in the working folder or the home, since those of the system are what they are,
// and leads out of the folder below it that it lies in: installed programs are links there to what lies beside them.
func realOf(cwd, home, name string, word bool) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && home != "" {
		name = filepath.Join(home, rest)
	}
	if name == "" || cwd == "" && !filepath.IsAbs(name) {
		return ""
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(cwd, name)
	}
	base, _ := resolve(cwd)
	real, link := resolve(filepath.Clean(name))
	if link == "" || real == "" {
		return ""
	}
	if rel, ok := below(cwd, filepath.Clean(name)); ok && real == filepath.Join(base, rel) {
		return "" // the folder itself was reached by a link
	}
	_, own := below(cwd, link)
	if _, atHome := below(home, link); word && !own && !atHome {
		return ""
	}
	rel, inside := below(base, real)
	if from, ok := below(cwd, link); word && inside && ok && top(from) == top(rel) && top(rel) != "" {
		return ""
	}
	if inside {
		return rel
	}
	return real
}

// top is the folder that a path begins with; "" for a name alone.
func top(path string) string {
	first, _, ok := strings.Cut(filepath.ToSlash(path), "/")
	if !ok {
		return ""
	}
	return first
}

// below is a path as seen from a folder that it lies in.
func below(folder, path string) (string, bool) {
	if folder == "" {
		return "", false
	}
	rel, err := filepath.Rel(folder, path)
	return rel, err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolve follows every link on the way to a file, which need not be there: what it would be made as. link is the last link that
// was followed; "" where there is none. A path that goes in circles leads nowhere.
func resolve(path string) (real, link string) {
	sep := string(filepath.Separator)
	volume := filepath.VolumeName(path)
	rest := strings.Split(strings.TrimPrefix(path[len(volume):], sep), sep)
	real = volume + sep
	for seen := 0; len(rest) > 0; {
		next := filepath.Join(real, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(next)
		if err != nil || info.Mode().Type() != os.ModeSymlink {
			real = next
			continue
		}
		to, err := os.Readlink(next)
		if seen++; err != nil || seen > maxLinks {
			return "", link
		}
		link = next
		if filepath.IsAbs(to) {
			real = filepath.VolumeName(to) + sep
			to = strings.TrimPrefix(to[len(filepath.VolumeName(to)):], sep)
		}
		rest = append(strings.Split(filepath.ToSlash(to), "/"), rest...)
	}
	return filepath.Clean(real), link
}
