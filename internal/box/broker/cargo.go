package broker

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// cargo has cargo fetch what a lock pins, for a package of ours that wants all of it: the workspace's own lists are not read, because they
// name files, tools and other lists. cargo fetch builds and runs nothing.
func (x *installing) cargo(dir string) []string {
	return []string{
		"env", "CARGO_HOME=" + filepath.Join(dir, brought), "CARGO_NET_GIT_FETCH_WITH_CLI=false",
		"CARGO_REGISTRIES_CRATES_IO_PROTOCOL=sparse", "CARGO_NET_RETRY=1",
		"cargo", "fetch", "--quiet", "--manifest-path=" + filepath.Join(dir, "Cargo.toml"),
	}
}

var (
	crateWord   = regexp.MustCompile(`^(name|version|source|checksum) = "([^"\\]+)"$`)
	crateName   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	crateNeeds  = regexp.MustCompile(`^ "[A-Za-z][A-Za-z0-9_-]*( [0-9A-Za-z.+-]+)?( \(` + regexp.QuoteMeta(crates) + `\))?",$`)
	crateNumber = regexp.MustCompile(`^version = [34]$`)
	crateSum    = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

const crates = "registry+https://github.com/rust-lang/crates.io-index"

// crate is a package of a lock of cargo's.
type crate struct {
	name, version, source, sum string
	text                       []string
}

// readCargo reads a lock of cargo's; every line that is not of a known form makes it unreadable.
func readCargo(raw []byte) ([]crate, error) {
	var all []crate
	list := false
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "", strings.HasPrefix(line, "#"), len(all) == 0 && crateNumber.MatchString(line):
			continue
		case line == "[[package]]" && !list:
			all = append(all, crate{})
			continue
		case len(all) == 0:
			return nil, fmt.Errorf("%.80q is not known", line)
		}
		c := &all[len(all)-1]
		c.text = append(c.text, line)
		m := crateWord.FindStringSubmatch(line)
		switch {
		case line == "dependencies = [" && !list, line == "]" && list:
			list = !list
		case list && crateNeeds.MatchString(line):
		case m != nil && !list:
			at := map[string]*string{"name": &c.name, "version": &c.version, "source": &c.source, "checksum": &c.sum}[m[1]]
			if *at != "" {
				return nil, fmt.Errorf("%.80q stands there twice", line)
			}
			*at = m[2]
		default:
			return nil, fmt.Errorf("%.80q is not known", line)
		}
	}
	return all, nil
}

// lockedCargo are the packages of a lock file of cargo's: each from the registry, in one version, with its sum, or the workspace's own.
func lockedCargo(raw []byte) ([]string, error) {
	all, err := readCargo(raw)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range all {
		if !crateName.MatchString(c.name) || !npmVersion.MatchString(c.version) {
			return nil, fmt.Errorf("%.80q is not known", c.name)
		}
		if c.source == "" && c.sum == "" {
			continue // the workspace's own
		}
		if c.source != crates || !crateSum.MatchString(c.sum) {
			return nil, fmt.Errorf("%.80q comes from elsewhere than the registry", c.name)
		}
		out = append(out, c.name+"@"+c.version)
	}
	return pinnedOnes(out, false)
}

// given are the lists that the manager is given: the workspace's, and for cargo ones that want exactly what its lock pins.
func (x *installing) given() map[string][]byte {
	if x.manager != "cargo" {
		return x.lists
	}
	all, err := readCargo(x.lists[x.list])
	if err != nil {
		return nil // it was read before, and then there is nothing to fetch
	}
	lock := []string{"version = 3"}
	list := []string{
		"[package]", `name = "brought-for-a-session"`, `version = "0.0.0"`, `edition = "2021"`, "[lib]", `path = "lib.rs"`, "[workspace]",
		"[dependencies]",
	}
	for i, c := range all {
		if c.source != "" {
			lock = append(lock, slices.Concat([]string{"[[package]]"}, c.text)...)
			list = append(list, fmt.Sprintf("p%d = { package = %q, version = %q, default-features = false }", i, c.name, "="+c.version))
		}
	}
	return map[string][]byte{
		"Cargo.lock": []byte(strings.Join(lock, "\n") + "\n"), "Cargo.toml": []byte(strings.Join(list, "\n") + "\n"), "lib.rs": nil,
	}
}

// inside is what runs in the session's box, with what was fetched.
func (x *installing) inside(shown string) []string {
	const into = `mkdir -p "$to" && cp -R "$0"/. "$to"`
	switch x.manager {
	case "cargo": // later commands look where cargo always does
		script := `to=${CARGO_HOME:-$HOME/.cargo}/registry && ` + into + ` && exec "$@"`
		return slices.Concat([]string{"sh", "-c", script, shown + "/registry"}, x.argv, []string{"--offline"})
	case "pnpm": // what was installed names its store, so it is the session's own where there is one
		script := `to=$(pnpm store path) && to=${to%/*} && { ` + into + `; } 2>/dev/null ||
			export npm_config_store_dir="$0" pnpm_config_store_dir="$0"; exec "$@"`
		return slices.Concat([]string{"sh", "-c", script, shown}, x.argv)
	case "bundle":
		return slices.Concat(x.argv, []string{"--local"})
	case "yarn":
		return slices.Concat(x.argv, []string{"--offline"})
	}
	return x.argv
}
