package meaning

import (
	"slices"
	"strings"
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
	case n.head == "code" && word == "account":
		return Selector, ID, true // of a ledger
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
