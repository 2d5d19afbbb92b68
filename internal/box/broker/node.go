package broker

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// noOther keeps a starter of managers (corepack) from fetching another manager, which it would run.
const noOther = "COREPACK_ENABLE_NETWORK=0"

// pnpm has pnpm fetch what a lock pins into a store of its own: by the lock alone, with no settings but these and without scripts.
func (x *installing) pnpm(dir string) []string {
	return []string{
		"env", noOther, "COREPACK_ENABLE_PROJECT_SPEC=0",
		"npm_config_userconfig=" + filepath.Join(dir, "user"), "npm_config_globalconfig=" + filepath.Join(dir, "machine"), // there are none
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "settings"), "XDG_CACHE_HOME=" + filepath.Join(dir, "cache"),
		"XDG_STATE_HOME=" + filepath.Join(dir, "state"), "npm_config_script_shell=/bin/false", "npm_config_ignore_scripts=true",
		"npm_config_registry=https://" + registries("pnpm")[0].host + "/",
		"npm_config_update_notifier=false", "npm_config_ignore_pnpmfile=true", "npm_config_manage_package_manager_versions=false",
		"pnpm", "--dir=" + dir, "fetch", "--ignore-scripts", "--store-dir=" + filepath.Join(dir, brought), "--reporter=silent",
	}
}

// yarn has yarn 1 fetch what a lock pins into a cache of its own. It is given the project's own list too, of which it takes what the
// lock has, and nothing else.
func (x *installing) yarn(dir string) []string {
	return []string{
		"env", noOther, "COREPACK_ENABLE_PROJECT_SPEC=0", "YARN_IGNORE_PATH=1", "npm_config_userconfig=" + filepath.Join(dir, "user"),
		"yarn", "install", "--no-default-rc", "--frozen-lockfile", "--ignore-scripts", "--ignore-engines", "--ignore-platform",
		"--non-interactive", "--silent", "--no-progress", "--cwd=" + dir, "--cache-folder=" + filepath.Join(dir, brought),
	}
}

// alone reports whether a list is all that the manager would read of the workspace.
func (x *installing) alone() error {
	if x.manager != "yarn" {
		return nil
	}
	var about struct {
		Workspaces any `json:"workspaces"`
	}
	if err := strictjson.Unmarshal(x.lists["package.json"], &about); err != nil {
		return errors.New("package.json cannot be read")
	}
	if about.Workspaces != nil {
		return errors.New("the workspace has packages of its own, which say what of it is needed")
	}
	return nil
}

const (
	sum512   = `sha512-[A-Za-z0-9+/]+=*`
	nodeName = `(?:@[a-z0-9][a-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*`
	nodeIs   = `[0-9]+\.[0-9]+\.[0-9]+(?:[.+-][0-9A-Za-z.+-]+)?`
)

var (
	pnpmKey   = regexp.MustCompile(`^  '?(` + nodeName + `)@(` + nodeIs + `)'?:$`)
	pnpmFrom  = regexp.MustCompile(`^    resolution: \{integrity: ` + sum512 + `\}$`)
	pnpmAbout = regexp.MustCompile(`^    (engines|hasBin|deprecated|cpu|os|libc|peerDependencies|peerDependenciesMeta|` +
		`bundledDependencies):( [^&*!].*)?$`)
	pnpmTop = regexp.MustCompile(`^(lockfileVersion: '[69]\.0'|settings:|importers:|packages:|snapshots:|overrides:|catalogs:|time:|` +
		`packageExtensionsChecksum: [A-Za-z0-9+/=-]+)$`)
)

// lockedPNPM are the packages of a lock file of pnpm's: each from the registry, in one version, with its sum. A line that is not of a
// form that is known there makes it unreadable.
func lockedPNPM(raw []byte) ([]string, error) {
	var out []string
	part, open := "", false // open: a package, of which it is not known yet where it comes from
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case line[0] != ' ':
			if open || !pnpmTop.MatchString(line) {
				return nil, fmt.Errorf("%.80q is not known", line)
			}
			part, _, _ = strings.Cut(line, ":")
			continue
		case part != "packages" && part != "":
			continue // who needs what; nothing is fetched that is not among the packages
		}
		m := pnpmKey.FindStringSubmatch(line)
		switch {
		case m != nil && !open:
			out, open = append(out, m[1]+"@"+m[2]), true
		case open && pnpmFrom.MatchString(line):
			open = false
		case open || len(out) == 0 || strings.Contains(line, "resolution"):
			return nil, fmt.Errorf("%.80q comes from elsewhere than the registry", line)
		case !strings.HasPrefix(line, "      ") && !pnpmAbout.MatchString(line):
			return nil, fmt.Errorf("%.80q is not known", line)
		}
	}
	return pinnedOnes(out, open)
}

// pinnedOnes are the packages of a list that was read to its end.
func pinnedOnes(all []string, open bool) ([]string, error) {
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 0 || open {
		return nil, errors.New("it pins no packages that can be read")
	}
	return all, nil
}

var (
	yarnHead = regexp.MustCompile(`^("[^"\\]+"|[^"\\\s,:]+)(, ("[^"\\]+"|[^"\\\s,:]+))*:$`)
	yarnFrom = regexp.MustCompile(`^  resolved "https://([a-z.]+)/(` + nodeName + `)/-/[A-Za-z0-9._-]+\.tgz(#[0-9a-f]{40})?"$`)
	yarnIs   = regexp.MustCompile(`^  version "(` + nodeIs + `)"$`)
	yarnMore = regexp.MustCompile(`^(  integrity ` + sum512 + `|  dependencies:|  optionalDependencies:|` +
		`    ("[^"\\]+"|[^"\\\s]+) ("[^"\\]*"|[^"\\\s]+))$`)
)

// lockedYarn are the packages of a lock file of yarn's first version.
func lockedYarn(raw []byte) ([]string, error) {
	if !strings.Contains(string(raw[:min(len(raw), 200)]), "# yarn lockfile v1") {
		return nil, errors.New("it is of a yarn that runs code of the workspace")
	}
	var out []string
	version, open, sure := "", false, true // of the package that is read: where it comes from is not known yet; its sum is
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		from, is := yarnFrom.FindStringSubmatch(line), yarnIs.FindStringSubmatch(line)
		switch {
		case !open && sure && yarnHead.MatchString(line):
			version, open, sure = "", true, false
		case open && version == "" && is != nil:
			version = is[1]
		case open && version != "" && from != nil && slices.Contains(registries("yarn"), place{from[1], 443}):
			out, open, sure = append(out, from[2]+"@"+version), false, from[3] != ""
		case !open && yarnMore.MatchString(line):
			sure = sure || strings.HasPrefix(line, "  integrity ")
		default:
			return nil, fmt.Errorf("%.80q is not known, or comes from elsewhere than the registry", line)
		}
	}
	return pinnedOnes(out, open || !sure)
}
