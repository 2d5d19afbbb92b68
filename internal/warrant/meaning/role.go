package meaning

import (
	"slices"
	"strings"
)

var (
	isCredential = wordSet(paramsCredential)
	isPaging     = wordSet(paramsPaging)
	isCommand    = wordSet(paramsCommand)
	isOtherCode  = wordSet(codeNotRun)
	isContent    = wordSet(paramsContent)
	isSelector   = wordSet(paramsSelector)
	isAmount     = wordSet(paramsAmount)
	isControl    = wordSet(paramsControl)
	isSwitch     = wordSet(controlPrefixes)
	isOwnSide    = wordSet(ownSide)
	isAim        = wordSet(aimWords)
	isStreet     = wordSet(streetWords)
	targets      = targetTable()

	isIdentity   = wordSet("id uuid guid number no key name ref slug handle arn identifier code")
	isDecoration = wordSet("new old updated current given optional raw list array value values string str field param full actual initial my the")
	isDate       = wordSet(`date day time month year start end since before after until deadline duedate when datetime timestamp week
		weekday hour minute due begin expiry expiration checkin checkout birthday`)
	isRevision   = wordSet("new old updated")
	isGivenName  = wordSet("first last display nick given family middle")
	isSecretWord = wordSet("password secret credential token")
	isFetching   = wordSet("import clone sync fork load")
	isFree       = wordSet("query q search keyword term text question")
	isPathWord   = wordSet("path file filename filepath folder directory dir cwd root glob")
	isVenue      = wordSet("hotel restaurant flight company product item airline car vehicle room seat plan ticket event order dish airport show movie")
	isCommonRoom = wordSet("channel room chat conversation group team queue forum inbox mailbox server topic")
)

func targetTable() map[string]Kind {
	t := map[string]Kind{}
	for kind, list := range map[Kind]string{
		Email: targetEmail, URL: targetURL, Host: targetHost, IBAN: targetIBAN, Phone: targetPhone, Person: targetPerson,
	} {
		for w := range strings.FieldsSeq(list) {
			t[w] = kind
		}
	}
	for w := range strings.FieldsSeq(targetPlace) {
		t[w] = Plain
	}
	return t
}

// name is a parameter's name in words.
type name struct {
	all  []string // singular
	head string   // the word that says what it is
	mods []string // the words before it
}

func nameOf(path string) name {
	path = strings.TrimRight(path, "[]0123456789")
	if i := strings.LastIndexAny(path, ".]"); i >= 0 {
		path = path[i+1:]
	}
	var n name
	for _, w := range words(path) {
		n.all = append(n.all, singular(w))
	}
	rest := slices.Clone(n.all)
	for len(rest) > 1 && isDecoration.has(rest[len(rest)-1]) {
		rest = rest[:len(rest)-1]
	}
	for len(rest) > 1 && isDecoration.has(rest[0]) {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		n.head, n.mods = rest[len(rest)-1], rest[:len(rest)-1]
	}
	return n
}

func (n *name) mod(s set) bool { return slices.ContainsFunc(n.mods, s.has) }

// before is the word in front of the head.
func (n *name) before() string {
	if len(n.mods) == 0 {
		return ""
	}
	return n.mods[len(n.mods)-1]
}

// secret tells a password from a page token, and a security code from a country code.
func (n *name) secret() bool {
	switch n.head {
	case "token":
		return !n.mod(isPaging)
	case "code":
		return n.mod(isCredential) || n.before() == "verification" || n.before() == "security"
	case "number":
		return n.before() == "card"
	}
	return isCredential.has(n.head)
}

// param finds the role of one field.
func (m *Meaning) param(f *field) Param {
	n := nameOf(f.path)
	p := Param{Path: f.path}
	p.Role, p.Kind = m.byName(&n, f)
	if p.Role == Unclear {
		p.Role, p.Kind = m.byAbout(&n, f)
	} else if k := f.kindSaid(); k != Plain && (p.Role == Target || p.Role == Selector && p.Kind == Plain) {
		if (p.Kind == Plain || p.Kind == Person) && (k != Date || p.Role == Selector) {
			p.Kind = k
		}
	}
	m.settle(&p, &n, f)
	p.Why = why(&p, f)
	return p
}

// byName goes from what cannot be mistaken to what can.
func (m *Meaning) byName(n *name, f *field) (Role, Kind) {
	_, named := targets[n.head]
	switch {
	case n.head == "":
		return Unclear, Plain
	case f.types == ofBool, len(n.mods) > 0 && isSwitch.has(n.all[0]) && !named && !isDate.has(n.head):
		return Control, Plain
	case n.secret():
		return Credential, Plain
	case n.head == "token", n.head == "orderby", f.fixed && !named:
		return Control, Plain
	}
	if role, kind, ok := m.target(n, f); ok {
		return role, kind
	}
	return m.byHead(n, f)
}

// byHead is for the words that name nobody.
func (m *Meaning) byHead(n *name, f *field) (Role, Kind) {
	number := f.types&ofNumber != 0 && f.types&ofText == 0
	switch {
	case n.head == "code" && n.mod(isOtherCode):
		return Selector, Plain
	case isCommand.has(n.head) && (m.Act == Execute || commandWords.has(n.head) || m.Act == Unknown):
		return Command, Code
	case isCommand.has(n.head):
		return Content, Code
	case m.Act == Execute && (n.head == "arg" || n.head == "argument" || n.head == "input" || n.head == "param" || n.head == "query"):
		return Command, Code
	case isAmount.has(n.head), isAmount.has(n.all[0]) && !isIdentity.has(n.head):
		return Amount, Money
	case n.head == "id" || n.head == "uuid" || n.head == "guid" || n.head == "identifier":
		return Selector, ID
	case isDate.has(n.head):
		return dated(m.Act), Date
	case isPathWord.has(n.head):
		return Selector, Path
	case n.head == "old" || n.head == "new", m.Act == Change && len(n.all) > 1 && isRevision.has(n.all[0]):
		return Content, Text
	case isFree.has(n.head) && m.Act == Read:
		return Selector, Text
	case isControl.has(n.head) && (m.Act != Create || n.head != "role"):
		return Control, Plain
	case number && !isSelector.has(n.head):
		return Control, Plain
	case isContent.has(n.head) && (!isSelector.has(n.head) || m.Act != Read && m.Act != Delete):
		return Content, Text
	case n.head == "name" && (m.Act == Create || n.mod(isGivenName)):
		return Content, Text
	case isSelector.has(n.head), isOwnSide.has(n.head), hasNoun(m.nouns, n.head), isVenue.has(n.head):
		return Selector, Plain
	}
	return Unclear, Plain
}

// dated: a date looks something up, or is part of what is stored.
func dated(a Act) Role {
	if a == Read || a == Delete || a == Unknown {
		return Selector
	}
	return Content
}

// target finds who or what a parameter names outside, and what that is for this act.
func (m *Meaning) target(n *name, f *field) (Role, Kind, bool) {
	kind, ok := targets[n.head]
	word := n.head
	if k, is := targets[n.before()]; is && (isIdentity.has(n.head) && !ok || n.head == "address" && k != Plain) {
		word, kind, ok = n.before(), k, true // user_id, account_number, email_address
	}
	if !ok && isAim.has(n.before()) && isSelector.has(n.head) && !isDate.has(n.head) && n.head != "id" {
		kind, ok = Person, true // target_name, destination_city
	}
	if n.head == "with" || len(n.all) > 1 && n.all[len(n.all)-1] == "to" {
		kind, ok = Person, true // share_with, send_to
	}
	if n.head == "number" && m.Act == Send && (len(n.mods) == 0 || isAim.has(n.before())) {
		kind, ok = Phone, true
	}
	switch {
	case !ok:
		return 0, 0, false
	case word == "to" && m.dateRange(f):
		return Selector, Date, true
	case n.all[0] == "reply" && kind != Email, n.all[0] == "in" && n.head == "to":
		return Selector, ID, true
	case word == "address" && m.postal(n, f):
		return Content, Text, true
	case kind == Email && n.head == "id", kind == Email && n.head == "number":
		return Selector, ID, true // email_id is the id of a mail
	case n.mod(isOwnSide) && !n.mod(isAim):
		return Selector, kind, true
	}
	return m.reached(word, kind, f), kind, true
}

// dateRange: from and to of a search are days.
func (m *Meaning) dateRange(f *field) bool {
	switch {
	case m.outward():
		return false
	case strings.HasPrefix(f.format, "date"), f.format == "time":
		return true
	case m.Act == Read:
		return !hasNoun(f.about, "email") && !hasNoun(f.about, "mail") && !hasNoun(f.about, "recipient")
	}
	return slices.ContainsFunc(f.about, isDate.has)
}

// outward acts reach somebody: nothing a schema says makes their addressees harmless.
func (m *Meaning) outward() bool {
	return m.Act == Send || m.Act == Pay || m.Act == Grant || m.Act == Unknown
}

// postal: where somebody lives is data, unless something is sent there.
func (m *Meaning) postal(n *name, f *field) bool {
	if m.outward() {
		return false
	}
	wired := func(w string) bool { return w == "email" || w == "mail" || w == "url" || w == "web" || w == "ip" }
	if slices.ContainsFunc(f.about, wired) || slices.ContainsFunc(n.mods, wired) {
		return false
	}
	return n.mod(isStreet) || slices.ContainsFunc(f.about, isStreet.has) || len(f.about) == 0
}

// reached decides whether naming somebody reaches them.
func (m *Meaning) reached(word string, kind Kind, f *field) Role {
	outward := kind == URL || kind == Host
	switch m.Act {
	case Read:
		if outward {
			return Target
		}
		return Selector
	case Delete:
		if kind == URL {
			return Target
		}
		return Selector
	case Change, Create:
		if isCommonRoom.has(word) || word == "user" || word == "username" || word == "customer" || word == "account" && m.Act == Change {
			return Selector
		}
		local := f.kindSaid() == Path || hasNoun(m.nouns, "file") || m.Verb == "move" || m.Verb == "copy"
		if (word == "destination" || word == "dest") && local {
			return Selector
		}
		if kind == URL && nouns[m.Thing].any(ofOwn) && !isFetching.has(m.Verb) {
			return Content // a link in a note is kept, not followed
		}
	case Pay:
		trip := word == "destination" && (m.Verb == "book" || m.Verb == "reserve" || m.Verb == "rent")
		if isVenue.has(word) || isCommonRoom.has(word) || trip {
			return Selector
		}
	case Execute:
		if kind == Person || isCommonRoom.has(word) {
			return Selector
		}
	}
	return Target
}

// byAbout is for names that say nothing: the schema's format, then its words.
func (m *Meaning) byAbout(n *name, f *field) (Role, Kind) {
	k := f.kindSaid()
	switch {
	case k == Email || k == URL || k == Host || k == IBAN || k == Phone:
		return m.reached(n.head, k, f), k
	case k == Path:
		return Selector, Path
	case k == Date:
		return dated(m.Act), Date
	case k == Code:
		return m.byHead(&name{all: []string{"code"}, head: "code"}, f)
	case slices.ContainsFunc(f.about, isSecretWord.has):
		return Credential, Plain
	case hasNoun(f.about, "recipient") || hasNoun(f.about, "receiver"):
		return m.reached("recipient", Person, f), Person
	case m.Act == Read && f.types&ofObject == 0 && f.types != 0:
		return Selector, Plain
	}
	return Unclear, Plain
}

// kindSaid is the look of the values, as format and description tell it.
func (f *field) kindSaid() Kind {
	switch f.format {
	case "email", "idn-email":
		return Email
	case "uri", "url", "iri", "uri-reference", "uri-template":
		return URL
	case "hostname", "idn-hostname", "ipv4", "ipv6":
		return Host
	case "date", "date-time", "time", "duration":
		return Date
	case "uuid":
		return ID
	case "phone", "tel":
		return Phone
	case "iban":
		return IBAN
	case "password":
		return Plain
	}
	for i, w := range f.about {
		switch {
		case w == "email" && (i+1 == len(f.about) || f.about[i+1] != "id" && f.about[i+1] != "to"):
			return Email
		case w == "iban":
			return IBAN
		case w == "url" || w == "uri" || w == "webpage" || w == "website":
			return URL
		case w == "phone":
			return Phone
		case w == "sql" || w == "javascript" || w == "python":
			return Code
		case w == "path":
			return Path
		}
	}
	return Plain
}

// settle marks the thing acted on, and keeps an outward write from hiding behind a format.
func (m *Meaning) settle(p *Param, n *name, f *field) {
	if f.format == "password" {
		p.Role = Credential
	}
	if p.Role == Selector && m.Act != Read && (m.Act != Create || p.Kind == ID) && p.Kind != Date && p.Kind != Text {
		own := n.mod(isOwnSide) || isOwnSide.has(n.head)
		p.Object = !own && !strings.Contains(p.Path, "].")
	}
}
