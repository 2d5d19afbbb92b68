package grounds

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/origin"
)

// index holds what results brought in: records with their fields, and free text.
type index struct {
	ids     map[string]int32 // of tokens
	names   []string         // by id
	text    []int32          // tokens of all free text; -1 between sentences
	at      map[int32][]int32
	docs    []doc              // by listing
	starts  []int32            // first token of each listing's text
	chunks  map[string]int32   // long runs without separators: listing + 1
	fields  map[string][]place // where a value is all of a field
	records []record
	mails   map[string]bool // every address with an @, lower case
}

// doc is one result.
type doc struct {
	records  []int32
	named    bool // the call that brought it carried the user's words
	external bool
}

type place struct {
	record int32
	key    string
	raw    string // of values with an @
}

type field struct{ key, value string }

// record is one object of a result: its fields belong together.
type record struct {
	fields   []field
	doc      int32
	authored bool // it says who wrote it, so it says what they want it to say
}

func newIndex() *index {
	return &index{ids: map[string]int32{}, at: map[int32][]int32{}, chunks: map[string]int32{}, mails: map[string]bool{}, fields: map[string][]place{}}
}

// authors are fields in which the writer of a record names themselves.
var authors = set("from sender author reply_to replyto posted_by postedby created_by createdby creator submitter reporter from_name sender_name from_email sent_by")

// add indexes a result.
func (x *index) add(content string, named, external bool) {
	d := int32(len(x.docs))
	x.docs = append(x.docs, doc{named: named, external: external})
	x.starts = append(x.starts, int32(len(x.text)))
	v, ok := origin.Parse([]byte(unwrap(content)))
	if !ok {
		x.plain(content, d)
		return
	}
	x.walk(&v, -1, d, "")
}

var wrapped = regexp.MustCompile("(?s)^(?:<<(.*)>>|```\\w*\\n(.*)```|<\\w+>(.*)</\\w+>)$")

// unwrap takes marks away that some hosts put around a result.
func unwrap(content string) string {
	content = strings.TrimSpace(content)
	if m := wrapped.FindStringSubmatch(content); m != nil {
		return strings.TrimSpace(m[1] + m[2] + m[3])
	}
	return content
}

// plain indexes a result without structure. A list of short lines is one of names.
func (x *index) plain(content string, d int32) {
	switch {
	case !isText(content):
		x.field("", content, x.record(d))
	case listLike(content):
		for line := range strings.Lines(content) {
			if k, v, ok := strings.Cut(line, ":"); ok {
				r := x.record(d)
				x.field("(key)", k, r)
				x.field(k, v, r)
			} else if strings.TrimSpace(line) != "" {
				x.field("", line, x.record(d))
			}
		}
	}
	x.prose(content)
}

func (x *index) record(d int32) int32 {
	r := int32(len(x.records))
	x.records = append(x.records, record{doc: d})
	x.docs[d].records = append(x.docs[d].records, r)
	return r
}

func (x *index) field(key, value string, r int32) {
	n := canon(value)
	if n == "" {
		return
	}
	p := place{record: r, key: key}
	if strings.Contains(value, "@") {
		p.raw = strings.TrimSpace(value)
		x.mail(value)
	}
	x.fields[n] = append(x.fields[n], p)
	rec := &x.records[r]
	rec.fields = append(rec.fields, field{key, n})
	rec.authored = rec.authored || authors[strings.Join(nameWords(key), "_")]
	if strings.Count(n, " ") >= 2 || address.MatchString(value) {
		x.prose(value)
	}
}

func (x *index) walk(v *origin.Value, r, d int32, key string) {
	switch v.Shape {
	case origin.Object:
		x.object(v, r, d)
	case origin.List:
		for i := range v.Kids {
			k := &v.Kids[i]
			switch {
			case k.Shape == origin.Object:
				in := int32(-1)
				if r >= 0 && !plainValues(k) {
					in = r
				}
				x.walk(k, in, d, key)
			case k.Shape == origin.List:
				x.walk(k, r, d, key)
			default:
				if r < 0 {
					x.leaf(key+"[]", k.Text, x.record(d))
				} else {
					x.leaf(key+"[]", k.Text, r)
				}
			}
		}
	default:
		if r < 0 {
			r = x.record(d)
		}
		x.leaf(key, v.Text, r)
	}
}

// plainValues reports whether an object has a value that is neither object nor list.
func plainValues(v *origin.Value) bool {
	for i := range v.Kids {
		if v.Kids[i].Shape == origin.Scalar {
			return true
		}
	}
	return false
}

func (x *index) object(v *origin.Value, r, d int32) {
	plain := plainValues(v)
	me := r
	if r < 0 || plain {
		me = x.record(d)
	}
	for i := range v.Kids {
		k := &v.Kids[i]
		switch {
		case k.Shape != origin.Scalar:
			sub := me
			if k.Shape == origin.Object && !plain {
				sub = x.record(d)
			}
			if !isText(k.Key) {
				x.field("(key)", k.Key, sub)
			}
			x.walk(k, sub, d, k.Key)
		case nameKey(k.Key):
			own := x.record(d)
			x.field("(key)", k.Key, own)
			x.leaf(k.Key, k.Text, own)
		default:
			x.leaf(k.Key, k.Text, me)
		}
	}
}

func (x *index) leaf(key, text string, r int32) {
	switch text {
	case "", "null", "None", "true", "false", "True", "False":
		return
	}
	if isText(text) {
		x.prose(text)
		return
	}
	x.field(key, text, r)
}

// prose indexes free text.
func (x *index) prose(text string) {
	for sentence := range sentences(text) {
		for _, t := range tokens(sentence) {
			id, ok := x.ids[t]
			if !ok {
				id = int32(len(x.ids))
				x.ids[t] = id
				x.names = append(x.names, t)
			}
			x.at[id] = append(x.at[id], int32(len(x.text)))
			x.text = append(x.text, id)
		}
		x.text = append(x.text, -1)
	}
	x.mail(text)
	d := int32(len(x.docs))
	for _, chunk := range strings.Fields(text) {
		if c := compact(chunk); len(c) >= 10 {
			x.chunks[c] = d
		}
	}
}

func (x *index) mail(text string) {
	if !strings.Contains(text, "@") {
		return
	}
	for _, m := range mail.FindAllString(text, -1) {
		x.mails[strings.ToLower(strings.Trim(m, trims))] = true
	}
}

// sentences yields the lines and sentences of a text.
func sentences(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		from := 0
		for i, r := range text {
			end := false
			switch {
			case r == '\n' || r == '\r':
				end = true
			case unicode.IsSpace(r) && i > 0:
				end = strings.IndexByte(".!?;:", text[i-1]) >= 0
			}
			if !end {
				continue
			}
			if i > from && !yield(text[from:i]) {
				return
			}
			from = i
		}
		if from < len(text) {
			yield(text[from:])
		}
	}
}

// places yields where the token sequence stands in free text. It may run over sentences.
func (x *index) places(value string, visit func(at int32, n int) bool) {
	words := strings.Fields(value)
	ids := make([]int32, len(words))
	rare := 0
	for i, w := range words {
		id, ok := x.ids[w]
		if !ok {
			return
		}
		ids[i] = id
		if len(x.at[id]) < len(x.at[ids[rare]]) {
			rare = i
		}
	}
	if len(ids) == 0 {
		return
	}
	for _, p := range x.at[ids[rare]] {
		if from, ok := x.matches(ids, p, rare); ok && !visit(from, len(ids)) {
			return
		}
	}
}

// matches compares the tokens around one of them, stepping over ends of sentences.
func (x *index) matches(ids []int32, p int32, at int) (int32, bool) {
	from := p
	for i, k := p-1, at-1; k >= 0; i-- {
		if i < 0 {
			return 0, false
		}
		if x.text[i] < 0 {
			continue
		}
		if x.text[i] != ids[k] {
			return 0, false
		}
		from = i
		k--
	}
	for i, k := p+1, at+1; k < len(ids); i++ {
		if int(i) >= len(x.text) {
			return 0, false
		}
		if x.text[i] < 0 {
			continue
		}
		if x.text[i] != ids[k] {
			return 0, false
		}
		k++
	}
	return from, true
}

// docAt is the result a token of the text stands in.
func (x *index) docAt(at int32) int32 {
	lo, hi := 0, len(x.starts)
	for lo < hi {
		mid := (lo + hi) / 2
		if x.starts[mid] <= at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return int32(lo - 1)
}

// canon is a value in the form it is looked up by.
func canon(s string) string { return strings.Join(tokens(s), " ") }

func compact(s string) string { return strings.Join(tokens(s), "") }

// isText reports whether a value is free text rather than a field.
func isText(s string) bool {
	return strings.ContainsAny(strings.TrimSpace(s), "\n\r") || len(s) > 100 || len(tokens(s)) > 8
}

var newSentence = regexp.MustCompile(`[.!?]\s+[A-Z]`)

// listLike reports whether a text is a list of names, one to a line.
func listLike(s string) bool {
	lines, short := 0, 0
	for line := range strings.Lines(s) {
		n := len(tokens(line))
		switch {
		case n == 0:
			continue
		case n > 10:
			return false
		case n <= 6:
			short++
		}
		lines++
	}
	return lines >= 2 && short*10 >= 6*lines && !newSentence.MatchString(s)
}

var keyOfName = regexp.MustCompile(`[A-Z ]|@|\.|\d`)

// nameKey reports whether a key is a name rather than the name of a field.
func nameKey(k string) bool { return keyOfName.MatchString(k) && !isText(k) }

var camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// nameWords are the words of a field's or tool's name.
func nameWords(name string) []string {
	name = camel.ReplaceAllString(name, "${1}_${2}")
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r > 127 || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
