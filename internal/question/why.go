package question

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
)

// slots are the kinds of what a call is made of, as people say them.
var slots = map[string]string{
	"act": "what it does", "aim": "who or where it goes to", "object": "what it acts on", "measure": "how much",
	"cargo": "what it says",
	"order": "what is run", "place": "where it is put", "key": "the key",
}

// slotted is the kind of a slot in words.
func slotted(kind string) string {
	if words, ok := slots[kind]; ok {
		return words
	}
	return text.Shown(kind)
}

// maxRepeated is how long a value may be to be named again beside why it is asked about: in the call it stands whole.
const maxRepeated = 100

// doubt is what speaks against the values of one place of the call.
type doubt struct {
	key    string
	places []string
	told   []string
	known  bool // it is said why, and not only that it was not found
}

// why are what is missing, each value once, with all that speaks against it, and what is the same of several once.
func (c *Card) why() []string {
	var doubts []doubt
	others := slices.ContainsFunc(c.Values, func(v event.Shown) bool { return v.Lacks && v.Path != "" })
	values := slices.Clone(c.Values)
	slices.SortStableFunc(values, func(a, b event.Shown) int { return weight(&a) - weight(&b) })
	for i := range values {
		v := &values[i]
		if !v.Lacks || v.Why == notFound && v.Path == "" && (others || c.onlyOrder()) {
			continue // of the act the first paragraph says enough
		}
		key := v.Slot + "\x00\x00" + v.Value
		if v.Path != "" {
			key = v.Path + "\x00" + v.Value
		}
		at := slices.IndexFunc(doubts, func(d doubt) bool { return d.key == key })
		var before []string
		if at >= 0 {
			before = doubts[at].told
		}
		more := c.beside(*v, before)
		switch {
		case at >= 0:
			doubts[at].told = append(before, more...)
		case len(more) > 0 || c.covered(*v):
			doubts, at = append(doubts, doubt{key: key, places: []string{c.place(v)}, told: more}), len(doubts)
		}
		if at >= 0 {
			doubts[at].known = doubts[at].known || v.Why != "" && v.Why != notFound
		}
	}
	for i := range doubts {
		if d := &doubts[i]; d.known { // which says more
			d.told = slices.DeleteFunc(d.told, func(s string) bool { return s == notFound })
		}
	}
	var out []string
	for _, d := range merged(doubts) {
		told := strings.Join(d.told, "; ")
		if rest, ok := strings.CutPrefix(told, "it stands in the text"); ok && len(d.places) > 1 {
			told = "they stand in the text" + rest
		}
		out = append(out, strings.TrimSuffix(strings.Join(d.places, ", ")+": "+told, ": "))
	}
	return out
}

// place names what is asked about: the parameter, with its value where nothing else has it, or the kind of slot.
func (c *Card) place(v *event.Shown) string {
	if v.Path == "" {
		return slotted(v.Slot)
	}
	covered := c.covered(*v)
	if v.Value == "" || !covered && (len(v.Value) > maxRepeated || strings.Contains(v.Why, "“")) { // a passage has it in it
		return name(v.Path)
	}
	if covered && v.Slot == "order" && v.Why != decides && c.Act == "execute" {
		return name(v.Path) + " runs " + text.Visible(v.Value)
	}
	return name(v.Path) + " = " + text.Visible(v.Value)
}

// merged are doubts of which those that say the same are one; passages of one text are put together.
func merged(list []doubt) []doubt {
	var out []doubt
	for _, d := range list {
		i := slices.IndexFunc(out, func(o doubt) bool { _, same := alike(o.told, d.told); return same })
		if i < 0 {
			out = append(out, d)
			continue
		}
		out[i].told, _ = alike(out[i].told, d.told)
		if !slices.Contains(out[i].places, d.places[0]) {
			out[i].places = append(out[i].places, d.places[0])
		}
	}
	return out
}

// alike are the reasons of two places as one, where they say the same, or quote the same text and say the same of it.
func alike(a, b []string) (both []string, same bool) {
	if len(a) == 0 || len(b) == 0 || !slices.Equal(a[1:], b[1:]) {
		return nil, false
	}
	if a[0] == b[0] {
		return a, true
	}
	from, one, found := strings.Cut(a[0], ": “")
	of, two, also := strings.Cut(b[0], ": “")
	if !found || !also || from != of || !strings.HasPrefix(from, "it stands in the text of ") {
		return nil, false
	}
	passage := stitched(strings.TrimSuffix(one, "”"), strings.TrimSuffix(two, "”"))
	return append([]string{from + ": “" + passage + "”"}, a[1:]...), true
}

// minOverlap is how much two passages have in common to be one.
const minOverlap = 8

// stitched are two passages of a text as one: where one begins in the other it goes on from there, else they stand one behind the other.
func stitched(a, b string) string {
	inner := func(s string) string { return strings.Trim(s, text.Ellipsis) }
	if strings.Contains(a, inner(b)) {
		return a
	}
	if strings.Contains(b, inner(a)) {
		return b
	}
	for _, p := range [][2]string{{a, b}, {b, a}} {
		first, second := strings.TrimSuffix(p[0], text.Ellipsis), strings.TrimPrefix(p[1], text.Ellipsis)
		for n := min(len(first), len(second)); n >= minOverlap; n-- {
			if strings.HasSuffix(first, second[:n]) {
				return first + second[n:]
			}
		}
	}
	return strings.TrimSuffix(a, text.Ellipsis) + " … " + strings.TrimPrefix(b, text.Ellipsis)
}

// covered reports whether the call as it is shown does not hold a value that is asked about, because it is left out there as a secret
// or as content: then it is told beside why it is asked, or nobody could tell what they answer.
func (c *Card) covered(v event.Shown) bool {
	if v.Path == "" || v.Value == "" {
		return false
	}
	oneLine := func(s string) string { return strings.Join(strings.Fields(s), " ") } // as the log keeps values
	return !slices.ContainsFunc(strictjson.Flat(c.Args), func(l strictjson.Leaf) bool {
		return At(v.Path, l.Path) && (strings.Contains(l.Text, v.Value) || strings.Contains(oneLine(l.Text), oneLine(v.Value)))
	})
}

// notFound is said of an act that nothing asks for; the first paragraph says it too.
const notFound = "I could not find it in your words"

// weight puts addresses first, and whom it goes to before what it says.
func weight(v *event.Shown) int {
	switch {
	case strings.Contains(v.Value, "://") || strings.Contains(v.Value, "@"):
		return 0
	case v.Slot != "cargo":
		return 1
	}
	return 2
}

// beside are the reasons of a value but for what the first paragraph or one before it has said.
func (c *Card) beside(v event.Shown, before []string) []string {
	if v.Why == c.Reason && c.Would() != "" {
		v.Why = ""
	}
	return slices.DeleteFunc(reasons(v, before), func(s string) bool { return slices.Contains(before, s) })
}

// reasons are what speaks against a value: why it does, where it comes from, and what it could be taken for.
func reasons(v event.Shown, before []string) []string {
	var out []string
	if v.Why != "" {
		out = append(out, v.Why)
	}
	switch {
	case titled(v) && v.Path != "":
		out = append(out, "its name is "+text.Quote(v.Title))
	case v.Title != "" && v.Path != "":
		out = append(out, "it is in the record "+text.Quote(v.Title))
	}
	if v.Facts != "" {
		out = append(out, "its record says "+text.Quote(v.Facts))
	}
	from, by, _ := strings.Cut(v.From, ", written by ")
	told := func(why string) bool { return strings.HasPrefix(why, "it stands in "+from+":") } // of what is quoted nothing counts
	switch said := told(v.Why) || slices.ContainsFunc(before, told); {
	case from == "" || said && by == "":
	case said:
		out = append(out, "written by "+by)
	default:
		out = append(out, "it comes from "+v.From)
	}
	if v.Look != "" {
		out = append(out, "LOOK CLOSELY: "+v.Look)
	}
	if v.Packed != "" && v.Lacks {
		out = append(out, "unpacked, it begins with "+text.Quote(v.Packed))
	}
	return out
}

// rest are the values that are in order, by why they are: they stand in the call.
func (c *Card) rest() []string {
	var whys []string
	var names [][]string
	for _, v := range c.Values {
		if v.Lacks || v.Has == "none" || v.Path == "" || v.Why == "" {
			continue
		}
		called := name(v.Path)
		if c.covered(v) {
			called += " = " + text.Visible(v.Value)
		}
		if v.Title != "" {
			called += " (" + text.Quote(v.Title) + ")"
		}
		i := slices.Index(whys, v.Why)
		if i < 0 {
			whys, names = append(whys, v.Why), append(names, nil)
			i = len(whys) - 1
		}
		if !slices.Contains(names[i], called) { // entries of a list have one name
			names[i] = append(names[i], called)
		}
	}
	out := make([]string, len(whys))
	for i := range whys {
		out[i] = strings.Join(names[i], ", ") + ": " + whys[i]
	}
	return out
}

// EvidenceLine says in words what stands behind a value of a call, where it comes from, and what it could be taken for.
func EvidenceLine(v event.Shown) string {
	if v.Path == "" {
		return slotted(v.Slot) + ": " + v.Why
	}
	if !v.Lacks {
		v.From = "" // what is in order needs no source
	}
	return fmt.Sprintf("%s = %s: %s", name(v.Path), text.Visible(v.Value), strings.Join(reasons(v, nil), "; "))
}
