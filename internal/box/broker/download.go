package broker

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// longestURL is how long an address may be that is asked for: whoever answers for it is told all of it.
const longestURL = 2 << 10

// downloading is one address that is read. It is read in the broker's chamber, with curl's own settings off; what is to be a file is
// put there by the session's box.
type downloading struct {
	b    *Broker
	to   place
	args []string // of curl, as they were given, without where it goes to
	file string   // in the folder of the command; empty: it is printed
}

// curl finds out what is read, and whence.
func (b *Broker) curl(f outgoing.Form) (*Deed, error) {
	text := f.Slot("url")
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Hostname() == "" || len(text) > longestURL {
		return nil, fmt.Errorf("curl %.80q: %w", text, ErrNotHere)
	}
	x := &downloading{b: b, to: place{strings.ToLower(u.Hostname()), map[string]int{"https": 443, "http": 80}[u.Scheme]}}
	if u.Port() != "" {
		if x.to.port, err = strconv.Atoi(u.Port()); err != nil {
			return nil, fmt.Errorf("curl %.80q: %w", text, ErrNotHere)
		}
	}
	if x.to.port == 0 {
		return nil, fmt.Errorf("curl %.80q: %w", text, ErrNotHere)
	}
	rest := f.Argv[1:]
	for len(rest) > 0 {
		name, value, given := strings.Cut(rest[0], "=")
		if f.Deed != "create" || name != "-o" && name != "--output" {
			x.args, rest = append(x.args, rest[0]), rest[1:]
			continue
		}
		if !given {
			value, rest = rest[1], rest[1:]
		}
		x.file, rest = value, rest[1:]
	}
	if f.Deed == "create" && x.file == "" {
		return nil, fmt.Errorf("curl without a file: %w", ErrNotHere)
	}
	q := Question{Program: "curl", Verb: "download", Host: x.to.host, Port: x.to.port, Place: strings.TrimPrefix(u.RequestURI(), "/")}
	if x.file != "" {
		q.Refs = []Ref{{Name: x.file}}
	}
	return &Deed{Question: q, run: x.run}, nil
}

func (x *downloading) run(ctx context.Context, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	dir, err := os.MkdirTemp("", "tidemark-out-*")
	if err != nil {
		return none, err
	}
	exit, err := x.fetch(ctx, dir, files)
	if err != nil || exit.Code != 0 || x.file == "" {
		return exit, errors.Join(err, os.RemoveAll(dir))
	}
	shown, done, err := x.b.show(filepath.Join(dir, brought))
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return none, err
	}
	defer done()
	args := []string{"cp", "--", filepath.Join(shown, "file"), x.file}
	return x.b.opts.Inside(ctx, box.Command{Args: args, Dir: x.b.dir(), Files: files})
}

// fetch reads the address. Neither settings of curl's nor what signs somebody in are read, and no other computer is reached: who is asked
// can send it on to itself alone.
func (x *downloading) fetch(ctx context.Context, dir string, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	if err := os.Mkdir(filepath.Join(dir, brought), 0o700); err != nil {
		return none, err
	}
	args := []string{"curl", "-q", "--proto", "=https,http", "--proto-redir", "=https,http", "--max-redirs", "5"}
	var read []string
	if ca := x.b.opts.CAFile; ca != "" {
		args, read = append(args, "--cacert", ca), []string{ca}
	}
	if x.file != "" {
		args = append(args, "--output", filepath.Join(dir, brought, "file"))
	}
	c, err := x.b.chamber(dir, []place{x.to}, nil, read)
	if err != nil {
		return none, err
	}
	defer c.close() // what was fetched is in the folder
	return c.run(ctx, files, slices.Concat(args, x.args)...)
}
