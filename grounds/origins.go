package grounds

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Origin is where a value came from. The zero Origin is Unseen, the strictest.
type Origin uint8

// The origins, strictest first. Those between Text and Field are fields of results that
// somebody outside may have chosen.
const (
	Unseen    Origin = iota // nowhere: made up, encoded, or put together
	Text                    // in free text of a result
	Named                   // in free text of something the user named
	Contested               // a field, but free text argues for the value too
	Authored                // a field of a record in which its author says what they want
	Other                   // a field of a record beside the one the user named
	Field                   // a structured field of a result
	Anchored                // a field of the very record the user named
	Own                     // an id that one of our own acts gave back
	System                  // said by the operator
	User                    // in the user's own words
	None                    // there is no such value
)

var originNames = [...]string{"unseen", "text", "named", "contested", "authored", "other", "field", "anchored", "own", "system", "user", "none"}

// String is the origin's name in rules.
func (o Origin) String() string {
	if int(o) < len(originNames) {
		return originNames[o]
	}
	return originNames[Unseen]
}

// common are words that name no record in particular.
var common = set(`event events meeting meetings file files email emails mail message messages document documents calendar list transaction
transactions account user users item date time day name id status title body description content subject sender recipient recipients owner size
hour hours minutes confirmed received sent shared drive cloud com org net www http https docx pdf txt xlsx csv january february march april
may june july august september october november december monday tuesday wednesday thursday friday saturday sunday today tomorrow
the a an and or of to in on at for with from by is are was were be been it its this that these those my your our their his her me you us
them i we he she they as if so do does did not no yes please can could would should will might just also then than there here what which
who whom when where how why all any some every each other more most next new last first per via into out up down about after before re fwd fw
hi hello dear thanks best regards true false null none`)

// distinctive reports whether a word can tell one record from another.
func distinctive(w string) bool {
	if common[w] || len(w) < 3 {
		return false
	}
	_, err := strconv.Atoi(w)
	return err != nil || len(w) >= 5
}

// said reports whether the user's words hold the value, token by token. Numbers with
// separators are found in any spelling.
func (c *Context) said(value string) bool {
	n := canon(value)
	if n == "" {
		return false
	}
	if exact(value) {
		return c.chunks[strings.ToLower(strings.Trim(value, trims))]
	}
	if strings.Contains(c.words, " "+n+" ") {
		return true
	}
	k := strings.ReplaceAll(n, " ", "")
	return len(k) >= 7 && strings.ContainsAny(k, "0123456789") && strings.Contains(c.run, k)
}

// trims is what stands around a value in a text.
const trims = " \t\r\n\"'`()<>[]{},.;:!?*_"

// exact reports whether a value is an address of some kind: a part of one, or one with a
// part more, is somebody else's.
func exact(value string) bool {
	value = strings.Trim(value, trims)
	if strings.ContainsAny(value, " \t\n") || !strings.ContainsAny(value, "@.") {
		return false
	}
	return strings.Contains(value, "@") || strings.Contains(value, "://") || dotted.MatchString(value)
}

// dotted is a name with a domain at its end, or a number with dots.
var dotted = regexp.MustCompile(`(?i)^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}(?:[/:?#].*)?$`)

// origin finds where a value came from.
func (c *Context) origin(value string) Origin {
	n := canon(value)
	switch {
	case n == "" || c.said(value):
		return User
	case c.operator != "" && strings.Contains(c.operator, " "+n+" "):
		return System
	case c.own[n]:
		return Own
	}
	places := c.index.fields[n]
	if strings.Contains(value, "@") { // tokens alone do not tell where the name ends
		places = slices.DeleteFunc(slices.Clone(places), func(p place) bool { return !strings.EqualFold(p.raw, strings.TrimSpace(value)) })
	}
	if len(places) > 0 {
		return c.fieldOrigin(value, n, places)
	}
	if strings.Contains(value, "@") && !c.index.mails[strings.ToLower(strings.Trim(value, trims))] {
		return Unseen
	}
	found, named := c.inText(n)
	switch {
	case !found:
		return Unseen
	case named:
		return Named
	}
	return Text
}

func (c *Context) fieldOrigin(value, n string, places []place) Origin {
	for _, p := range places {
		a := c.anchored(p.record, n, false)
		if a == 2 || a == 1 && !c.siblingNamed(p.record) {
			return Anchored
		}
	}
	if strings.ContainsAny(value, "@.") && c.allAuthored(places) {
		return Authored
	}
	if c.contested(n) {
		return Contested
	}
	if c.besideNamed(places) {
		return Other
	}
	return Field
}

// anchored says how well the user named a record: 2 by a whole field of it, 1 by a
// distinctive word. The value in question is no evidence for itself, and neither is
// what an author says of himself. Identifying leaves lists out.
func (c *Context) anchored(r int32, except string, identifying bool) int {
	rec := &c.index.records[r]
	siblings := c.index.docs[rec.doc].records
	best := 0
	for _, f := range rec.fields {
		if f.value == except && except != "" || identifying && strings.HasSuffix(f.key, "[]") {
			continue
		}
		words := strings.Fields(f.value)
		if rec.authored && authors[strings.Join(nameWords(f.key), "_")] && (len(words) < 3 || !strings.Contains(c.words, " "+f.value+" ")) {
			continue
		}
		if c.wholeNamed(f.value, words) && c.tells(siblings, func(g string) bool { return g == f.value }) {
			return 2
		}
		if len(words) > 5 || best > 0 {
			continue
		}
		for _, w := range words {
			if c.user.tokens[w] && distinctive(w) && c.tells(siblings, func(g string) bool { return hasWord(g, w) }) {
				best = 1
				break
			}
		}
	}
	return best
}

func (c *Context) wholeNamed(value string, words []string) bool {
	if !strings.Contains(c.words, " "+value+" ") {
		return false
	}
	for _, w := range words {
		if _, err := strconv.Atoi(w); distinctive(w) || err == nil && len(value) >= 4 {
			return true
		}
	}
	return false
}

// maxSiblings bounds how many records of a result are compared.
const maxSiblings = 400

// tells reports whether what fits tells records apart: at most half of them have it.
func (c *Context) tells(siblings []int32, fits func(string) bool) bool {
	if len(siblings) == 1 {
		return true
	}
	n := 0
	looked := siblings[:min(len(siblings), maxSiblings)]
	for _, r := range looked {
		for _, f := range c.index.records[r].fields {
			if fits(f.value) {
				n++
				break
			}
		}
	}
	return n*2 <= len(looked)
}

func hasWord(text, w string) bool {
	for t := range strings.FieldsSeq(text) {
		if t == w {
			return true
		}
	}
	return false
}

// siblingNamed reports whether the user named another record of the same result.
func (c *Context) siblingNamed(r int32) bool {
	siblings := c.index.docs[c.index.records[r].doc].records
	for _, s := range siblings[:min(len(siblings), maxSiblings)] {
		if s != r && c.anchored(s, "", true) == 2 {
			return true
		}
	}
	return false
}

// besideNamed reports whether the value stands only in records beside one that the user
// named.
func (c *Context) besideNamed(places []place) bool {
	for _, p := range places {
		if len(c.index.docs[c.index.records[p.record].doc].records) < 2 || !c.siblingNamed(p.record) {
			return false
		}
	}
	return true
}

func (c *Context) allAuthored(places []place) bool {
	for _, p := range places {
		if !c.index.records[p.record].authored {
			return false
		}
	}
	return true
}

// inText reports whether the value stands in free text, and whether all of that came
// with something the user named.
func (c *Context) inText(n string) (found, named bool) {
	named = true
	c.index.places(n, func(at int32, _ int) bool {
		found = true
		named = named && c.index.docs[c.index.docAt(at)].named
		return named // one place that the user did not name is enough
	})
	if found {
		return true, named
	}
	k := strings.ReplaceAll(n, " ", "")
	if d := c.index.chunks[k]; d > 0 && len(k) >= 10 {
		return true, c.index.docs[d-1].named
	}
	return false, false
}

// externalText reports whether the value stands in free text of something external.
func (c *Context) externalText(n string) bool {
	found := false
	c.index.places(n, func(at int32, _ int) bool {
		found = c.index.docs[c.index.docAt(at)].external
		return !found
	})
	return found
}

var numbered = set("id number no nr item file event email record entry ticket order issue task transaction message page document account")

// contested reports whether free text speaks of the value in a sentence that could be an
// instruction. Of a short value only "id 7" and the like counts.
func (c *Context) contested(n string) bool {
	words := strings.Fields(n)
	short := len(n) <= 4
	found := false
	c.index.places(n, func(at int32, count int) bool {
		lo, hi := c.index.sentence(at, count)
		if int(hi-lo) < len(words)+2 {
			return true
		}
		if short {
			found = c.numberedBefore(at, lo)
		} else {
			found = c.commands(lo, hi, at, at+int32(count))
		}
		return !found
	})
	return found
}

// sentence is the bounds of the sentence around a place.
func (x *index) sentence(at int32, n int) (lo, hi int32) {
	lo, hi = at, at+int32(n)
	for lo > 0 && x.text[lo-1] >= 0 {
		lo--
	}
	for int(hi) < len(x.text) && x.text[hi] >= 0 {
		hi++
	}
	return lo, hi
}

// numberedBefore reports whether a word like "id" or "file" stands just before.
func (c *Context) numberedBefore(at, lo int32) bool {
	for i := at - 1; i >= lo && i >= at-4; i-- {
		w := c.index.word(c.index.text[i])
		if numbered[w] {
			return true
		}
		if w != "with" && w != "the" && w != "id" && w != "number" {
			return false
		}
	}
	return false
}

// commands reports whether the sentence has a word that speaks or orders.
func (c *Context) commands(lo, hi, from, to int32) bool {
	for i := lo; i < hi; i++ {
		if i >= from && i < to {
			continue
		}
		w := c.index.word(c.index.text[i])
		if stop[w] || orders[w] {
			return true
		}
	}
	return false
}

func (x *index) word(id int32) string {
	if int(id) < len(x.names) && id >= 0 {
		return x.names[id]
	}
	return ""
}

var (
	stop = set(`the a an and or of to in on at for with from by is are was were be been it its this that these those my your our their his her me
you us them i we he she they as if so do does did not no yes please can could would should will may might just also then than there here what
which who whom when where how why all any some every each other more most next new last first per via into out up down about after before`)
	orders = func() map[string]bool {
		out := map[string]bool{}
		for w := range wishes {
			out[w] = true
		}
		return out
	}()
)

// hostOf is the address without its scheme, and its host.
func hostOf(value string) (bare, host string) {
	bare = strings.TrimRight(scheme.ReplaceAllString(strings.TrimSpace(value), ""), "/.,;")
	host, _, _ = strings.Cut(bare, "/")
	if i := strings.IndexAny(host, "?#"); i >= 0 {
		host = host[:i]
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	host, _, _ = strings.Cut(host, ":")
	return bare, host
}

var scheme = regexp.MustCompile(`(?i)^(?:https?://)?(?:www\.)?`)

// addressOrigin is origin for an address: the user may have named its host.
func (c *Context) addressOrigin(value string) Origin {
	bare, host := hostOf(value)
	if c.said(value) || host != "" && (c.said(host) || c.said("www."+host)) {
		return User
	}
	return c.origin(bare)
}
