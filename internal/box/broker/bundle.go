package broker

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// bundle has curl fetch the gems that a lock pins, each by its address: the workspace's own list (Gemfile) is a program, and what installs
// gems builds them.
func (x *installing) bundle(dir string) []string {
	args := []string{
		"curl", "-q", "--fail", "--silent", "--show-error", "--proto", "=https", "--max-redirs", "0", "--globoff",
		"--remote-name-all", "--output-dir", filepath.Join(dir, brought),
	}
	if ca := x.b.opts.CAFile; ca != "" {
		args = append(args, "--cacert", ca)
	}
	for _, name := range x.names {
		gem, version, _ := strings.Cut(name, "@")
		args = append(args, "https://"+registries("bundle")[0].host+"/gems/"+gem+"-"+version+".gem")
	}
	return args
}

// gemLines are the lines that a part of a lock may have, and gemFrom the one that must stand before them where gems come from somewhere:
// from the registry, or from the workspace itself.
var (
	gemSpec  = regexp.MustCompile(`^    ([A-Za-z0-9][A-Za-z0-9._-]*) \(([0-9][0-9A-Za-z.]*(?:-[A-Za-z0-9][A-Za-z0-9._-]*)?)\)$`)
	gemList  = regexp.MustCompile(`^  specs:$|^      [A-Za-z0-9][A-Za-z0-9._-]*( \([^()]*\))?!?$|` + gemSpec.String())
	gemSum   = regexp.MustCompile(`^  [A-Za-z0-9][A-Za-z0-9._-]* \([^()]*\)( sha256=[0-9a-f]{64})?$`)
	gemWord  = regexp.MustCompile(`^  `)
	gemLines = map[string]*regexp.Regexp{
		"GEM": gemList, "PATH": gemList, "CHECKSUMS": gemSum,
		"PLATFORMS": gemWord, "DEPENDENCIES": gemWord, "RUBY VERSION": gemWord, "BUNDLED WITH": gemWord,
	}
	gemFrom = map[string]*regexp.Regexp{
		"GEM":  regexp.MustCompile(`^  remote: https://` + regexp.QuoteMeta(registries("bundle")[0].host) + `/$`),
		"PATH": regexp.MustCompile(`^  remote: \.(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`),
	}
)

// lockedBundle are the gems of a lock file of bundler's: each from the registry, in one version. A line that is not of a form that is known
// there makes it unreadable.
func lockedBundle(raw []byte) ([]string, error) {
	var out []string
	part, sure := "", false // sure: the part has said where its gems come from
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		if gemLines[line] != nil {
			part, sure = line, gemFrom[line] == nil
			continue
		}
		if !sure && part != "" && gemFrom[part].MatchString(line) {
			sure = true
			continue
		}
		if !sure || !gemLines[part].MatchString(line) {
			return nil, fmt.Errorf("%.80q is not known, or comes from elsewhere than the registry", line)
		}
		if m := gemSpec.FindStringSubmatch(line); m != nil && part == "GEM" {
			out = append(out, m[1]+"@"+m[2])
		}
	}
	return pinnedOnes(out, false)
}
