package broker

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// uvNames is the file in the broker's folder that has the names of packages.
const uvNames = "names.in"

// uv has uv fetch into its own form of a cache, from which the session's uv takes it: with no settings but these, no code of a package
// (nothing is built) and none of the project (it is not installed).
func (x *installing) uv(dir string) []string {
	common := []string{
		"--no-config", "--no-build", "--no-python-downloads", "--quiet", "--cache-dir", filepath.Join(dir, brought),
		"--default-index", "https://" + registries("uv")[0].host + "/simple",
	}
	line := func(words ...string) string {
		out := []string{"uv"}
		for _, w := range slices.Concat(words, common) {
			out = append(out, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		}
		return strings.Join(out, " ")
	}
	if x.list != "" {
		return []string{"env", "UV_PROJECT_ENVIRONMENT=" + filepath.Join(dir, "venv"), "sh", "-c", "cd '" + dir + "' && " +
			line("sync", "--frozen", "--no-install-project", "--no-install-workspace", "--all-groups", "--all-extras")}
	}
	names := filepath.Join(dir, uvNames)
	return []string{"sh", "-c", line("pip", "compile", "--universal", "--output-file", filepath.Join(dir, "all.txt"), names) + " && " +
		line("pip", "install", "--target", filepath.Join(dir, "target"), "-r", names)}
}

var (
	uvHead   = regexp.MustCompile(`^(name|version) = "([A-Za-z0-9._+!-]+)"$`)
	uvSource = regexp.MustCompile(`^source = \{ (registry = "https://pypi\.org/simple"|virtual = "\."|editable = "\.") \}$`)
	uvURL    = regexp.MustCompile(`\b(url|path|git) = "([^"]*)"`)
)

// lockedUV are the packages of a lock file of uv's: each from the registry, in one version, or the workspace's own.
func lockedUV(raw []byte) ([]string, error) {
	var out []string
	for i, part := range strings.Split(string(raw), "[[package]]\n") {
		if i == 0 {
			continue
		}
		name, version, source := "", "", ""
		for line := range strings.Lines(part) {
			line = strings.TrimRight(line, "\r\n")
			if strings.HasPrefix(line, "[") {
				break // a table of it
			}
			if m := uvHead.FindStringSubmatch(line); m != nil {
				if m[1] == "name" {
					name = m[2]
				} else {
					version = m[2]
				}
			}
			if strings.HasPrefix(line, "source") {
				if source != "" || !uvSource.MatchString(line) {
					return nil, fmt.Errorf("%.80q comes from elsewhere than the registry", name)
				}
				source = line
			}
		}
		if name == "" || source == "" {
			return nil, errors.New("it cannot be read")
		}
		if strings.Contains(source, "registry") {
			out = append(out, name+"=="+version)
		}
	}
	files := "https://" + registries("uv")[1].host + "/"
	for _, m := range uvURL.FindAllStringSubmatch(string(raw), -1) {
		if m[1] != "url" || !strings.HasPrefix(m[2], files) {
			return nil, fmt.Errorf("%.80q is elsewhere than the registry", m[2])
		}
	}
	if strings.Contains(string(raw), `\`) || len(out) == 0 {
		return nil, errors.New("it pins no packages that can be read")
	}
	slices.Sort(out)
	return out, nil
}
