package grounds

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/origin"
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

// source is where a value came from, and that in words.
type source struct {
	origin  Origin
	near    bool // its record has a word of the user's
	where   string
	excerpt string
}

// Places that have no name of their own.
const (
	nowhere = "nowhere in what was said or read"
	said    = "you said it"
	setup   = "the operator said it"
	ours    = "the answer to an earlier act of this session"
	longAgo = "in something read long ago"
)

// source finds where a value came from.
func (c *Context) source(value string) source {
	f := c.index.Of(value)
	s := source{near: f.Near, where: where(&f), excerpt: f.Excerpt}
	switch {
	case f.Class == origin.User:
		s.origin = User
	case f.Class == origin.System:
		s.origin = System
	case f.Class == origin.Anchored:
		s.origin = Anchored
	case f.Class == origin.Field:
		s.origin = c.field(value, &f)
	case f.Class == origin.Text && f.Named:
		s.origin = Named
	case f.Class == origin.Text:
		s.origin = Text
	}
	return s
}

// field tells the fields apart that nobody named.
func (c *Context) field(value string, f *origin.Finding) Origin {
	switch {
	case f.Authored && strings.ContainsAny(value, "@."):
		return Authored
	case c.contested(value):
		return Contested
	case f.Beside:
		return Other
	}
	return Field
}

// address is source for an address: the user may have named its host.
func (c *Context) address(value string) source {
	if c.index.SaidHost(value) && c.saidQuery(value) {
		return source{origin: User, where: said}
	}
	return c.source(value)
}

// saidQuery reports whether the words of an address's query are the user's: a host they
// named may still be told what they never meant to tell it.
func (c *Context) saidQuery(value string) bool {
	_, query, ok := strings.Cut(value, "?")
	if !ok || c.index.Said(value) {
		return true
	}
	for pair := range strings.SplitSeq(query, "&") {
		_, v, _ := strings.Cut(pair, "=")
		if text, err := url.QueryUnescape(v); err == nil {
			v = text
		}
		for _, t := range tokens(v) {
			if len(t) > 2 && !c.user.tokens[t] {
				return false
			}
		}
	}
	return true
}

// where says in words where a value was found.
func where(f *origin.Finding) string {
	from := "a message"
	if f.Tool != "" {
		from = fmt.Sprintf("%s at step %d", f.Tool, f.Step)
	}
	switch {
	case f.Class == origin.User:
		return said
	case f.Class == origin.System:
		return setup
	case f.Class == origin.Unseen:
		return nowhere
	case f.Class == origin.Text && f.Tool == "" && f.Excerpt == "":
		return longAgo
	case f.Class == origin.Text:
		return "in the text of " + from
	case f.Path == "":
		return "the answer of " + from
	}
	return fmt.Sprintf("field `%s` of %s", f.Path, from)
}
