package warrant

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/internal/warrant/wording"
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
	var values []arguments.Leaf
	for i := range f.Slots {
		s := &f.Slots[i]
		values = append(values, arguments.Leaf{Path: s.Path, Text: s.Text, Quoted: true})
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
	return !j.c.user.lookOnly() && inner.forbidden(values) == nil && (r.said != "" || opens || inner.assented() != "")
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

// wants is what the owner gave a text to say.
type wants struct {
	texts              []string
	exact, bare, loose bool // word for word; and nothing beside it; the wording is the agent's
}

// wanted is what the owner's words give the text of a call to say; none: they leave it to the agent.
func (j *judging) wanted(quote string, values []arguments.Leaf) (out wants) {
	c := j.c
	for _, t := range reader.Contents(quote, texts(values), c.vocabulary) {
		held := func(l arguments.Leaf) bool { return strings.EqualFold(l.Text, t.Text) && j.roleOf(&l) != mandate.Text }
		bare := wording.Exactly(t.Before)
		switch {
		case !t.Says(c.vocabulary), len(wording.Meaning(t.Text, c.vocabulary)) == 0:
			continue
		case t.Quoted && slices.ContainsFunc(values, held), j.w.Deed == Create && !t.Quoted && !bare:
			continue
		case !t.Quoted && !bare && asksBack(c.vocabulary.Words(t.Text), t.Behind):
			return wants{}
		}
		out.texts, out.exact, out.bare = append(out.texts, t.Text), out.exact || t.Quoted || bare, out.bare || bare
		out.loose = out.loose || wording.Styled(t.Before)
	}
	return out
}

// asksBack reports whether what is to be said is what somebody else says, or an answer that somebody has to find.
func asksBack(words []vocabulary.Word, behind bool) bool {
	if !behind && len(words) > 0 && !words[0].Gram.Has(vocabulary.Report) {
		words = words[1:] // that
	}
	return slices.ContainsFunc(words, func(w vocabulary.Word) bool {
		return w.Gram.Has(vocabulary.Report) || w.Gram.Has(vocabulary.Question) && !wording.Light(w.Text)
	})
}

// differs finds what the text of a call says beside what the owner gave it to say, or turned round. A greeting says nothing.
func (j *judging) differs(quote string, values []arguments.Leaf) (path, part, why string) {
	w, bodies := j.wanted(quote, values), j.bodies(values)
	if len(w.texts) == 0 || len(bodies) == 0 {
		return "", "", ""
	}
	if why = j.c.another(&w, bodies); why != "" {
		return bodies[0].Path, bodies[0].Text, why
	}
	few := 0
	if w.loose && !w.exact {
		few = fewBeside
	}
	denies, mine := wording.Denies(strings.Join(w.texts, "\n"), j.c.vocabulary), j.ownWords(quote, values)
	for _, l := range bodies {
		words, sentence := wording.Beside(l.Text, j.c.vocabulary, w.bare, mine)
		read := func(word string) bool { return j.c.index.Of(word).Class > valueindex.Unseen }
		turned := len(words) > 0 && !denies && wording.Denies(sentence, j.c.vocabulary)
		if len(words) > few || turned || slices.ContainsFunc(words, read) {
			return l.Path, sentence, "it says more than you gave it to say: " + strings.Join(words, ", ")
		}
	}
	return "", "", ""
}

// bodies are the texts of a call, those that are no titles first.
func (j *judging) bodies(values []arguments.Leaf) (bodies []*arguments.Leaf) {
	for _, titles := range []bool{false, true} {
		for i := range values {
			l := &values[i]
			text := j.roleOf(l) == mandate.Text && j.resolve(l).Listed == nil && strings.TrimSpace(l.Text) != ""
			if text && headings[arguments.LastWord(l.Path)] == titles {
				bodies = append(bodies, l)
			}
		}
	}
	return bodies
}

// another is why texts are not what the owner gave: they leave it out, or turn it round. Empty: they say it.
func (c *Context) another(w *wants, bodies []*arguments.Leaf) string {
	first, given, all := bodies[0], strings.Join(w.texts, "\n"), ""
	for _, l := range bodies {
		if headings[arguments.LastWord(l.Path)] == headings[arguments.LastWord(first.Path)] {
			all += l.Text + "\n"
		}
	}
	content, says := wording.Meaning(given, c.vocabulary), wordSet(wording.Meaning(all, c.vocabulary))
	switch {
	case w.exact && !slices.ContainsFunc(w.texts, func(t string) bool { return strings.Contains(runOf(all), runOf(t)) }):
		return "you gave this text, and this one differs"
	case len(content) > 0 && !slices.ContainsFunc(content, func(v vocabulary.Word) bool { return says(&v) }):
		return "you said what it is to say, and it does not say that"
	case wording.Denies(given, c.vocabulary) && !wording.Denies(all, c.vocabulary):
		return "you said that it is not so, and it does not say that"
	}
	return ""
}

// runOf is a text as its words in a row.
func runOf(text string) string { return " " + strings.Join(tokens(text), " ") + " " }

// ownWords tells which words of a letter are the owner's: they said them in the messages that count now, they are whom it is for, or
// they stand in what they want passed on, or in what its readers may read anyway.
func (j *judging) ownWords(quote string, values []arguments.Leaf) func(*vocabulary.Word) bool {
	c := j.c
	said := quote + "\n" + strings.Join(c.asking, "\n")
	for i := range values {
		if l := &values[i]; j.roleOf(l) == mandate.Aim {
			said += "\n" + strings.Join(tokens(l.Text), " ")
		}
	}
	is, figures := wordSet(c.vocabulary.Words(said)), mandate.Counts(said)
	for _, f := range digitRuns.FindAllString(said, -1) {
		figures[strings.TrimLeft(f, "0")] = true
	}
	strange := func(f string) bool { // 8 pm is 20:00
		n, err := strconv.Atoi(f)
		return err != nil || n > 0 && !figures[strconv.Itoa(n)] && !figures[strconv.Itoa(n+12)] && !figures[strconv.Itoa(n-12)]
	}
	denies := wording.Denies(said, c.vocabulary)
	w := world{c: c, told: true, given: true, to: j.readers(values)}
	may := w.open(w.passes([]string{quote}))
	return func(v *vocabulary.Word) bool {
		switch {
		case v.Kind == vocabulary.Number:
			return !slices.ContainsFunc(digitRuns.FindAllString(v.Text, -1), strange) || c.index.Stands(v.Text, may)
		case v.Kind != vocabulary.Plain:
			return true // it is judged as what it is
		case v.Gram.Has(vocabulary.Negation):
			return denies
		}
		for n := range mandate.Counts(v.Text) {
			if figures[n] {
				return true
			}
		}
		return is(v) || c.isOwn(v.Text) || c.index.Stands(v.Text, may)
	}
}

var headings = list("headings")

// wordSet tells whether a word is one of some, in whatever form of it.
func wordSet(words []vocabulary.Word) func(*vocabulary.Word) bool {
	have := map[string]bool{}
	var long few[string]
	for i := range words {
		w := &words[i]
		have[w.Text], have[w.Stem], have[stem(w.Text)] = true, true, true
		if len(w.Text) >= 6 {
			long.add(w.Text)
		}
	}
	return func(w *vocabulary.Word) bool {
		return have[w.Text] || have[w.Stem] || have[stem(w.Text)] || kin(&long, w.Text)
	}
}

// commands asks about what a machine obeys in a text that people read, and about formulas that look beyond their sheet.
func (j *judging) commands(values []arguments.Leaf) {
	c := j.c
	asked := strings.ToLower(strings.Join(c.asking, "\n") + "\n" + strings.Join(c.spoken, "\n"))
	w := world{c: c, told: true, to: j.readers(values)}
	may := w.passes([]string{strings.Join(c.spoken, "\n")})
	said := func(part string) bool {
		name := strings.TrimLeft(part, "@<!#[~")
		called := name != part && !strings.ContainsAny(name, " \t") && len(name) > 2
		return strings.Contains(asked, strings.ToLower(part)) || called && c.index.Stands(strings.TrimRight(name, ">]"), may)
	}
	is := wordSet(c.vocabulary.Words(asked))
	for i := range values {
		l := &values[i]
		if !l.Quoted || said(strings.TrimSpace(l.Text)) {
			continue
		}
		part := ""
		p := j.resolve(l)
		switch role := j.roleOf(l); {
		case p.Listed != nil:
		case role == mandate.Text && !pathish(l, p.Kind), p.Role == toolinfo.Content && !pathish(l, p.Kind):
			if part = wording.Command(l.Text, c.vocabulary, said, is); part == "" {
				part = wording.Formula(l.Text)
			}
		case role == mandate.Measure, role == mandate.Object:
			part = wording.Formula(l.Text)
		}
		if part != "" {
			j.w.Slots = append(j.w.Slots, Slot{Kind: missingKind(mandate.Text, j.w.Deed), Path: l.Path, Value: part, Has: Nothing,
				Why: "programs take it for an order, and I could not find it in your words", Part: part})
			return
		}
	}
}
