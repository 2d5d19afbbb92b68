package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// Following is that a branch is to follow another one. In a box nobody can write it down: the settings of git are guarded there, because
// what a branch follows may be a program. Outside it is written down where it is the name of a remote that was there before, or of a
// branch here, and nothing else.
type Following struct {
	branch string // empty: the one that is checked out
	up     string // as it was given: origin/fix, or a branch here
	Alone  bool   // the line does nothing else
}

// Follows reads a line that has a branch follow another one.
func Follows(line string) (Following, bool) {
	words, ok := outgoing.Split(line)
	if !ok || len(words) < 3 || words[0] != "git" {
		return Following{}, false
	}
	takes, says := followOptions(words[1])
	var operands []string
	given := map[string]string{}
	for rest := words[2:]; len(rest) > 0; rest = rest[1:] {
		name, value, with := strings.Cut(rest[0], "=")
		switch {
		case !strings.HasPrefix(name, "-"):
			operands = append(operands, rest[0])
			continue
		case takes[name] == "" || with && !strings.HasPrefix(name, "--"):
			return Following{}, false
		case takes[name] == "flag" && with && value != "direct", takes[name] != "flag" && !with && len(rest) < 2:
			return Following{}, false
		case takes[name] != "flag" && !with:
			value, rest = rest[1], rest[1:]
		}
		if _, twice := given[name]; twice {
			return Following{}, false
		}
		given[name] = value
	}
	return says(given, operands)
}

// followOptions are the options of a verb of git's that are known here, each a flag or with the value of that name, and what they say.
func followOptions(verb string) (takes map[string]string, says func(given map[string]string, operands []string) (Following, bool)) {
	takes = map[string]string{"-q": "flag", "--quiet": "flag"}
	switch verb {
	case "branch":
		takes["-u"], takes["--set-upstream-to"] = "up", "up"
		return takes, func(given map[string]string, operands []string) (Following, bool) {
			f := Following{up: given["-u"] + given["--set-upstream-to"], branch: strings.Join(operands, ""), Alone: true}
			return f, len(operands) < 2 && f.fine()
		}
	case "switch", "checkout":
		takes["-t"], takes["--track"] = "flag", "flag"
		for _, name := range map[string][]string{"switch": {"-c", "--create"}, "checkout": {"-b"}}[verb] {
			takes[name] = "branch"
		}
		return takes, func(given map[string]string, operands []string) (Following, bool) {
			_, short := given["-t"]
			_, long := given["--track"]
			f := Following{up: strings.Join(operands, " "), branch: given["-c"] + given["--create"] + given["-b"]}
			return f, (short || long) && len(operands) == 1 && f.fine()
		}
	}
	return nil, func(map[string]string, []string) (Following, bool) { return Following{}, false }
}

// fine reports whether the names are no more than names.
func (f *Following) fine() bool {
	name := func(s string) bool { return branchName.MatchString(s) && !strings.Contains(s, "..") }
	return name(f.up) && (f.branch == "" || name(f.branch))
}

// Follow writes it down, and says what was.
func (b *Broker) Follow(ctx context.Context, f Following) (said string, err error) {
	r, err := b.open(true)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if f.branch == "" {
		if f.branch, err = r.branch(ctx); err != nil {
			return "", err
		}
	}
	if _, err := r.commit(ctx, "refs/heads/"+f.branch); err != nil {
		return "", err
	}
	remote, there, err := r.above(ctx, f.up)
	if err != nil {
		return "", err
	}
	set, err := r.setting(ctx, "branch."+f.branch+".remote")
	if err != nil {
		return "", err
	}
	merge, err := r.setting(ctx, "branch."+f.branch+".merge")
	if err != nil {
		return "", err
	}
	said = fmt.Sprintf("branch '%s' set up to track '%s'.", f.branch, f.up)
	switch now := append(set, merge...); {
	case slices.Equal(now, []string{remote, there}):
		return said, nil
	case len(now) > 0:
		return "", fmt.Errorf("the branch %s follows another one already: %w", f.branch, ErrNotHere)
	}
	return said, r.setUpstream(f.branch, remote, there)
}

// above is the remote and the branch there that a name stands for: those of a remote that the repository has, or a branch of its own.
func (r *repository) above(ctx context.Context, up string) (remote, there string, err error) {
	name, branch, both := strings.Cut(up, "/")
	if both {
		urls, err := r.setting(ctx, "remote."+name+".url")
		if err != nil {
			return "", "", err
		}
		if _, gone := r.commit(ctx, "refs/remotes/"+up); len(urls) > 0 && gone == nil {
			return name, "refs/heads/" + branch, nil
		}
	}
	if _, err := r.commit(ctx, "refs/heads/"+up); err != nil {
		return "", "", fmt.Errorf("%s is no branch of a remote, and none here: %w", up, ErrNotHere)
	}
	return ".", "refs/heads/" + up, nil
}
