package confined

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
)

// A command in a box may want something of the world outside. That is a call like any other, of a tool whose name is reserved: one
// for each verb, so that policies can speak of it and a yes to one verb is none to another.

// verb is one kind of wanting.
type verb struct {
	act  string // as policies and grants name what it does
	task bool   // a yes for the task opens the same again
}

// verbs are all that can be wanted. What carries something that a person has to look at is asked about each time.
var verbs = map[string]verb{
	"read":    {"read", true},
	"connect": {"send", true},
	"port":    {"send", true},
	"push":    {"send", false},
	"fetch":   {"read", true},
	"pull":    {"change", true},
	"clone":   {"create", true},
	"install": {"create", true},

	"download": {"read", true},
	"look":     {"read", true},
	"submit":   {"send", false},

	"order": {"execute", false},
	"carry": {"send", false},
	"bring": {"create", true},

	Keep: {"change", false},
}

// Keep is what is wanted when a command has ended: that files which it changed in a copy, or which were put aside, are kept.
const Keep = "keep"

// Apart reports whether questions about two tools of boxes can be open at once. What is to be kept waits for nobody and holds nobody up.
func Apart(one, other string) bool { return (Verb(one) == Keep) != (Verb(other) == Keep) }

// reserved begins the names of these tools.
const reserved = "confined_"

// Verb is what a tool's name wants; empty: it is no such tool.
func Verb(name string) string {
	v, ok := strings.CutPrefix(name, reserved)
	if _, known := verbs[v]; !ok || !known {
		return ""
	}
	return v
}

// Tool is the tool of what is wanted.
func Tool(w *event.Wanted) string { return reserved + w.Verb }

// Act is what it does.
func Act(w *event.Wanted) string { return verbs[w.Verb].act }

// Lasts reports whether a yes for the task opens the same again.
func Lasts(w *event.Wanted) bool { return verbs[w.Verb].task }

// Free reports whether an argument may be another where the same is wanted again: who wants it, not what and where.
func Free(path string) bool { return path == "program" || path == "command" }

// Brings reports whether what is wanted brings words of others into the output of the command that runs.
func Brings(w *event.Wanted) bool {
	return slices.Contains([]string{"read", "connect", "port", "download", "look", "submit", "order", "carry", "bring"}, w.Verb)
}

// The bounds of what is wanted.
const (
	maxHost    = 253
	maxProgram = 64
	maxLine    = 32 << 10
	maxListed  = 500
	maxItem    = 400
)

// ErrWanted is in the error for something that nobody can be asked about.
var ErrWanted = errors.New("this cannot be wanted")

// Check refuses what is no verb and place.
func Check(w *event.Wanted) error {
	plain := func(s string, most int) bool {
		return len(s) <= most && !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' })
	}
	switch {
	case verbs[w.Verb].act == "":
		return fmt.Errorf("%w: %.40q is no verb", ErrWanted, w.Verb)
	case !plain(w.Program, maxProgram) || !plain(w.Remote, maxItem) || !plain(w.Place, maxItem) || len(w.Command) > maxLine || w.More < 0:
		return fmt.Errorf("%w: it says too much of itself", ErrWanted)
	}
	if err := checkPlace(w, plain); err != nil {
		return err
	}
	for _, list := range [][]string{w.Refs, w.Commits, w.Files, w.Packages, w.Lines} {
		if len(list) > maxListed || slices.ContainsFunc(list, func(s string) bool { return len(s) > 4*maxItem }) {
			return fmt.Errorf("%w: it lists too much", ErrWanted)
		}
	}
	return nil
}

// checkPlace refuses what is nowhere. What is to be kept is of this machine.
func checkPlace(w *event.Wanted, plain func(s string, most int) bool) error {
	switch {
	case w.Verb == Keep && (w.Host != "" || w.Port != 0 || len(w.Refs) == 0 || len(w.Refs) != len(w.Files)):
		return fmt.Errorf("%w: what is kept has names and no host", ErrWanted)
	case w.Verb == Keep:
		return nil
	case w.Host == "" || !plain(w.Host, maxHost) || strings.ContainsAny(w.Host, " /@\"'") || strings.ToLower(w.Host) != w.Host:
		return fmt.Errorf("%w: the host is no name in lower case", ErrWanted)
	case w.Port < 1 || w.Port > 65535:
		return fmt.Errorf("%w: %d is no port", ErrWanted, w.Port)
	}
	return nil
}

// longName is how long a name of a host may be before people are told to look at it: names can carry what somebody has read.
const longName = 60

// Sentence says for people what is wanted, without the stop at its end. Everything in it that others wrote is quoted.
func Sentence(w *event.Wanted) string {
	who := "a command in the box"
	if w.Program != "" {
		who += " (it calls itself " + text.Shown(w.Program) + ")"
	}
	host := text.Shown(w.Host)
	at := fmt.Sprintf("%s, port %d", host, w.Port)
	said := text.Shown(strings.Join(w.Refs, ", "))
	var out string
	switch w.Verb {
	case "read":
		out = fmt.Sprintf("%s wants to read from %s: an address of at most 2 KB is sent there, and nothing else", who, host)
	case "connect":
		out = fmt.Sprintf("%s wants to reach %s: it can send there whatever it can read, and what it sends is not looked at", who, at)
	case "port":
		out = fmt.Sprintf("%s wants the service at port %d of this machine: it can have that do whatever it does for you", who, w.Port)
	case "push":
		out = fmt.Sprintf("git push to %s: %s, %s", repository(w), count(len(w.Commits)+w.More, "commit"), count(len(w.Files), "file"))
		if len(w.Refs) > 0 {
			out += ", " + text.Shown(strings.Join(w.Refs, ", "))
		}
	case "install":
		out = fmt.Sprintf("install %s from %s; scripts of packages run in the box", text.Shown(strings.Join(w.Packages, ", ")), host)
		if len(w.Lines) > 0 {
			out += "; besides: " + text.Shown(strings.Join(w.Lines, "; "))
		}
	case "download":
		out = fmt.Sprintf("read %s: whoever answers there is told that address, and nothing else", text.Shown(w.Host+"/"+w.Place))
		if len(w.Refs) > 0 {
			out += ", and it becomes " + text.Shown(strings.Join(w.Refs, ", "))
		}
	case "look", "submit":
		out = said + ", in your name, " + service(w)
	case "order":
		out = fmt.Sprintf("%s: it is run at %s, where you are signed in, and can do there what you may", said, text.Shown(w.Place))
	case "carry":
		out = fmt.Sprintf("%s: %s of the workspace to %s", said, count(len(w.Files), "file"), text.Shown(w.Place))
	case "bring":
		out = fmt.Sprintf("%s: files of %s are put into the workspace", said, text.Shown(w.Place))
	case Keep:
		out = kept(w)
	default:
		out = fmt.Sprintf("git %s from %s", w.Verb, repository(w))
	}
	if len(w.Host) > longName {
		out += fmt.Sprintf(". LOOK CLOSELY: the name has %d characters, and whoever answers for it is told all of them", len(w.Host))
	}
	return out
}

// service is where something is looked at or submitted: a repository, this machine's engine of containers, or a cluster by the name
// that its owner's settings have for it.
func service(w *event.Wanted) string {
	if w.Host == "localhost" {
		return "by the engine of containers of this machine"
	}
	if w.Remote != "" {
		return fmt.Sprintf("in the cluster %s (%s, port %d)", text.Shown(w.Remote), text.Shown(w.Host), w.Port)
	}
	return "in the repository " + text.Shown(w.Host+"/"+w.Place)
}

// kept names everything that a yes would keep: what is not named is not kept. Nobody here knows who made what was put aside: it may have
// been the agent's own tool for files.
func kept(w *event.Wanted) string {
	const says = "the box has %s made or changed while it was open, in a copy, and nothing of yours was changed yet: %s"
	out := fmt.Sprintf(says, count(len(w.Refs), "file"), text.Shown(strings.Join(w.Refs, ", ")))
	if w.More > 0 {
		out += fmt.Sprintf(". %d more are not among them, and wait", w.More)
	}
	return out
}

// repository is the place over there, and what it is called here.
func repository(w *event.Wanted) string {
	out := text.Shown(w.Host + "/" + w.Place)
	if w.Remote != "" {
		out = text.Shown(w.Remote) + " (" + out + ")"
	}
	return out
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Wanting is what the ticket of a command is for that wants something: it must run, but for what is to be kept, which is asked about
// when it has ended.
func (t Tickets) Wanting(ctx context.Context, ticket string, w *event.Wanted) (event.Box, error) {
	given, over, err := t.ran(ctx, ticket, Command(w.Command))
	if err == nil && over && w.Verb != Keep {
		return event.Box{}, ErrOver
	}
	return given, err
}

// ran is what the ticket of a command is for that was begun, for this line, and whether it has ended.
func (t Tickets) ran(ctx context.Context, ticket, command string) (given event.Box, over bool, err error) {
	given, records, err := t.read(ctx, Hash(ticket))
	switch {
	case err != nil:
		return event.Box{}, false, err
	case records == 1:
		return event.Box{}, false, ErrNotBegun
	case command == "" || command != given.Command:
		return event.Box{}, false, ErrOther
	}
	return given, records > 2, nil
}
