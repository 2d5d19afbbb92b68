package warrant

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/tool"
)

// What a command line sends away is asked about, but for plain commands of known forms: each of them is judged like a call of a tool of
// its name, for what its program and verb do and for whom it names. A word that orders one of them orders no other.

// leaves is what speaks against a plain command that leaves this machine, and what of it.
func (j *judging) leaves(f *outgoing.Form) (why, part string) {
	for i := range f.Slots {
		if s := &f.Slots[i]; s.Role == mandate.Text {
			if part := j.c.fromBeyond(s.Text); part != "" {
				return "it leaves this machine with what others may not read", part
			}
		}
	}
	if j.c.argued && !j.departs(f) {
		return "it leaves this machine, and I could not find it in your words", ""
	}
	return "", ""
}

// leaving are the plain commands of a line that send something away. All says that nothing else in the line does, but for what is given
// addresses: those are judged, and so are the scripts that it runs.
func leaving(line *shell.Line) (out []outgoing.Form, all bool) {
	addressed := toKnown(line)
	all = true
	for i := range line.Runs {
		r := &line.Runs[i]
		if !r.Effects.Has(shell.NetworkWrite | shell.Mail) {
			continue
		}
		f, ok := formOf(r)
		if ok && !r.Fed && (!r.Guess || r.Wrapped) {
			out = append(out, f)
		} else if !addressed || !wherever(r) {
			all = false
		}
	}
	return out, all && (addressed || len(out) > 0)
}

// wherever reports whether a program sends things to the addresses that it is given, and has no place of its own for them.
func wherever(r *shell.Run) bool {
	words, ok := programs[r.Name]
	return clients[r.Name] || ok && words == nil || strings.HasPrefix(r.Name, "/dev/") || !ok && plain(r)
}

// toKnown reports whether a line names where it sends things, and each of that is judged: an address of others, or one of this machine.
func toKnown(line *shell.Line) bool {
	far := distant(line.Addresses)
	unjudged := func(a string) bool { return !loopback(a) && !slices.Contains(far, a) }
	return len(line.Addresses) > 0 && !slices.ContainsFunc(line.Addresses, unjudged)
}

// departures are the plain commands that send something away in a line and in the files that it runs.
func departures(line *shell.Line) []outgoing.Form {
	out, _ := leaving(line)
	for i := range line.Scripts {
		out = append(out, departures(line.Scripts[i].Line)...)
	}
	return out
}

// loopback reports whether an address is of this very machine.
func loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// formOf is the plain command of a known form that a program is run as. How and where to git pushes is judged apart: see pushes.
func formOf(r *shell.Run) (outgoing.Form, bool) {
	if _, ok := shell.GitArgs(r, "push"); ok {
		return outgoing.Words([]string{"git", "push"})
	}
	if r.Aside != "" {
		return outgoing.Form{}, false
	}
	argv := []string{r.Name}
	for _, a := range r.Args {
		if !a.Known {
			return outgoing.Form{}, false
		}
		argv = append(argv, a.Text)
	}
	return outgoing.Words(argv)
}

// sent reports whether a program is run as a plain command that sends something away: that is judged for what it does.
func sent(r *shell.Run) bool {
	_, ok := formOf(r)
	return ok && r.Effects.Has(shell.NetworkWrite|shell.Mail)
}

// departs reports whether the owner asked for a plain command that leaves this machine: for what its program and verb do, and for
// whom it names. Such a line is a deed like a call of a tool of that name; the remote that a repository calls origin is its own.
func (j *judging) departs(f *outgoing.Form) bool {
	deed := DeedNamed(f.Deed)
	if deed == Read || deed == Create { // what only brings something here has rules of its own: which packages, which addresses
		return true
	}
	if j.c.offered[tool.Name(f.Name)] {
		return false // what is called so is another's to describe
	}
	m := j.c.meaning(f.Name)
	inner := &judging{c: j.c, w: &Warrant{Deed: deed}, m: m, args: j.args, allSaid: true}
	var values []leaves.Leaf
	for i := range f.Slots {
		s := &f.Slots[i]
		values = append(values, leaves.Leaf{Path: s.Path, Text: s.Text, Quoted: true})
		aim := s.Role == mandate.Aim
		answers := deed == Send && s.Kind == "reference" // the thread that others read it in
		if s.Text == ownRemote || !aim && !answers && (s.Role != mandate.Object || !deed.final()) {
			continue
		}
		e, why := inner.evidence(s.Text, aim)
		if inner.slot(Object, s.Path, s.Text, e, why); e < Picked {
			return false
		}
	}
	if f.Brings {
		return true
	}
	r := inner.request()
	opens := (f.Verb == "pr create" || f.Verb == "mr create") && r.acts && r.near // "fix it and open a PR" has no verb that makes one
	return !j.c.user.lookOnly() && !inner.forbidden(values) && (r.said != "" || opens || inner.assented() != "")
}

// ownRemote is what a repository calls the place that it came from.
const ownRemote = "origin"

// usualList is the file that people mean who speak of the requirements and name none.
const usualList = "requirements.txt"

// alternatives are the words of a list as parts of a pattern.
func alternatives(list string) string {
	var out []string
	for _, line := range lists.Lines(list) {
		for _, w := range line {
			out = append(out, regexp.QuoteMeta(strings.ReplaceAll(w, "_", " ")))
		}
	}
	return "(?:" + strings.Join(out, "|") + ")"
}

var (
	installs  = regexp.MustCompile(`\b` + alternatives("installing"))
	listAsked = "^(?:" + alternatives("before_installing") + ",? )*(?:" +
		alternatives("install_verbs") + " (?:" + alternatives("of_a_list") + " )*%s(?: file)?|" +
		"(?:pip3?|python3? -m pip) install (?:-q |--quiet )?(?:-r |--requirement[ =])%s)" +
		"(?: " + alternatives("after_installing") + ")*$"
)

// OrdersList reports whether the owner's own words order that what a list of packages names is installed: the command itself with that
// file, or a plain clause that says so of the file, or of the requirements, which are one file. Nothing that any of the messages says
// against an installation stands beside it.
func (c *Context) OrdersList(file string) bool {
	c.listen()
	name := regexp.QuoteMeta(strings.ToLower(file))
	said := "(?:\\./)?" + name
	named := said
	if file == usualList {
		named = "(?:requirements|" + said + ")"
	}
	asked, err := regexp.Compile(fmt.Sprintf(listAsked, named, said))
	if err != nil || file == "" || len(file) > maxListName {
		return false
	}
	found := false
	for _, cl := range c.user.scope() {
		text := strings.Join(strings.Fields(strings.ToLower(cl.text)), " ")
		if (cl.denies || !cl.orders()) && installs.MatchString(text) {
			return false
		}
		found = found || cl.orders() && asked.MatchString(text)
	}
	return found
}

// maxListName bounds the name of such a file.
const maxListName = 200
