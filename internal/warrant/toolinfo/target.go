package toolinfo

import (
	"slices"
	"strings"
)

func targetTable() map[string]Kind {
	t := map[string]Kind{}
	for kind, list := range map[Kind]string{
		Email: "target_email", URL: "target_url", Host: "target_host", IBAN: "target_iban", Phone: "target_phone", Person: "target_person",
	} {
		for w := range lists.Set(list) {
			t[w] = kind
		}
	}
	for w := range lists.Set("target_place") {
		t[w] = Plain
	}
	return t
}

// target finds who or what a parameter names outside, and what that is for this act.
func (m *Meaning) target(n *name, f *field) (Role, Kind, bool) {
	word, kind, ok := m.named(n)
	switch {
	case !ok:
		return 0, 0, false
	case n.head == "code" && word == "account":
		return Selector, ID, true // of a ledger
	case word == "to" && m.dateRange(f):
		return Selector, Date, true
	case n.all[0] == "reply" && kind != Email, n.all[0] == "in" && n.head == "to":
		return Selector, ID, true
	case word == "address" && m.postal(n, f):
		if !m.writesDown() {
			return Selector, Plain, true
		}
		return Content, Text, true
	case kind == Email && n.head == "id", kind == Email && n.head == "number":
		return Selector, ID, true // email_id is the id of a mail
	case n.mod(isOwnSide) && !n.mod(isAim):
		return Selector, kind, true
	}
	return m.reached(word, kind, f), kind, true
}

// named is the word by which a parameter names somebody, and how.
func (m *Meaning) named(n *name) (word string, kind Kind, ok bool) {
	kind, ok = targets[n.head]
	word = n.head
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
	return word, kind, ok
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
	named := false // and no more
	switch m.Act {
	case Read:
		named = kind != URL && kind != Host
	case Delete:
		named = kind != URL
	case Change, Create:
		return m.writtenTo(word, kind, f)
	case Pay:
		trip := word == "destination" && (m.Verb == "book" || m.Verb == "reserve" || m.Verb == "rent")
		named = isVenue.has(word) || isCommonRoom.has(word) || trip
	case Execute:
		named = kind == Person || isCommonRoom.has(word)
	}
	if named {
		return Selector
	}
	return Target
}

// writtenTo decides whether somebody who is named in a write is reached by it.
func (m *Meaning) writtenTo(word string, kind Kind, f *field) Role {
	local := f.kindSaid() == Path || hasNoun(m.nouns, "file") || m.Verb == "move" || m.Verb == "copy"
	switch {
	case isCommonRoom.has(word) || isHolder.has(word) || word == "account" && m.Act == Change:
		return Selector
	case (word == "destination" || word == "dest") && local:
		return Selector
	case kind == URL && nouns[m.Thing].any(ofOwn) && !isFetching.has(m.Verb):
		return Content // a link in a note is kept, not followed
	}
	return Target
}

// kindSaid is the look of the values, as format and description tell it.
func (f *field) kindSaid() Kind {
	if k, ok := formatKinds[f.format]; ok {
		return k
	}
	for i, w := range f.about {
		if k, ok := aboutKinds[w]; ok && (w != "email" || f.email(i)) {
			return k
		}
	}
	return Plain
}

// email reports whether the word at i is an address and not a mail: "email id", "email to".
func (f *field) email(i int) bool {
	return i+1 == len(f.about) || f.about[i+1] != "id" && f.about[i+1] != "to"
}

// The formats of a schema and the words of a description that tell the look of values.
var (
	formatKinds = map[string]Kind{
		"email": Email, "idn-email": Email,
		"uri": URL, "url": URL, "iri": URL, "uri-reference": URL, "uri-template": URL,
		"hostname": Host, "idn-hostname": Host, "ipv4": Host, "ipv6": Host,
		"date": Date, "date-time": Date, "time": Date, "duration": Date,
		"uuid": ID, "phone": Phone, "tel": Phone, "iban": IBAN, "password": Plain,
	}
	aboutKinds = map[string]Kind{
		"email": Email, "iban": IBAN, "url": URL, "uri": URL, "webpage": URL, "website": URL, "phone": Phone,
		"sql": Code, "javascript": Code, "python": Code, "path": Path,
	}
)
