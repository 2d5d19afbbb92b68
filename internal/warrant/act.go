package warrant

// act is the evidence that the user asked for what the tool does.
func (j *judging) act() (Evidence, string) {
	c, m := j.c, j.m
	if c.user.lookOnly() {
		return Nothing, "you said to change nothing"
	}
	if j.promises != nil {
		return Said, "it is what your message asks for"
	}
	said, asked, near := "", false, false
	for _, cl := range c.user.scope() {
		found := c.matches(cl, m)
		if found.refused {
			return Nothing, "you said not to: " + cl.text
		}
		near = near || found.nouns > 0
		if cl.question {
			continue
		}
		asked = asked || cl.classes.Any(acting)
		if j.fits(found) {
			said = cl.text
		}
	}
	switch {
	case c.agreed != nil:
		return Nothing, "your message does not ask for it"
	case said != "":
		return Said, "you asked: " + said
	case j.allSaid && j.slots > 0 && asked && Delete.graverThan(j.w.Deed):
		return Said, "every value in it is yours"
	case asked && !j.loose && !j.textual && !j.w.Deed.graverThan(Change) && (near || m.Thing != "" && c.things[m.Thing]):
		return Entailed, "a step of what you asked for"
	case (asked || c.user.pointed()) && !j.textual && j.entailed():
		return Entailed, "a step that what you asked for takes"
	case c.user.delegated():
		return Delegated, "you told it to do what it reads"
	}
	return Nothing, "nothing you said asks for it"
}

// fits reports whether a clause asks for this call: for the act and for what it is done to,
// or for the act alone where the values are the user's.
func (j *judging) fits(found match) bool {
	verb := found.verb || found.class
	switch {
	case found.full, verb && found.nouns > 0:
		return true
	case found.verb && (j.tied || j.slots == 0), verb && j.tied && !j.loose:
		return true
	}
	return j.allSaid && j.slots > 0 && (verb || found.nouns > 0)
}

// entailed reports whether a call is a step that other acts take: logging in with a key of
// the user's, filling a cart, choosing.
func (j *judging) entailed() bool {
	n := j.c.named(j.m)
	if !n.enters {
		return n.holds && !j.loose && !j.w.Deed.graverThan(Change)
	}
	keys := 0
	for _, s := range j.w.Slots {
		if s.Kind == Key {
			keys++
			if s.Has < Entailed {
				return false
			}
		}
	}
	return keys > 0 || !j.loose
}
