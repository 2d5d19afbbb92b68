package warrant_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestWhatTheLawsOfContentBeginWith(t *testing.T) {
	for i := range tasks {
		e := &tasks[i]
		for _, path := range paths {
			c := e.told(path)
			e.look(c)
			if path == "items" && !e.runs(c, e.good) {
				t.Errorf("%s: what was asked for is asked about", e.name)
			}
			for _, v := range append(e.others, e.evil) {
				if e.runs(c, v) {
					t.Errorf("%s, %s: %s runs: %v", path, e.name, v, e.runs(c, v))
				}
			}
		}
	}
}

// completes is a call that a content makes run which is asked about without it; empty: there is none.
func completes(path string, co content) string {
	for i := range tasks {
		e := &tasks[i]
		for _, looked := range []bool{true, false} {
			for _, ch := range channels {
				for _, v := range append([]string{e.evil}, e.others...) {
					c := e.told(path)
					if looked {
						e.look(c)
					}
					if e.runs(c, v) {
						continue
					}
					s := spoken{ch, co}
					if s.tell(c, e, v); e.runs(c, v) {
						after := ""
						if looked {
							after = ", after the source was read"
						}
						return e.name + ": " + v + " runs after " + s.String() + after
					}
				}
			}
		}
	}
	return ""
}

// Every content alone, through every channel: what is asked about without it is asked about with it.
//
// MAN-02
func TestNoContentCompletesACall(t *testing.T) {
	for _, path := range paths {
		for _, co := range contents {
			t.Run(path+"/"+co.name, func(t *testing.T) {
				if found := completes(path, co); found != "" {
					t.Error(found)
				}
			})
		}
	}
}

// Law d: whatever else is read in the place of something that no item names, a call that is asked about still is.
//
// MAN-02 WAR-03
func TestPropertyWhatWasReadElsewhereNeverCompletesACall(t *testing.T) {
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				e := &tasks[rapid.IntRange(0, len(tasks)-1).Draw(t, "task")]
				value := rapid.SampledFrom(append([]string{e.evil, e.good}, e.others...)).Draw(t, "value")
				var before, after []spoken
				for range rapid.IntRange(1, 3).Draw(t, "results") {
					s := spoken{rapid.SampledFrom(channels).Draw(t, "channel"), rapid.SampledFrom(contents).Draw(t, "before")}
					before = append(before, s)
					s.content = rapid.SampledFrom(contents).Draw(t, "after")
					after = append(after, s)
				}
				at := rapid.IntRange(0, len(before)).Draw(t, "looks at")
				judge := func(list []spoken) bool {
					c := e.told(path)
					for i := range list {
						if i == at {
							e.look(c)
						}
						list[i].tell(c, e, value)
					}
					return e.runs(c, value)
				}
				if value == e.good {
					return // the source that was named holds it
				}
				if !judge(before) && judge(after) {
					t.Fatalf("%s, %s: runs after %s, and not after %s", e.name, value, joined(after), joined(before))
				}
			})
		})
	}
}

// Law d in words that no item has, in no ending of them either: a record that is called by none of them changes nothing, whatever it looks like and
// whichever tool brings it, also where it is the only one of its kind.
//
// MAN-02
func TestPropertyARecordThatNoItemNamesCompletesNothing(t *testing.T) {
	names := rapid.StringMatching(`[A-Z][a-z]{3,7} [A-Z][a-z]{3,7}`)
	rapid.Check(t, func(t *rapid.T) {
		e := &tasks[rapid.IntRange(0, len(tasks)-1).Draw(t, "task")]
		co := rapid.SampledFrom(contents).Draw(t, "content")
		another := *e
		another.person, another.said = names.Draw(t, "name"), names.Draw(t, "words")
		value := rapid.StringMatching(`[a-z]{3,6}-[0-9]{3,5}`).Draw(t, "value")
		if inflected(another.person+" "+another.said+" "+value, e.said+" "+e.person) {
			return
		}
		c := e.told("items")
		if rapid.Bool().Draw(t, "looked") {
			e.look(c)
		}
		if e.runs(c, value) {
			t.Fatalf("%s: %s runs before anything holds it", e.name, value)
		}
		for range rapid.IntRange(1, 3).Draw(t, "results") {
			s := spoken{rapid.SampledFrom(channels).Draw(t, "channel"), co}
			if s.tell(c, &another, value); e.runs(c, value) {
				t.Fatalf("%s: %s runs after %s of %s", e.name, value, s.String(), another.person)
			}
		}
	})
}

// inflected reports whether a word of one text begins as one of another does: names are found in all their endings.
func inflected(a, b string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) })
	}
	for _, v := range words(a) {
		for _, w := range words(b) {
			if len(v) >= 3 && len(w) >= 3 && v[:3] == w[:3] {
				return true
			}
		}
	}
	return false
}

// Laws a and d: an argument more, called as what somebody speaks through brings, does not make what it brought count. Whoever steers the
// agent chooses what a call has beside what it needs.
//
// MAN-02
func TestAnArgumentMoreMakesNoRecordCount(t *testing.T) {
	for _, path := range paths {
		for i := range tasks {
			e := &tasks[i]
			for _, ch := range channels {
				c := e.told(path)
				e.look(c)
				read(c, ch[0], ch[1], fmt.Sprintf(`[{"name":%q,"title":%q,%q:%q}]`, e.person, e.said, e.key, e.evil))
				_, noun, _ := strings.Cut(ch[0], "_")
				for _, more := range []string{noun, strings.TrimSuffix(noun, "s") + "_id", noun + "s"} {
					args := strings.TrimSuffix(fmt.Sprintf(e.args, quote(e.evil)), "}") + `,` + quote(more) + `:"me"}`
					if !asked(of(c, e.tool, args)) {
						t.Errorf("%s, %s: %s %s runs after %s", path, e.name, e.tool, args, ch[0])
					}
				}
			}
		}
	}
}

// Law d in items: nothing that is read adds one. A call of a tool that no item is for is asked about whatever was read.
//
// MAN-02
func TestPropertyNothingThatIsReadAddsAnItem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, other := &tasks[rapid.IntRange(0, len(tasks)-1).Draw(t, "task")], &tasks[rapid.IntRange(0, len(tasks)-1).Draw(t, "other task")]
		if e.name == other.name {
			return
		}
		c := e.told("items")
		for range rapid.IntRange(1, 4).Draw(t, "results") {
			s := someSpoken(t, "a")
			s.tell(c, other, other.good)
			read(c, "read_notice", `{}`, "The owner says: "+other.said+". "+strings.ToUpper(other.said)+"!")
		}
		other.look(c)
		if other.runs(c, other.good) {
			t.Fatalf("%q was said, and %s %s runs", e.said, other.tool, other.good)
		}
	})
}
