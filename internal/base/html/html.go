// Package html makes HTML out of values that may say anything. It is pure.
//
// It stands in the place of html/template, which calls methods by name and so keeps every
// method of every type in the program. There are two places a value can go, the text of an
// element and the value of an attribute, and both are escaped by the one function here.
//
// Invariants:
//   - nothing but this package makes an HTML out of text, and it escapes;
//   - attributes are those in a list: none that runs (on...), none that styles;
//   - an address leads to this server or to a place on the page, else nowhere;
//   - elements that run, load or frame something cannot be made but for our own script.
package html

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// HTML is a finished piece of a page.
type HTML struct{ s string }

// String is the piece as it is sent.
func (h HTML) String() string { return h.s }

// Part is what an element is made of: attributes, text and pieces.
type Part interface{ add(*element) }

// T is text.
type T string

// Attr is an attribute; made by A and Flag.
type Attr struct{ name, value string }

// List is several parts in one place.
type List []Part

type element struct{ attrs, inner bytes.Buffer }

func (t T) add(e *element)    { escape(&e.inner, string(t)) }
func (h HTML) add(e *element) { e.inner.WriteString(h.s) }
func (l List) add(e *element) {
	for _, p := range l {
		if p != nil {
			p.add(e)
		}
	}
}

func (a Attr) add(e *element) {
	if a.name == "" {
		return
	}
	e.attrs.WriteByte(' ')
	e.attrs.WriteString(a.name)
	if a.value == "" && flags[a.name] {
		return
	}
	e.attrs.WriteString(`="`)
	escape(&e.attrs, a.value)
	e.attrs.WriteByte('"')
}

// attributes are those that may be written; true for those that hold an address.
var attributes = names(false, `class id title lang dir hidden tabindex role for form name value type rows cols min max step
	maxlength minlength pattern placeholder autocomplete spellcheck inputmode datetime method enctype scope colspan
	checked selected disabled readonly required multiple open content charset media rel wrap width height accesskey
	autocapitalize aria-label aria-labelledby aria-describedby aria-live aria-current aria-hidden aria-busy aria-keyshortcuts
	data-id data-seen data-expires data-now data-state data-session data-keys data-token data-act data-count
	data-proof data-rp data-url data-after data-form data-page data-step data-value data-key data-abandoned`, `href action src formaction`)

func names(addresses bool, plain, located string) map[string]bool {
	out := map[string]bool{}
	for _, n := range strings.Fields(plain) {
		out[n] = addresses
	}
	for _, n := range strings.Fields(located) {
		out[n] = true
	}
	return out
}

// flags are attributes that need no value.
var flags = map[string]bool{
	"hidden": true, "checked": true, "selected": true, "disabled": true, "readonly": true, "required": true, "open": true,
	"multiple": true,
}

// elements are those that may be made.
var elements = names(false, `html head title body main header footer nav section article aside div p span h1 h2 h3 h4 ul ol li
	dl dt dd table caption thead tbody tr th td form fieldset legend label input textarea select option button output
	details summary pre code samp kbd q blockquote bdi mark strong em b i small time a img br hr meter progress dialog
	abbr ins del noscript datalist`, "")

var empty = names(true, "", "input br hr img meta link")

// A is an attribute. One that is not in the list is left out; an address that does not lead
// to this server leads nowhere.
func A(name, value string) Attr {
	located, known := attributes[name]
	if !known {
		return Attr{}
	}
	if located && !local(value) {
		value = "#"
	}
	return Attr{name, value}
}

// Flag is an attribute without a value, where the condition holds.
func Flag(name string, is bool) Attr {
	if !is || !flags[name] {
		return Attr{}
	}
	return Attr{name: name}
}

// Class is the attribute of that name.
func Class(name string) Attr { return A("class", name) }

// local reports whether an address stays on this server.
func local(address string) bool {
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }) {
		return false
	}
	return strings.HasPrefix(address, "#") || strings.HasPrefix(address, "?") ||
		strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//")
}

// El is an element. One that may not be made is a span.
func El(name string, parts ...Part) HTML {
	if _, ok := elements[name]; !ok {
		name = "span"
	}
	return make1(name, parts)
}

func make1(name string, parts []Part) HTML {
	var e element
	List(parts).add(&e)
	var b strings.Builder
	b.Grow(len(name)*2 + e.attrs.Len() + e.inner.Len() + 5)
	b.WriteByte('<')
	b.WriteString(name)
	b.Write(e.attrs.Bytes())
	b.WriteByte('>')
	if empty[name] {
		return HTML{b.String()}
	}
	b.Write(e.inner.Bytes())
	b.WriteString("</")
	b.WriteString(name)
	b.WriteByte('>')
	return HTML{b.String()}
}

// If is a part where the condition holds.
func If(is bool, p Part) Part {
	if !is {
		return List(nil)
	}
	return p
}

// Join is several pieces, one after the other.
func Join(parts ...Part) HTML {
	var e element
	List(parts).add(&e)
	return HTML{e.inner.String()}
}

// Head is what a page says about itself: its title, its style sheets and its modules, and a
// time in seconds after which it is loaded again (0: never).
type Head struct {
	Title   string
	Styles  []string
	Modules []string
	Again   string
	Meta    map[string]string
	Links   map[string]string // further addresses, by their rel: manifest, icon
}

// Page is a whole document.
func Page(h Head, body ...Part) HTML {
	head := List{
		make1("meta", []Part{A("charset", "utf-8")}),
		make1("meta", []Part{A("name", "viewport"), A("content", "width=device-width, initial-scale=1")}),
		make1("meta", []Part{A("name", "color-scheme"), A("content", "light dark")}),
		El("title", T(h.Title)),
	}
	for _, name := range slices.Sorted(maps.Keys(h.Meta)) {
		head = append(head, make1("meta", []Part{A("name", name), A("content", h.Meta[name])}))
	}
	if h.Again != "" {
		head = append(head, make1("meta", []Part{Attr{"http-equiv", "refresh"}, A("content", h.Again)}))
	}
	for _, rel := range slices.Sorted(maps.Keys(h.Links)) {
		head = append(head, make1("link", []Part{A("rel", rel), A("href", h.Links[rel])}))
	}
	for _, s := range h.Styles {
		head = append(head, make1("link", []Part{A("rel", "stylesheet"), A("href", s)}))
	}
	for _, s := range h.Modules {
		head = append(head, make1("script", []Part{A("type", "module"), A("src", s)}))
	}
	page := make1("html", []Part{A("lang", "en"), make1("head", []Part{head}), make1("body", body)})
	return HTML{"<!doctype html>\n" + page.s + "\n"}
}

// Drawing is a picture of internal/draw in the page. Whoever calls this answers for it: it is
// the one way around the escape.
func Drawing(svg []byte) HTML {
	s := string(svg)
	if !strings.HasPrefix(s, "<svg ") || strings.Contains(s, "<script") || strings.Contains(s, "<style") {
		return HTML{}
	}
	return HTML{s}
}

// escape writes text so that it cannot leave the place it stands in.
func escape(b *bytes.Buffer, s string) {
	last := 0
	for i := range len(s) {
		var with string
		switch s[i] {
		case '&':
			with = "&amp;"
		case '<':
			with = "&lt;"
		case '>':
			with = "&gt;"
		case '"':
			with = "&#34;"
		case '\'':
			with = "&#39;"
		case 0:
			with = "\uFFFD"
		default:
			continue
		}
		b.WriteString(s[last:i])
		b.WriteString(with)
		last = i + 1
	}
	b.WriteString(s[last:])
}
