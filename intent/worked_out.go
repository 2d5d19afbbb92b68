package intent

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// What the third form has beside the second: values that are worked out from the user's words, choices that are the agent's, things
// that are looked up, what an earlier item made, exceptions, alternatives, limits of what is followed, and what is shown first. All
// of it is checked here by its form and by the tools that were offered; whether it stands in the words is checked beside them.

// The bounds of what is worked out.
const (
	maxWorked  = 16 // values of one argument
	maxExcept  = 16
	maxGroup   = 32 // letters of the name of a choice
	maxListed  = 64 // letters of a value that a schema lists
	maxChoices = 12 // values of a schema that a model is shown
	maxChoice  = 24 // letters of such a value
)

var (
	plainWord   = regexp.MustCompile(`^\p{L}[\p{L}\p{N}]*(?:[_-][\p{L}\p{N}]+)*$`)
	plainNumber = regexp.MustCompile(`^[+-]?[0-9]{1,12}(?:\.[0-9]{1,6})?$`)
	plainDay    = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?$`)
	plainTime   = regexp.MustCompile(`^[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?$`)
	plainChoice = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+-]*$`)
)

// maxPlain is how long a worked out word is.
const maxPlain = 32

// plainly reports whether a value is a number, a switch, a day, a time or one plain word: no address, no path, no text.
func plainly(v string) bool {
	forms := []*regexp.Regexp{plainWord, plainNumber, plainDay, plainTime}
	return len(v) <= maxPlain && slices.ContainsFunc(forms, func(f *regexp.Regexp) bool { return f.MatchString(v) })
}

// worked reports whether the values of an argument that are worked out are of the form: they are plain, or a schema may list them,
// which takenBy looks at.
func (a *Arg) worked() bool {
	if len(a.Is) > 0 && (a.How == "choose" || len(a.What) == 0) {
		return false // it is worked out from something, and then it is not left open
	}
	return len(a.Is) <= maxWorked && !slices.ContainsFunc(a.Is, func(v string) bool { return v == "" || len(v) > maxListed })
}

// takenBy reports whether a parameter takes what is worked out for it: one of the values that its schema lists, or a plain value of
// its type.
func (a *Arg) takenBy(p *Parameter) bool {
	return !slices.ContainsFunc(a.Is, func(v string) bool {
		if len(p.Choices) > 0 {
			return !slices.Contains(p.Choices, v)
		}
		switch p.Type {
		case "number", "integer":
			return !plainNumber.MatchString(v)
		case "boolean":
			return v != "true" && v != "false"
		case "object":
			return true
		}
		return !plainly(v)
	})
}

// choosesWithin reports whether exceptions and the name of a choice are of the form. An exception that nobody can read takes the
// item with it: without it, it would be wider.
func (i *Item) choosesWithin() bool {
	return len(i.Except) <= maxExcept && len(i.Or) <= maxGroup &&
		!slices.ContainsFunc(i.Except, func(e string) bool { return e == "" || len(e) > maxLiteral })
}

// someOf is a list, and nil where it holds nothing.
func someOf(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// ofThird is what a contract has that only the third form has; empty: nothing.
func (c *Contract) ofThird() string {
	for i := range c.Items {
		it := &c.Items[i]
		switch {
		case len(it.Except) > 0:
			return "except"
		case it.Or != "":
			return "or"
		}
		for k := range it.Args {
			switch a := &it.Args[k]; {
			case len(a.Is) > 0:
				return "is"
			case a.How == "thing", a.How == "made", a.How == "choose":
				return a.How
			}
		}
	}
	if slices.ContainsFunc(c.Follow, func(f Follow) bool { return f.Limit != "" }) {
		return "limit"
	}
	if slices.ContainsFunc(c.Never, func(b Ban) bool { return b.First }) {
		return "first"
	}
	return ""
}

// maxEnum bounds the values of a schema's list that are looked at. A longer one lists nothing that could be checked.
const maxEnum = 256

// choicesOf are the values that a schema lists, as texts; nil: there are none, or one of them is no text, number or switch.
func choicesOf(enum []strictjson.Value) []string {
	if len(enum) > maxEnum {
		return nil
	}
	var out []string
	for _, v := range enum {
		switch v.Kind() {
		case '"':
			var s string
			if strictjson.Unmarshal(v, &s) != nil || len(s) > maxListed {
				return nil
			}
			out = append(out, s)
		case '0', 't', 'f':
			out = append(out, string(v))
		case 'n':
		default:
			return nil
		}
	}
	return out
}

// shown are the listed values that a model is shown: short ones of plain signs. Whoever wrote the schema chose them, so that a
// sentence is none.
func (p *Parameter) shown() []string {
	var out []string
	for _, v := range p.Choices {
		if len(v) <= maxChoice && plainChoice.MatchString(v) {
			out = append(out, v)
		}
	}
	return out
}

// Values are values as a tool takes them. Models write numbers and switches as such, or as texts.
type Values []string

// UnmarshalJSON implements json.Unmarshaler.
func (v *Values) UnmarshalJSON(raw []byte) error {
	var list []any
	if err := strictjson.Unmarshal(raw, &list); err != nil {
		return err
	}
	*v = nil
	for _, one := range list {
		switch x := one.(type) {
		case string:
			*v = append(*v, x)
		case bool:
			*v = append(*v, strconv.FormatBool(x))
		case float64:
			*v = append(*v, strconv.FormatFloat(x, 'f', -1, 64))
		default:
			return fmt.Errorf("a value that is worked out is a text, a number or a switch, not %T", one)
		}
	}
	return nil
}
