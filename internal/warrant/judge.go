package warrant

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/origin"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/tool"
)

// Of is the warrant of a call.
func (c *Context) Of(name string, args *tool.Args) *Warrant {
	m := c.Meaning(name)
	w := &Warrant{Tool: m.Tool, Deed: deedOf(m)}
	j := &judging{c: c, w: w, m: m}
	fields, err := args.Fields()
	values := leaves("", fields)
	if err != nil || len(values) > maxLeaves {
		w.Deed = "unknown"
		w.add(Order, "", string(args.Raw()), Nothing, "it cannot be read")
		return w
	}
	if inner, vals, ok := c.unwrap(fields); ok {
		j.m, values = inner, vals
		if d := deedOf(inner); graver(d, w.Deed) || w.Deed == "execute" || w.Deed == "unknown" {
			w.Deed = d
		}
	}
	j.read(values)
	return w
}

func (w *Warrant) add(k Kind, path, value string, e Evidence, why string) {
	w.Slots = append(w.Slots, Slot{Kind: k, Path: path, Value: value, Has: e, Why: why})
}

func deedOf(m *meaning.Meaning) string {
	switch m.Act {
	case meaning.Create, meaning.Change:
		if m.Gravity == meaning.Low {
			return "tidy"
		}
	}
	return m.Act.String()
}

var gravities = map[string]int{"read": 0, "tidy": 1, "create": 2, "change": 3, "send": 4, "publish": 5, "unknown": 6, "delete": 7, "execute": 8, "pay": 9, "grant": 10}

func graver(a, b string) bool { return gravities[a] > gravities[b] }

var wrapNames = set("tool tool_name tool_slug toolname action action_name function function_name method operation command_name endpoint_name")

// unwrap finds the tool that a wrapper names.
func (c *Context) unwrap(fields map[string]any) (*meaning.Meaning, []leaf, bool) {
	for k, v := range fields {
		name, ok := v.(string)
		if !ok || !wrapNames[strings.ToLower(strings.Join(nameWords(k), "_"))] || len(nameWords(name)) < 2 || strings.ContainsAny(name, " /") {
			continue
		}
		var inner any
		for k2, v2 := range fields {
			switch strings.ToLower(k2) {
			case "arguments", "args", "params", "parameters", "input", "payload", "data":
				inner = v2
			}
		}
		if inner == nil {
			continue
		}
		return c.Meaning(name), leaves("", inner), true
	}
	return nil, nil, false
}

type judging struct {
	c        *Context
	w        *Warrant
	m        *meaning.Meaning
	tied     bool // an aim or object is the user's
	loose    bool // one is not
	n        int
	textual  bool
	promises map[string]string // argument sources by the contract; nil: the tool is not in it
	allSaid  bool
}

func (j *judging) read(values []leaf) {
	c, m := j.c, j.m
	j.allSaid = true
	if len(c.contracts) > 0 {
		j.promises, _ = c.sources(m)
	}
	workspace := hostTools[m.Tool] && (c.host || len(c.offered) == 0)
	if !workspace && j.browses(values) {
		return
	}
	if j.w.Deed == "read" && !workspace {
		j.doubt(values)
	}
	for i := range values {
		j.value(&values[i], workspace)
	}
	if !c.argued {
		j.free()
		return
	}
	if j.w.Deed == "read" && !workspace && c.secretive(m) {
		e, why := Nothing, "it reads secrets, and you did not ask for them"
		for _, cl := range c.user.scope() {
			if c.matches(cl, m, c.named(m)).nouns > 0 {
				e, why = Said, "you asked"
			}
		}
		j.w.add(Act, "", m.Tool, e, why)
	}
	if j.w.Deed == "read" || workspace {
		return
	}
	e, why := c.act(m, j)
	j.w.add(Act, "", m.Tool, e, why)
}

var secretNouns = set("secret secrets password passwords credential credentials token tokens clipboard keychain cookie cookies microphone camera keylog apikey")

func (c *Context) secretive(m *meaning.Meaning) bool {
	for _, w := range c.nameOf(m) {
		if secretNouns[w] {
			return true
		}
	}
	return false
}

// doubt looks at what a read is given: who to tell, how much, what to decide, where to put
// something make it none.
func (j *judging) doubt(values []leaf) {
	aim, body, money, choice, place := false, false, false, false, false
	for i := range values {
		l := &values[i]
		p := j.m.Resolve(l.path, l.text)
		name := nameWords(l.path)
		last := ""
		if len(name) > 0 {
			last = name[len(name)-1]
		}
		aim = aim || p.Role == meaning.Target && (strings.Contains(l.text, "@") || p.Kind == meaning.Person || p.Kind == meaning.Email)
		body = body || p.Role == meaning.Content && (last == "body" || last == "message" || last == "text" || last == "subject")
		money = money || p.Role == meaning.Amount && (last == "amount" || last == "price" || last == "sum") && !strings.HasPrefix(strings.ToLower(j.m.Verb), "convert")
		choice = choice || last == "decision" || last == "approve" || last == "vote" || last == "consent"
		place = place || strings.Contains(strings.ToLower(l.path), "save") && (p.Kind == meaning.Path || last == "path") || last == "destination" || last == "outfile"
	}
	switch {
	case aim && body:
		j.w.Deed = "send"
	case money && !computes[j.m.Verb] && j.m.Act != meaning.Read || money && actsOnMoney(j.c.nameOf(j.m)):
		j.w.Deed = "pay"
	case choice:
		j.w.Deed = "grant"
	case place:
		j.w.Deed = "create"
	}
}

func actsOnMoney(words []string) bool {
	for _, w := range words {
		switch w {
		case "payment", "payments", "funds", "balance", "charge", "money", "invoice", "card":
			return true
		}
	}
	return false
}

var computes = set("calculate compute convert estimate simulate predict check find search get list show compare analyze analyse evaluate determine quote forecast validate format")

// free lets everything be but what is dangerous whoever asks: nobody but the user has
// said anything.
func (j *judging) free() {
	for i := range j.w.Slots {
		s := &j.w.Slots[i]
		if s.Kind == Order || s.Kind == Place || s.Has < Own && len(s.Value) > 5 && strings.Contains(j.c.defs.String(), s.Value) {
			continue
		}
		s.Has = Said
	}
	if j.c.defs.Len() > 0 && gravities[j.w.Deed] >= gravities["send"] && len(j.c.user.clauses) > 0 {
		for _, cl := range j.c.user.scope() {
			if cl.classes.Any(acting) || !cl.question {
				return
			}
		}
		j.w.add(Act, "", j.m.Tool, Nothing, "you only asked a question")
	}
}

var pointing = set("click tap press type fill select hover drag check uncheck focus scroll")

// browses judges what is done to an element of a page by what the element says.
func (j *judging) browses(values []leaf) bool {
	if !pointing[j.m.Verb] {
		found := false
		for _, w := range j.c.nameOf(j.m) {
			found = found || pointing[w]
		}
		if !found {
			return false
		}
	}
	ref := false
	for _, l := range values {
		switch strings.ToLower(l.path) {
		case "ref", "target", "selector", "uid", "element", "index", "fields[].target", "fields[].ref", "x":
			ref = true
		}
	}
	if !ref {
		return false
	}
	j.w.Deed = "read"
	var label vocabulary.Classes
	for _, l := range values {
		name := strings.ToLower(l.path)
		switch {
		case name == "element" || name == "selector" || name == "fields[].name":
			for _, w := range table().Words(l.text) {
				a := table().ClassesOf(w)
				if a.Any(vocabulary.Pay|vocabulary.Delete) || a.Any(vocabulary.Send|vocabulary.Grant|vocabulary.Publish) && !a.Any(vocabulary.Create|vocabulary.Change|vocabulary.Tidy|vocabulary.Read) {
					label |= a
				}
			}
		case strings.HasSuffix(name, "text") || strings.HasSuffix(name, "value") || name == "key" || name == "values":
			e, why := j.c.value(l.text, false)
			if e == Nothing && !j.c.inText(l.text) {
				e, why = Agent, "the agent's own words"
			}
			if e == Nothing {
				j.w.Deed = "change"
				j.slot(Object, l.path, l.text, e, why)
			}
		}
	}
	grave := label
	if grave != 0 && j.c.argued {
		said := false
		for _, cl := range j.c.user.scope() {
			said = said || !cl.question && cl.classes.Any(grave)
		}
		if !said {
			j.w.Deed = "send"
			j.w.add(Act, "", j.m.Tool, Nothing, "nothing you said asks for what the button says")
		}
	}
	return true
}

func (j *judging) value(l *leaf, workspace bool) {
	c, m := j.c, j.m
	c.grave = j.w.Deed == "pay" || j.w.Deed == "delete" || j.w.Deed == "grant"
	if l.flag || strings.TrimSpace(l.text) == "" {
		return
	}
	p := m.Resolve(l.path, l.text)
	if workspace {
		if p.Role == meaning.Command || commandTools[m.Tool] && l.quoted && !l.later && p.Role != meaning.Control {
			for _, cmd := range l.commands() {
				j.command(&cmd)
			}
			return
		}
		if m.Act != meaning.Read && (p.Role == meaning.Selector || p.Kind == meaning.Path) {
			j.file(l)
		}
		return
	}
	if j.w.Deed == "read" && l.quoted && (p.Kind == meaning.URL || addressed(l.path) || startsURL(l.text) || isHost(l.text)) {
		e, why := c.address(l.text)
		if !c.read {
			e = Said
		}
		j.w.add(Cargo, l.path, l.text, e, why)
		return
	}
	nested := strings.Contains(l.path, ".")
	switch p.Role {
	case meaning.Target:
		for _, part := range split(l.text) {
			e, why := c.value(part, true)
			if p.Kind == meaning.URL || startsURL(part) {
				if e, why = c.address(part); e == Followed {
					e = Nothing
				}
			}
			if j.w.Deed == "read" {
				continue
			}
			k := Aim
			if j.w.Deed == "grant" && p.Kind != meaning.Email && p.Kind != meaning.Person && !strings.Contains(part, "@") && rooms(l.path) {
				k = Object // where somebody is let in
			}
			if e == Followed && c.sole(part) {
				e = Picked
			}
			j.slot(k, l.path, part, e, why)
		}
	case meaning.Credential:
		e, why := c.key(l.text)
		j.w.add(Key, l.path, l.text, e, why)
	case meaning.Command:
		if sqlReads(l.text) {
			j.w.Deed = "read"
			return
		}
		e, why := c.value(l.text, false)
		if e < Entailed && c.harmless(m, l) {
			e, why = Entailed, "it builds, tests or looks"
		}
		j.w.add(Order, l.path, l.text, e, why)
		if j.w.Deed == "read" {
			j.w.Deed = "execute"
		}
	case meaning.Selector, meaning.Unclear:
		if j.w.Deed == "read" {
			return
		}
		e, why := c.value(l.text, false)
		k := Object
		if !identifier(l) && (p.Role == meaning.Unclear || nested || !l.quoted) {
			k = Measure
			if e == Nothing && !c.inText(l.text) {
				e, why = Agent, "the agent's own"
			}
		}
		if e == Nothing && j.w.Deed == "create" && !c.inText(l.text) {
			e, why = Agent, "a name the agent chose"
		}
		if l.quoted && pathish(l, p.Kind) && (sensitive(l.text) || steers(l.text) && strings.Contains(path.Base(l.text), ".")) {
			k = Place
		}
		j.slot(k, l.path, l.text, e, why)
		if l.quoted && strings.Contains(strings.TrimSpace(l.text), " ") {
			j.cargo(l)
		}
	case meaning.Content:
		j.cargo(l)
	case meaning.Amount:
		e, why := c.value(l.text, false)
		if e == Nothing && !c.inText(l.text) {
			e, why = Agent, "worked out by the agent"
		}
		j.w.add(Measure, l.path, l.text, e, why)
	}
}

func (j *judging) slot(k Kind, path, value string, e Evidence, why string) {
	e, why = j.promised(path, value, e, why)
	j.w.add(k, path, value, e, why)
	if k == Measure {
		j.textual = j.textual || e == Nothing
		return
	}
	j.n++
	if e == Picked || e == Said && len(value) > 2 {
		j.tied = true
	} else if e < Agent {
		j.loose = true
	}
	if e < Own {
		j.allSaid = false
	}
}

func pathish(l *leaf, k meaning.Kind) bool {
	if k == meaning.Path || strings.HasPrefix(l.text, "~/") || strings.HasPrefix(l.text, "../") {
		return true
	}
	for _, w := range nameWords(l.path) {
		switch w {
		case "path", "file", "filename", "filepath", "files", "paths":
			return true
		}
	}
	return false
}

func rooms(path string) bool {
	for _, w := range nameWords(path) {
		switch w {
		case "channel", "room", "group", "team", "project", "repo", "repository", "space", "workspace", "folder", "list", "org", "organization", "board", "chat", "server", "guild":
			return true
		}
	}
	return false
}

// sole reports whether a value is the only one of its kind in what the user pointed at.
func (c *Context) sole(v string) bool {
	return strings.Contains(v, "@") && len(c.mails) > 0 && c.mails[strings.ToLower(v)] && c.mailDocs[strings.ToLower(v)] == 1
}

func isHost(s string) bool {
	p := origin.Targets(s)
	return len(p) == 1 && (p[0].Kind == origin.Host || p[0].Kind == origin.URL) && p[0].Start == 0 && p[0].End == len(s)
}

var idLike = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_:./@-]*$`)

func identifier(l *leaf) bool {
	w := nameWords(l.path)
	if len(w) > 0 {
		switch w[len(w)-1] {
		case "id", "ids", "key", "sha", "ref", "number", "iid", "uuid", "slug", "name", "ts":
			return true
		}
	}
	if !l.quoted {
		return false
	}
	return idLike.MatchString(l.text) && strings.ContainsAny(l.text, "0123456789") && !datish.MatchString(l.text)
}

var datish = regexp.MustCompile(`^\d{4}-\d\d|^\d{1,2}:\d\d`)

func (j *judging) cargo(l *leaf) {
	if !l.quoted || j.w.Deed == "read" {
		return
	}
	c := j.c
	if len(tokens(l.text)) >= 3 && len(l.text) < 400 && !c.index.Said(l.text) {
		told := false
		c.index.Mentions(l.text, func(m origin.Mention) bool {
			told = commanding(m)
			return !told
		})
		if told {
			j.textual = true
			j.w.add(Cargo, l.path, l.text, Nothing, "a text tells the agent to write this")
		}
	}
	for _, h := range bareHost.FindAllStringSubmatch(l.text, -1) {
		if e, why := c.address(h[1]); e < Followed {
			j.w.add(Cargo, l.path, h[1], e, why)
		}
	}
	for _, p := range origin.Targets(l.text) {
		switch p.Kind {
		case origin.URL, origin.Host:
			if p.Kind == origin.Host && !knownTLD(p.Text) {
				continue
			}
			e, why := c.address(p.Text)
			if private(p.Text) {
				e = Followed
			}
			if e == Nothing && c.copies() && c.index.Of(p.Text).Named {
				e, why = Followed, "of what you want passed on"
			}
			if e == Nothing && c.own[origin.Normal(p.Text)] {
				e, why = Own, "an earlier act returned it"
			}
			j.w.add(Cargo, l.path, p.Text, e, why)
		case origin.Email, origin.IBAN, origin.Phone:
			e, why := c.value(p.Text, false)
			if f := c.index.Of(p.Text); e == Nothing && c.copies() && (f.Named || f.Class == origin.Field) {
				e, why = Followed, "of what you want passed on"
			}
			j.w.add(Cargo, l.path, p.Text, e, why)
		}
	}
}

// copies reports whether the user wants content passed on as it is.
func (c *Context) copies() bool {
	return c.saysAny("forward", "copy", "concatenate", "content", "verbatim", "link", "url", "website", "quote", "paste", "information", "detail", "message", "everything")
}

var tlds = set("com org net io dev app example ai co uk de fr es it nl eu us ca au jp cn kr in br mx pt pl se no dk fi ch at be cz ru ua tr il sa ae info biz me tv shop store online site xyz tech cloud page link live test local internal gov edu mil int is ie gr hu ro bg hr rs lt lv ee sk si")

// knownTLD reports whether a dotted name is a host and not a file or a call in a program.
func knownTLD(h string) bool { return tlds[tld(h)] }

var bareHost = regexp.MustCompile(`(?:^|[^:\w/])//((?:[a-z0-9-]+\.)+[a-z0-9]+)`)

func tld(h string) string { return h[strings.LastIndexByte(h, '.')+1:] }

func split(text string) []string {
	var out []string
	for _, p := range origin.Targets(text) {
		if p.Kind == origin.Email {
			out = append(out, p.Text)
		}
	}
	if len(out) > 1 {
		return out
	}
	return []string{text}
}

// value is the evidence for one value.
func (c *Context) value(v string, aim bool) (Evidence, string) {
	grave := c.grave
	switch strings.ToLower(v) {
	case "me", "self", "primary", "default", "@me", "inbox", "all", "none", "true", "false", "null":
		return Own, "yourself, or a constant"
	}
	if c.refused[origin.Normal(v)] {
		return Nothing, "you turned it down"
	}
	f := c.index.Of(v)
	if f.Class == origin.User {
		if figure.MatchString(v) && !c.numbered(v) {
			return Agent, "a number you said, of something else perhaps"
		}
		return Said, "you said it"
	}
	if f.Class == origin.System {
		return Own, "the operator said it"
	}
	if c.pieces(v) {
		return Said, "you said it in pieces"
	}
	if !aim && c.own[origin.Normal(v)] {
		return Own, "an earlier act returned it"
	}
	target := strings.Contains(v, "@") || len(origin.Targets(v)) > 0
	switch f.Class {
	case origin.Anchored:
		if c.contested(v, target) {
			return Nothing, "a text speaks for it"
		}
		return Picked, fmt.Sprintf("of the record you named (%s)", f.Anchor)
	case origin.Field:
		switch {
		case f.Authored && strings.ContainsAny(v, "@."), c.contested(v, target):
			return Nothing, "somebody else speaks for it: " + f.Excerpt
		case f.Beside && (aim || grave):
			return Nothing, "of a record beside the one you named"
		case c.recordContested(v):
			return Nothing, "somebody else speaks for its record"
		}
		return Picked, "a field of what was looked up"
	case origin.Text:
		switch {
		case c.contested(v, target):
		case !c.papers[f.Step] && !target && idText(v):
			return Picked, "listed in what was looked up"
		case f.Named:
			return Followed, "it stands in what you pointed at"
		}
		if target && f.Named && c.sole(v) && !c.told(v) {
			return Picked, "the only address in what you pointed at"
		}
	}
	if e, why := c.path(v); e > Nothing {
		return e, why
	}
	return Nothing, where(&f)
}

var figure = regexp.MustCompile(`^\d{1,4}$`)

// numbered reports whether the user called something by a short number: "PR 42", "#42".
func (c *Context) numbered(v string) bool {
	for _, said := range c.said {
		for i := strings.Index(said, v); i >= 0; {
			if i > 0 && said[i-1] == '#' {
				return true
			}
			w := tokens(said[:i])
			for n := len(w); n > 0 && n > len(w)-3; n-- {
				if last := w[n-1]; numbered[last] || numbered[stem(last)] || last == "room" || last == "pr" || last == "record" || last == "row" || last == "table" || last == "card" || last == "deal" || last == "contact" || last == "build" || last == "run" {
					return true
				}
			}
			k := strings.Index(said[i+1:], v)
			if k < 0 {
				break
			}
			i += 1 + k
		}
	}
	return false
}

// key is the evidence for a credential: the user's own word, a field of their records, or
// the code a service sent after our act asked for it.
func (c *Context) key(v string) (Evidence, string) {
	e, why := c.value(v, false)
	if e >= Picked {
		return e, why
	}
	f := c.index.Of(v)
	if f.Class == origin.Text && f.Step > c.actedAt && c.actedAt > 0 && len(v) <= 12 && !c.told(v) {
		return Entailed, "the code that came after the act that asked for it"
	}
	return e, why
}

func idText(v string) bool { return len(v) <= 80 && !strings.ContainsAny(v, "@") }

// path is the evidence for a path put together of a folder and a file.
func (c *Context) path(v string) (Evidence, string) {
	i := strings.LastIndexByte(v, '/')
	if i <= 0 || startsURL(v) {
		return Nothing, ""
	}
	dir, base := v[:i], v[i+1:]
	if !c.index.Said(dir) && !c.pieces(dir) && !c.own[origin.Normal(dir)] {
		return Nothing, ""
	}
	f := c.index.Of(base)
	switch {
	case f.Class == origin.User || c.pieces(base):
		return Said, "the folder and the name are yours"
	case f.Class > origin.Unseen && !c.contested(base, false):
		return Picked, "a file of the folder you named"
	case f.Class == origin.Unseen:
		return Picked, "in the folder you named"
	}
	return Nothing, ""
}

// pieces reports whether every distinctive piece of a value is the user's.
func (c *Context) pieces(v string) bool {
	if strings.ContainsAny(v, "@") || startsURL(v) {
		return false
	}
	n := 0
	for _, t := range tokens(v) {
		if stop[t] {
			continue
		}
		if !c.user.stems[stem(t)] {
			return false
		}
		n++
	}
	return n > 0
}

func (c *Context) inText(v string) bool {
	if len(v) < 3 {
		return false
	}
	f := c.index.Of(v)
	return f.Class == origin.Text
}

// contested reports whether free text speaks for a value.
func (c *Context) contested(value string, target bool) bool {
	short := len(origin.Normal(value)) < 5
	found := false
	all := c.index.Mentions(value, func(m origin.Mention) bool {
		before, after := tokens(m.Before), tokens(m.After)
		switch {
		case len(before)+len(after) < 2:
		case short:
			found = numberedBefore(before) && commanding(m)
		case target:
			found = orders(before) || orders(after)
		default:
			found = commanding(m)
		}
		return !found
	})
	return found || !all
}

func (c *Context) told(v string) bool {
	found := false
	c.index.Mentions(v, func(m origin.Mention) bool { found = commanding(m); return !found })
	return found
}

// recordContested reports whether free text speaks for the record of a value by another
// of its fields.
func (c *Context) recordContested(value string) bool {
	found := false
	c.index.Siblings(value, func(text string) bool {
		if w := tokens(text); len(w) > 6 || len(w) == 0 || c.index.Said(text) {
			return true
		}
		telling := false
		for _, t := range tokens(text) {
			telling = telling || distinctive(t) && len(t) > 3
		}
		found = telling && !datish.MatchString(text) && c.contested(text, false)
		return !found
	})
	return found
}

var numbered = set("id number no nr item file event email record entry ticket order issue task transaction message page document account")

func numberedBefore(words []string) bool {
	for i := len(words) - 1; i >= 0 && i >= len(words)-4; i-- {
		w := words[i]
		if numbered[w] {
			return true
		}
		if w != "with" && w != "the" {
			return false
		}
	}
	return false
}

func orders(words []string) bool {
	for _, w := range words {
		if stop[w] {
			return true
		}
	}
	return len(words) > 0 && commanding(origin.Mention{Before: strings.Join(words, " ")})
}

// address is the evidence for an address that is asked or written to.
func (c *Context) address(v string) (Evidence, string) {
	if c.index.Said(v) {
		return Said, "you said it"
	}
	if c.index.SaidHost(v) {
		if c.saidRest(v) {
			return Said, "you named the host"
		}
	}
	if private(v) {
		return Nothing, "an address inside your network"
	}
	f := c.index.Of(v)
	switch f.Class {
	case origin.Anchored, origin.Field:
		if !c.contested(v, false) {
			return Followed, "a field of what was looked up"
		}
	case origin.Text:
		told := false
		c.index.Mentions(v, func(m origin.Mention) bool { told = commanding(m); return !told })
		if !told && c.agreed != nil && (c.agreed.Opens == "linked" || c.agreed.Opens == "search") {
			return Followed, "you want links followed"
		}
		if !told && (f.Named || !c.papers[f.Step]) && (c.saysAny("link", "url", "website", "page", "site", "article", "webpage", "blog") || !c.papers[f.Step]) {
			return Followed, "it stands in what you pointed at"
		}
	}
	return Nothing, where(&f)
}

func (c *Context) saidRest(v string) bool {
	u, err := url.Parse(v)
	if err != nil {
		return false
	}
	f := c.index.Of(v)
	if f.Class >= origin.Text {
		return true
	}
	for _, t := range tokens(u.Path + " " + u.RawQuery + " " + u.Fragment) {
		if !c.user.stems[stem(t)] && !pathWords[t] {
			return false
		}
	}
	return true
}

var pathWords = set("index html htm php search q query page p s en de www api v1 v2 docs home about contact products shop cart login")

func private(v string) bool {
	s := strings.ToLower(v)
	if i := strings.Index(s, "://"); i >= 0 {
		switch s[:i] {
		case "http", "https":
		default:
			return true
		}
		s = s[i+3:]
	}
	for _, p := range []string{"localhost", "127.", "10.", "192.168.", "169.254.", "0.0.0.0", "[::", "metadata."} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func where(f *origin.Finding) string {
	from := "a message"
	if f.Tool != "" {
		from = fmt.Sprintf("%s at step %d", f.Tool, f.Step)
	}
	switch f.Class {
	case origin.Unseen:
		return "it stands nowhere in what was said or read"
	case origin.Text:
		return "it stands in the text of " + from + ": " + f.Excerpt
	}
	return fmt.Sprintf("field `%s` of %s", f.Path, from)
}

var sqlRead = regexp.MustCompile(`(?is)^\s*(?:--[^\n]*\n\s*)*(?:select|with|show|describe|desc|explain|pragma table_info)\b`)
var sqlWrite = regexp.MustCompile(`(?is)\b(?:insert|update|delete|drop|alter|create|truncate|grant|revoke|merge|replace|copy|call|exec|execute|attach|into\s+outfile|load_file|pg_read_file|dblink|lo_import|pg_sleep|set\s+role)\b|;\s*\S`)

// sqlReads reports whether a text is SQL that only reads.
func sqlReads(s string) bool { return sqlRead.MatchString(s) && !sqlWrite.MatchString(s) }

func sensitive(file string) bool {
	return shell.Lasting(file) || shell.Secret(file) || shell.Overseen(file) || strings.HasPrefix(file, "/etc/") || strings.HasPrefix(file, ".config/") || strings.Contains(file, "/.config/")
}
