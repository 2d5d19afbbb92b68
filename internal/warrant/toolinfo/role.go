package toolinfo

import (
	"slices"
	"strings"
)

var (
	isCredential = wordSet("params_credential")
	isPaging     = wordSet("params_paging")
	isCommand    = wordSet("params_command")
	isOtherCode  = wordSet("code_not_run")
	isContent    = wordSet("params_content")
	isField      = wordSet("params_field")
	isCondition  = wordSet("params_condition")
	isSelector   = wordSet("params_selector")
	isAmount     = wordSet("params_amount")
	isControl    = wordSet("params_control")
	isSwitch     = wordSet("control_prefixes")
	isOwnSide    = wordSet("own_side")
	isAim        = wordSet("aim_words")
	isStreet     = wordSet("street_words")
	targets      = targetTable()

	isIdentity  = wordSet("identity")
	isParameter = wordSet("params_content", "params_field", "params_selector", "params_amount", "params_control", "params_paging",
		"target_email", "target_url", "target_person",
		"target_place", "target_phone", "target_iban", "target_host")
	isDecoration = wordSet("decoration")
	isDate       = wordSet("date")
	isRevision   = wordSet("revision")
	isGivenName  = wordSet("given_name")
	isSecretWord = wordSet("secret_word")
	isFetching   = wordSet("fetching")
	isFree       = wordSet("free")
	isPathWord   = wordSet("path_word")
	isVenue      = wordSet("venue")
	isHanded     = wordSet("handed")
	isSaving     = wordSet("saving")
	isOrdinal    = wordSet("ordinal")
	isSum        = wordSet("sum")
	isLanguage   = wordSet("language")
	isVerdict    = wordSet("verdict")
	isChooser    = wordSet("chooser")
	isAct        = wordSet("act")
	isPersonal   = wordSet("personal")
	isDeciding   = wordSet("params_deciding")
	isGrade      = wordSet("grade")
	isHolder     = wordSet("holder")
	isCommonRoom = wordSet("common_room")
)

// param finds the role of one field.
func (m *Meaning) param(f *field) Param {
	n := nameOf(f.path)
	p := Param{Path: f.path}
	if f.all != nil || f.usual != "" {
		p.Listed = &Listed{Values: f.all, Default: f.usual}
	}
	p.Role, p.Kind = m.byName(&n, f)
	if p.Role == Unclear {
		p.Role, p.Kind = m.byAbout(&n, f)
	} else if k := f.kindSaid(); k != Plain && (p.Role == Target || p.Role == Selector && p.Kind == Plain) {
		if (p.Kind == Plain || p.Kind == Person) && (k != Date || p.Role == Selector) {
			p.Kind = k
		}
	}
	m.settle(&p, &n, f)
	p.Chooses = n.chooses(f)
	p.Decides = m.Act != Read && n.decides(f) || isVerdict.has(n.head) && len(n.mods) == 0 && f.types != ofBool
	p.Writes = m.writesTo(&p, &n, f)
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
	counts := f.types != 0 && f.types&^ofNumber == 0 // how many guests, and not which
	if role, kind, ok := m.target(n, f); ok && !(counts && role == Target && kind == Person) {
		return role, kind
	}
	return m.byHead(n, f)
}

// byHead is for the words that name nobody.
func (m *Meaning) byHead(n *name, f *field) (Role, Kind) {
	if role, kind, ok := m.order(n, f); ok {
		return role, kind
	}
	number := f.types&ofNumber != 0 && f.types&ofText == 0
	switch {
	case n.sum(number):
		return Amount, Money
	case n.record():
		return Selector, ID
	case isDate.has(n.head):
		return dated(m.Act), Date
	case isPathWord.has(n.head):
		return Selector, Path
	case n.head == "old" || n.head == "new", m.Act == Change && len(n.all) > 1 && isRevision.has(n.all[0]):
		return Content, Text
	case isFree.has(n.head) && m.Act == Read:
		return Selector, Text
	case m.controls(n):
		return Control, Plain
	case number && !isSelector.has(n.head):
		return Control, Plain
	case m.content(n):
		return Content, Text
	case isSelector.has(n.head), isOwnSide.has(n.head), hasNoun(m.nouns, n.head), isVenue.has(n.head):
		return Selector, Plain
	}
	return Unclear, Plain
}

// order is for the words of commands and code, and for those that mean one where something
// is executed.
func (m *Meaning) order(n *name, f *field) (Role, Kind, bool) {
	switch {
	case n.head == "code" && (n.mod(isOtherCode) || m.Act == Create && slices.ContainsFunc(m.nouns, isOtherCode.has)):
		return Selector, Plain, true
	case f.statement(n):
		return Command, Code, true
	case isCommand.has(n.head) && (m.Act == Execute || commandWords.has(n.head) || m.Act == Unknown):
		return Command, Code, true
	case isCommand.has(n.head):
		return Content, Code, true
	case m.Act == Execute && isHanded.has(n.head):
		return Command, Code, true
	}
	return Unclear, Plain, false
}

// sum reports whether a name is that of an amount of money.
func (n *name) sum(number bool) bool {
	return isAmount.has(n.head) || isAmount.has(n.all[0]) && !isIdentity.has(n.head) && (number || isSum.has(n.all[0]))
}

// content reports whether a name is that of something which is written down.
func (m *Meaning) content(n *name) bool {
	if (isContent.has(n.head) || isField.has(n.head) && m.writesDown()) && (!isSelector.has(n.head) || m.Act != Read && m.Act != Delete) {
		return true
	}
	return n.head == "name" && (m.Act == Create || n.mod(isGivenName))
}

// controls reports whether a name says how something is done, or how it is to stand.
func (m *Meaning) controls(n *name) bool {
	if isCondition.has(n.head) {
		return m.Act != Read && m.Act != Create
	}
	return isControl.has(n.head) && (m.Act != Create || n.head != "role")
}

// writesDown reports whether the fields of a call are written into something new, or only told: what stands is not changed by them.
func (m *Meaning) writesDown() bool { return m.Act == Read || m.Act == Create || m.Act == Send }

// dated: a date looks something up, or is part of what is stored.
func dated(a Act) Role {
	if a == Read || a == Delete || a == Unknown {
		return Selector
	}
	return Content
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
	case slices.ContainsFunc(f.about[:min(len(f.about), 5)], func(w string) bool { return w == "id" || w == "identifier" }):
		return Selector, ID
	case m.Act == Read && f.types&ofObject == 0 && f.types != 0:
		return Selector, Plain
	}
	return Unclear, Plain
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

// statement reports whether a text is one of a language that can change a database.
func (f *field) statement(n *name) bool {
	if n.head != "query" && n.head != "statement" && n.head != "sql" || f.types&(ofText|ofList) == 0 {
		return false
	}
	return n.head == "sql" || n.mod(isLanguage) || slices.ContainsFunc(f.about, isLanguage.has)
}

// writesTo reports whether a parameter is a place that the call writes to.
func (m *Meaning) writesTo(p *Param, n *name, f *field) bool {
	place := p.Kind == Path || isPathWord.has(n.head)
	switch {
	case f.types == ofBool:
		return false
	case n.saves(), place && slices.ContainsFunc(f.about, isSavingVerb):
		return true
	}
	return place && (m.Act == Create || m.Act == Change) && n.head != "cwd" && !isOwnSide.has(n.head) && !n.mod(isOwnSide)
}

func isSavingVerb(w string) bool {
	v, a := verbOf(w)
	return a != Unknown && isSaving.has(v)
}
