package mandate

import (
	"slices"
	"strings"
)

// below reports whether a path is a folder that was said, or a file right in it, however its beginning is written.
// Nothing that goes up, and no hidden file.
func below(value, said string) bool {
	if strings.Contains(value, "://") || strings.Contains(value, "..") || strings.ContainsAny(value, "\x00\n*?") {
		return false
	}
	v, s := relative(value), relative(said)
	if s == "" || !strings.Contains(value, "/") || !strings.ContainsAny(said, "/.") {
		return false
	}
	rest, ok := strings.CutPrefix(v, s)
	if !ok {
		return false
	}
	rest = strings.TrimPrefix(rest, "/")
	return rest == "" || v[len(s)] == '/' && !strings.Contains(rest, "/") && !strings.HasPrefix(rest, ".")
}

// inFolder reports whether a value is one of some folders that were said, or a file right in one. Without a model evidence knows of
// which files others wrote.
func (p *pass) inFolder(v *Value, said []string) bool {
	below := slices.ContainsFunc(said, func(folder string) bool { return below(v.Text, folder) })
	return below && (p.item.Worded || !p.urged(v.Text))
}

// urged reports whether somebody wrote of a file, as a whole or by its name, and no listing has it: where the owner named the folder
// and no more, which file of it is meant is not for a text to say.
func (p *pass) urged(file string) bool {
	base := strings.TrimSuffix(file, "/")
	base = base[strings.LastIndexByte(base, '/')+1:]
	return (p.world.Told(file) || p.world.Told(base)) && !p.records.seen(file) && !p.records.listsFile(base)
}

// listsFile reports whether a file of some name is in a listing, alone or at the end of a path.
func (r *Records) listsFile(base string) bool {
	found, end := r.seen(base), "/"+plain(base)
	r.candidates(wordsOf(base), func(at int) {
		r.work.took += len(r.all[at].fields)
		for i := range r.all[at].fields {
			found = found || strings.HasSuffix(r.all[at].fields[i].text, end)
		}
	})
	return found
}

// relative is a path without the home that it begins with, in small letters.
func relative(path string) string {
	path = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(path), "/"))
	for _, home := range []string{"/home/", "/users/"} {
		if rest, ok := strings.CutPrefix(path, home); ok {
			_, path, _ = strings.Cut(rest, "/")
		}
	}
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(path, "~"), "./"), "/")
}
