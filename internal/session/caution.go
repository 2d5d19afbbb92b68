package session

import "slices"

// maxCautioned bounds how many cautioned tools of a window are told apart.
const maxCautioned = 8

// Caution is which cautioned tools' output is in play (CAU-02): what the agent proposes
// after it is audited.
type Caution struct {
	last    string // the latest result's tool, if it was cautioned
	turn    []string
	session []string
}

// seen notes a result.
func (c *Caution) seen(tool string, cautioned bool) {
	c.last = ""
	if cautioned {
		c.last = tool
		c.turn, c.session = note(c.turn, tool), note(c.session, tool)
	}
}

// note adds a name to a list nobody else may be sharing.
func note(list []string, name string) []string {
	if slices.Contains(list, name) || len(list) >= maxCautioned {
		return list
	}
	return append(slices.Clip(list), name)
}

// begin starts another turn.
func (c *Caution) begin() { c.last, c.turn = "", nil }

// InPlay are the cautioned tools whose output counts in a window: last, turn or session.
func (t *Taint) InPlay(window string) []string {
	c := &t.caution
	switch {
	case window == "session":
		return c.session
	case window == "turn":
		return c.turn
	case c.last != "":
		return []string{c.last}
	}
	return nil
}
