package mandate

import "strings"

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
