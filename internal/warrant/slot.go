package warrant

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/tool"
)

// value finds the slots that one argument is.
func (j *judging) value(l *arguments.Leaf) {
	if l.Flag || strings.TrimSpace(l.Text) == "" {
		j.flag(l)
		return
	}
	p := *j.resolve(l)
	j.param = l.Path
	if j.overseen(l) {
		return
	}
	if j.m.Act == toolinfo.Read && l.Quoted && pathish(l, p.Kind) {
		j.opens(l)
	}
	switch { // what a shell or a writer of files is feared for, whosever it is and whatever it is called
	case j.workspace, tool.IsHost(unprefixed(j.m.Tool)):
		j.local(l, p)
	case p.Role == toolinfo.Command:
		j.wrecks(l)
	}
	switch {
	case j.workspace:
	case j.w.Deed == Read && l.Quoted && j.looked(l, p):
	case l.Quoted && (sqlActs(l.Text) || j.document(l) != Read):
		j.order(l)
	default:
		j.role(l, p)
	}
}

// looked judges what a read is given: an address, or words beside what is read. It reports
// whether that is all the value is.
func (j *judging) looked(l *arguments.Leaf, p toolinfo.Param) bool {
	if j.isAddress(l, p) && !j.listed(l.Text) {
		e, why := j.c.address(l.Text)
		if e < Followed && j.c.linked(j.m.Tool, l.Text) {
			e, why = Followed, "a link within the site that you named"
		}
		if !j.c.argued {
			e = Said // nothing was read that could leave
		}
		j.w.add(Cargo, l.Path, l.Text, e, why)
		return true
	}
	if asides[j.tool().param(l.Path).last] {
		j.aside(l)
	}
	j.disclosed(l)
	j.taken(l)
	j.mentions(l)
	return false
}

// isAddress reports whether what a read is given is an address: by its parameter, or by its look.
func (j *judging) isAddress(l *arguments.Leaf, p toolinfo.Param) bool {
	if strings.HasPrefix(l.Text, "/") && !strings.HasPrefix(l.Text, "//") && !strings.ContainsAny(l.Text, "?#\\") {
		return false // a path at the place that the tool is for
	}
	return p.Kind == toolinfo.URL || j.tool().param(l.Path).address || startsURL(l.Text) || isHost(l.Text)
}

// role finds the slot of a value by what its parameter is for.
func (j *judging) role(l *arguments.Leaf, p toolinfo.Param) {
	if j.m.Act == toolinfo.Read && j.w.Deed == Send && mailbox(l.Text) {
		p.Role, p.Kind = toolinfo.Target, toolinfo.Email
	}
	switch p.Role {
	case toolinfo.Target:
		j.target(l, p.Kind)
	case toolinfo.Credential:
		e, why := j.key(l.Text)
		j.w.add(Key, l.Path, l.Text, e, why)
	case toolinfo.Command:
		j.order(l)
	case toolinfo.Selector, toolinfo.Unclear:
		j.object(l, p)
	case toolinfo.Content:
		j.cargo(l)
	case toolinfo.Amount:
		j.amount(l)
	}
}

// amount judges how much.
func (j *judging) amount(l *arguments.Leaf) {
	e, why := j.evidence(l.Text, false)
	e, why = j.composed(l.Text, e, why, "worked out by the agent")
	switch {
	case e < Picked && (j.counted(l.Text) || j.c.saysGrouped(l.Text)):
		e, why = Said, "a number that you said"
	case (e == Agent) == j.c.saidNow(l.Text) && e <= Picked && j.otherSum(l.Text, l.Path) != "": // of a record, or a day's number
		e, why = Nothing, "you said "+j.otherSum(l.Text, l.Path)
	case e != Agent || j.w.Deed != Pay || j.c.saidNow(l.Text):
	case j.c.user.priced():
		e, why = Nothing, "you named a sum, and this is another"
	case !reckoned(strings.Join(j.c.said, " ")):
		e, why = Nothing, "I found no such sum in your words"
	}
	j.w.add(Measure, l.Path, l.Text, e, why)
}

// counted reports whether how much is a small number that the user said in words, or one of something where they named no sum.
func (j *judging) counted(value string) bool {
	said := func(text string) bool { return mandate.Counts(text)[value] }
	return slices.ContainsFunc(j.c.asking, said) || value == "1" && !j.c.user.priced() && !j.c.inText(value) && !mandate.Lasts(j.param)
}

// saidNow reports whether the messages that count now say a number: what an earlier one wanted paid is paid.
func (c *Context) saidNow(value string) bool {
	return slices.ContainsFunc(c.asking, func(text string) bool { return mandate.Says(text, value) })
}

// flag judges a yes: what is made public goes to everybody.
func (j *judging) flag(l *arguments.Leaf) {
	switch {
	case l.Text != "true" || j.w.Deed == Read:
		return
	case arguments.LastWord(l.Path) == "public":
		j.target(&arguments.Leaf{Path: l.Path, Text: "public"}, toolinfo.Person)
		return
	case j.w.Deed == Tidy, j.workspace: // what the host's own tools are feared for is judged elsewhere
		return
	}
	for w := range arguments.Words(l.Path) {
		speaks := func(said []string) bool { return mandate.Speaks(said, []string{w}) }
		if j.c.user.stems[stem(w)] || slices.ContainsFunc(j.c.saidWords, speaks) {
			return // they spoke of it
		}
	}
	e, why := j.promised(Measure, l.Path, l.Text, Nothing, "a switch that I could not find in your words")
	j.w.add(Measure, l.Path, l.Text, e, why)
}

// slot adds an aim, an object, a place or a measure, and notes what it says of the call.
func (j *judging) slot(k Kind, path, value string, e Evidence, why string) {
	e, why = j.promised(k, path, value, e, why)
	j.w.add(k, path, value, e, why)
	if k == Measure {
		j.textual = j.textual || e == Nothing
		return
	}
	j.slots++
	j.tied = j.tied || e == Picked || e == Said && len(value) > 2
	j.loose = j.loose || e < Agent
	j.allSaid = j.allSaid && e >= Own
}

// composed improves the evidence for a value that the agent may make up, unless it stands in
// what others wrote. A file that attacks are after is nobody's to make up: a text may describe it without a word of its name.
func (j *judging) composed(value string, e Evidence, why, instead string) (Evidence, string) {
	sought := strings.ContainsAny(value, `/\~.`) && !strings.ContainsFunc(value, unicode.IsSpace) && sensitive(value)
	if e == Nothing && !j.c.inText(value) && !sought {
		return Agent, instead
	}
	return e, why
}

var (
	rooms  = list("rooms")
	asides = list("asides")
)

// mailbox reports whether a value is a mail address and nothing else.
func mailbox(text string) bool {
	if !strings.Contains(text, "@") {
		return false
	}
	p := valueindex.Targets(text)
	return len(p) == 1 && p[0].Kind == valueindex.Email && p[0].Start == 0 && p[0].End == len(text)
}

// aside judges a text that a look takes along: what was read elsewhere leaves with it.
func (j *judging) aside(l *arguments.Leaf) {
	if !j.c.argued || j.c.index.Said(l.Text) || len(tokens(l.Text)) < 3 {
		return
	}
	for _, t := range tokens(l.Text) {
		if distinctive(t) && !j.c.user.stems[stem(t)] && j.c.index.Of(t).Class > valueindex.Unseen {
			j.w.add(Cargo, l.Path, l.Text, Nothing, "it carries along what was read elsewhere")
			return
		}
	}
}

// target judges who or where something goes.
func (j *judging) target(l *arguments.Leaf, kind toolinfo.Kind) {
	if j.w.Deed == Read {
		return
	}
	for _, part := range split(l.Text) {
		e, why := j.evidence(part, true)
		if kind == toolinfo.URL || startsURL(part) {
			if e, why = j.c.address(part); e == Followed {
				e = Nothing // good enough to be read, not to be written to
			}
		}
		k := Aim
		person := kind == toolinfo.Email || kind == toolinfo.Person || strings.Contains(part, "@")
		if j.w.Deed == Grant && !person && wordIn(l.Path, rooms) {
			k = Object // where somebody is let in
		}
		j.slot(k, l.Path, part, e, why)
	}
}

// split takes a text with several addresses apart.
func split(text string) []string {
	if !strings.Contains(text, "@") {
		return []string{text}
	}
	var out []string
	for _, p := range valueindex.Targets(text) {
		if p.Kind == valueindex.Email {
			out = append(out, p.Text)
		}
	}
	if len(out) > 1 {
		return out
	}
	return []string{text}
}

// order judges something that is executed elsewhere.
func (j *judging) order(l *arguments.Leaf) {
	if j.w.Deed == Read && (j.asksSQL(l.Text) || clis[j.m.Tool] && looks(l.Text)) {
		return // the deed says so already: see queries
	}
	e, why := j.evidence(l.Text, false)
	if e < Entailed && j.c.harmless(j.m, l) {
		e, why, j.looks = Entailed, "it builds, tests or looks", true
	}
	j.w.add(Order, l.Path, l.Text, e, why)
}

var sqlAct = regexp.MustCompile(`(?is)(?:^|;)\s*(?:drop\s+(?:table|database|schema|view|index)|truncate\s+table|delete\s+from` +
	`|insert\s+into|update\s+\S+\s+set|alter\s+(?:table|user|role|database)` +
	`|grant\s+\S+.*\s+to|create\s+(?:table|user|role|function|trigger))\s`)

// sqlActs reports whether a text is SQL that does more, whatever its parameter is called.
func sqlActs(s string) bool { return len(s) > 8 && sqlAct.MatchString(s) }

var clis = list("clis")

// looks reports whether a line for a program of verbs and options only asks for something: its
// first words are the name of a look.
func looks(line string) bool {
	var name []string
	for w := range strings.FieldsSeq(line) {
		if strings.HasPrefix(w, "-") || len(name) == 2 {
			break
		}
		name = append(name, w)
	}
	return !strings.ContainsAny(line, ";|&$`<>\n") && toolinfo.Of(tool.Definition{Name: strings.Join(name, "_")}).Act == toolinfo.Read
}

// object judges what something is done to, and what nobody knows better.
func (j *judging) object(l *arguments.Leaf, p toolinfo.Param) {
	if j.w.Deed == Read {
		return
	}
	k := Object
	e, why, refused := j.ofObject(l)
	if refused {
		j.slot(Object, l.Path, l.Text, Nothing, why)
		return
	}
	if !identifier(l) && (p.Role == toolinfo.Unclear || strings.Contains(l.Path, ".") || !l.Quoted) {
		k = Measure
		e, why = j.composed(l.Text, e, why, "the agent's own")
	}
	if j.w.Deed == Create || j.w.Deed == Tidy {
		j.loose = j.loose || j.w.Deed == Tidy && k == Object && e == Nothing
		if !j.bound(l.Path) || l.Quoted && pathish(l, p.Kind) && fs.ValidPath(path.Clean(l.Text)) { // a new file is looked up nowhere
			e, why = j.composed(l.Text, e, why, "a name the agent chose")
		}
	}
	if l.Quoted && pathish(l, p.Kind) {
		k, e, why = location(l.Text, k, e, why)
	}
	j.slot(k, l.Path, l.Text, e, why)
	if l.Quoted && wordy(strings.TrimSpace(l.Text)) {
		j.cargo(l)
	}
}

// wordy reports whether a text may carry more than a name: it has words, or is JSON.
func wordy(s string) bool {
	return strings.Contains(s, " ") || strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")
}

var (
	idNames = list("idnames")
	idLike  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_:./@-]*$`)
	datish  = regexp.MustCompile(`^\d{4}-\d\d|^\d{1,2}:\d\d`)
)

// identifier reports whether a value names one thing among many, by its parameter or by its
// look.
func identifier(l *arguments.Leaf) bool {
	if idNames[arguments.LastWord(l.Path)] {
		return true
	}
	return l.Quoted && idLike.MatchString(l.Text) && strings.ContainsAny(l.Text, "0123456789") && !datish.MatchString(l.Text)
}

var fileNames = list("filenames")

// pathish reports whether a value is a file.
func pathish(l *arguments.Leaf, k toolinfo.Kind) bool {
	return k == toolinfo.Path || strings.HasPrefix(l.Text, "~/") || strings.HasPrefix(l.Text, "../") ||
		wordIn(l.Path, fileNames)
}

var querying = list("querying")

// queries reports whether a call of a tool that executes what it is given is a query that only looks.
// It is one of the two places that make a call milder than its tool, so everything in the call must agree:
// the tool is one for queries, each order in it only looks, and nothing stands beside them but what the
// user or a record they named says. An argument that is added can only end this, never bring it about.
func (j *judging) queries(d Deed, values []arguments.Leaf) bool {
	found := slices.ContainsFunc(values, func(l arguments.Leaf) bool { return l.Quoted && j.asksGraph(&l) })
	switch {
	case d == Execute, d == Unknown, d == Read, found && d == Send: // a query is sent, and only asks
	default:
		return false
	}
	for i := range values {
		l := &values[i]
		if l.Flag || l.Text == "" {
			continue
		}
		switch p := j.resolve(l); {
		case l.Quoted && j.asksGraph(l):
		case p.Role == toolinfo.Command && j.query(l):
			found = true
		case p.Role == toolinfo.Command, p.Role == toolinfo.Target, p.Role == toolinfo.Amount, p.Role == toolinfo.Credential:
			return false
		case l.Quoted:
			if e, _ := j.evidence(l.Text, false); e < Picked {
				return false
			}
		}
	}
	return found
}

// query reports whether an order is one that only looks, given to a tool that takes such orders: its
// definition has the parameter and calls it a query, or nobody told what it takes and its name does.
func (j *judging) query(l *arguments.Leaf) bool {
	if clis[j.m.Tool] {
		return looks(l.Text)
	}
	named := anyOf(arguments.NameWords(j.m.Tool), querying)
	if len(j.m.Params) > 0 {
		_, has := j.m.Param(l.Path)
		named = has && (named || querying[arguments.LastWord(l.Path)])
	}
	return named && j.asksSQL(l.Text)
}

// calls reports whether a value is what something is called, or the file that it lies in: the agent may find a name.
func (j *judging) calls(miss *mandate.Missing) bool {
	l := arguments.Leaf{Path: miss.Path, Text: miss.Value, Quoted: true}
	p := j.resolve(&l)
	return pathish(&l, p.Kind) || p.Role == toolinfo.Content || mandate.Names(miss.Path)
}

// chooses reports whether a value is one word that says how something is to be: that is no name.
func chooses(miss *mandate.Missing) bool {
	return miss.Role == mandate.Measure && oneWord.MatchString(miss.Value)
}

// ofObject is the evidence for what something is done to, and whether it is the owner's alone to say and they did not: who may do what with
// it, whose it is, or what is selected.
func (j *judging) ofObject(l *arguments.Leaf) (e Evidence, why string, refused bool) {
	if why = j.sweeps(l); why != "" {
		return Nothing, why, true
	}
	e, why = j.evidence(l.Text, false)
	guards := anyOf(arguments.NameWords(l.Path), reachWords) && !narrows[strings.ToLower(l.Text)]
	recorded := figure.MatchString(l.Text) && j.c.records.All().HasSum(l.Text, l.Path) // a number that a record has so
	switch {
	case guards && e <= Agent && !recorded:
		return Nothing, "access rights must come from you", true
	case e < Said && selecting[arguments.LastWord(l.Path)] && j.c.selects(l.Text):
		return Said, "it selects by your words", false
	case e == Nothing && j.c.fullerTown(l.Path, l.Text):
		return Said, "you said the town", false
	}
	return e, why, false
}

var (
	reachWords = list("reach_words")
	narrows    = list("narrows")
	selecting  = list("selecting")
	labelling  = list("labelling")
	joins      = list("query_joins")
)

// sweeps is why a value may select more than the owner's words do, for what is done to it; empty: it selects nothing, or by their words.
func (j *judging) sweeps(l *arguments.Leaf) string {
	if !l.Quoted || j.bound(l.Path) || j.w.Deed == Execute || j.w.Deed == Unknown {
		return ""
	}
	name := arguments.LastWord(l.Path)
	second := labelling[name] && !anyOf(arguments.NameWords(j.m.Tool), labelling) && !j.labels()
	if !selecting[name] && !second || j.c.selects(l.Text) || j.c.index.Said(l.Text) && !strings.ContainsAny(l.Text, "*%") {
		return ""
	}
	return "it selects by what I could not find in your words"
}

// labels reports whether a tool may put labels on what it works on, rather than choose by them: it names no more than one thing.
func (j *judging) labels() bool {
	return j.m.Act == toolinfo.Create || !slices.ContainsFunc(j.m.Params, func(p toolinfo.Param) bool {
		w := arguments.LastWord(strings.TrimSuffix(p.Path, "[]"))
		return strings.HasSuffix(w, "s") && idNames[strings.TrimSuffix(w, "s")]
	})
}

// selects reports whether a query holds what the messages that count now say and nothing else, operators aside: it has a word, and no
// pattern, no choice and no denial of its own.
func (c *Context) selects(query string) bool {
	said := map[string]bool{}
	for _, text := range c.asking {
		for _, t := range tokens(text) {
			said[t], said[stem(t)] = true, true
		}
	}
	n := 0
	for _, term := range strings.Fields(query) {
		if joins[strings.ToLower(term)] {
			continue
		}
		if _, rest, ok := strings.Cut(term, ":"); ok {
			term = rest
		}
		if term = strings.Trim(term, `"'()`); term == "" || strings.ContainsAny(term, "*?%|!~<>=^$[]{}") || strings.HasPrefix(term, "-") {
			return false
		}
		for _, t := range tokens(strings.ToLower(term)) {
			if !said[t] && !said[stem(t)] {
				return false
			}
			n++
		}
	}
	return n > 0
}
