package grounds

import "github.com/tidemark/tidemark/internal/warrant/origin"

// shortest is how long a value must be to be spoken of without a word like "id".
const shortest = 5

// contested reports whether free text speaks of the value in a sentence that could be an
// instruction. Of a short value only "id 7" and the like counts. What cannot be looked
// at counts as well.
func (c *Context) contested(value string) bool {
	short := len(origin.Normal(value)) < shortest
	found := false
	all := c.index.Mentions(value, func(m origin.Mention) bool {
		before, after := tokens(m.Before), tokens(m.After)
		switch {
		case len(before)+len(after) < 2:
		case short:
			found = numberedBefore(before)
		default:
			found = orders(before) || orders(after)
		}
		return !found
	})
	return found || !all
}

// orderedOutside reports whether text from beyond this machine holds a command of more
// than one word.
func (c *Context) orderedOutside(command string) bool {
	return len(tokens(command)) >= 2 && c.mentionedOutside(command)
}

// mentionedOutside reports whether text from beyond this machine holds a value. What
// cannot be looked at counts as well.
func (c *Context) mentionedOutside(value string) bool {
	found := false
	all := c.index.Mentions(value, func(m origin.Mention) bool {
		found = m.External
		return !found
	})
	return found || !all
}

var numbered = set("id number no nr item file event email record entry ticket order issue task transaction message page document account")

// numberedBefore reports whether a word like "id" or "file" stands just before.
func numberedBefore(words []string) bool {
	for i := len(words) - 1; i >= 0 && i >= len(words)-4; i-- {
		w := words[i]
		if numbered[w] {
			return true
		}
		if w != "with" && w != "the" {
			return false
		}
	}
	return false
}

// orders reports whether a sentence has a word that speaks or orders.
func orders(words []string) bool {
	for _, w := range words {
		if _, act := wishes[w]; act || stop[w] {
			return true
		}
	}
	return false
}

var stop = set(`the a an and or of to in on at for with from by is are was were be been it its this that these those my your our their his her me
you us them i we he she they as if so do does did not no yes please can could would should will may might just also then than there here what
which who whom when where how why all any some every each other more most next new last first per via into out up down about after before`)

// common are words that tell nothing in particular.
var common = set(`event events meeting meetings file files email emails mail message messages document documents calendar list transaction
transactions account user users item date time day name id status title body description content subject sender recipient recipients owner size
hour hours minutes confirmed received sent shared drive cloud com org net www http https docx pdf txt xlsx csv january february march april
may june july august september october november december monday tuesday wednesday thursday friday saturday sunday today tomorrow
re fwd fw hi hello dear thanks best regards true false null none`)

// distinctive reports whether a word can tell one thing from another.
func distinctive(w string) bool {
	if common[w] || stop[w] || len(w) < 3 {
		return false
	}
	for _, r := range w {
		if r < '0' || r > '9' {
			return true
		}
	}
	return len(w) >= 5
}
