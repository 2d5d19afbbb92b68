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
	var f Following
	var operands []string
	tracks := false
	for rest := words[2:]; len(rest) > 0; rest = rest[1:] {
		w := rest[0]
		switch name, value, given := strings.Cut(w, "="); {
		case !strings.HasPrefix(w, "-"):
			operands = append(operands, w)
		case words[1] == "branch" && (w == "-u" || name == "--set-upstream-to"):
			if !given {
				if len(rest) < 2 {
					return f, false
				}
				value, rest = rest[1], rest[1:]
			}
			f.up, f.Alone = value, true
		case words[1] != "branch" && (w == "-t" || w == "--track" || w == "--track=direct"):
			tracks = true
		case words[1] == "switch" && (w == "-c" || w == "--create"), words[1] == "checkout" && w == "-b":
			if len(rest) < 2 || f.branch != "" {
				return f, false
			}
			f.branch, rest = rest[1], rest[1:]
		case w == "-q" || w == "--quiet":
		default:
			return f, false
		}
	}
	switch {
	case f.Alone && words[1] == "branch" && len(operands) < 2:
		f.branch = strings.Join(operands, "")
	case tracks && (words[1] == "switch" || words[1] == "checkout") && len(operands) == 1:
		f.up = operands[0]
	default:
		return f, false
	}
	fine := func(name string) bool { return branchName.MatchString(name) && !strings.Contains(name, "..") }
	return f, fine(f.up) && (f.branch == "" || fine(f.branch))
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
