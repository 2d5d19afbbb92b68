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

var (
	gemSpec = regexp.MustCompile(`^    ([A-Za-z0-9][A-Za-z0-9._-]*) \(([0-9][0-9A-Za-z.]*(?:-[A-Za-z0-9][A-Za-z0-9._-]*)?)\)$`)
	gemNeed = regexp.MustCompile(`^      [A-Za-z0-9][A-Za-z0-9._-]*( \([^()]*\))?!?$`)
	gemSum  = regexp.MustCompile(`^  [A-Za-z0-9][A-Za-z0-9._-]* \([^()]*\)( sha256=[0-9a-f]{64})?$`)
	gemPart = regexp.MustCompile(`^(GEM|PATH|PLATFORMS|DEPENDENCIES|CHECKSUMS|RUBY VERSION|BUNDLED WITH)$`)
	gemOwn  = regexp.MustCompile(`^  remote: \.(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)
)

// lockedBundle are the gems of a lock file of bundler's: each from the registry, in one version. A line that is not of a form that is known
// there makes it unreadable.
func lockedBundle(raw []byte) ([]string, error) {
	var out []string
	from := "  remote: https://" + registries("bundle")[0].host + "/"
	part, sure := "", false // sure: the part has said where its gems come from
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\r\n")
		m := gemSpec.FindStringSubmatch(line)
		switch {
		case line == "":
		case gemPart.MatchString(line):
			part, sure = line, false
		case (part == "GEM" && line == from || part == "PATH" && gemOwn.MatchString(line)) && !sure:
			sure = true
		case (part == "GEM" || part == "PATH") && sure && (line == "  specs:" || gemNeed.MatchString(line)):
		case m != nil && part == "GEM" && sure:
			out = append(out, m[1]+"@"+m[2])
		case m != nil && part == "PATH" && sure: // the workspace's own
		case part == "CHECKSUMS" && gemSum.MatchString(line):
		case strings.HasPrefix(line, "  ") && part != "" && part != "GEM" && part != "PATH" && part != "CHECKSUMS": // what is wanted, and for what
		default:
			return nil, fmt.Errorf("%.80q is not known, or comes from elsewhere than the registry", line)
		}
	}
	return pinnedOnes(out, false)
}
