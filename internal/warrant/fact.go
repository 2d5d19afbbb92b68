package warrant

// Fact is a plain question about a call, with yes or no for an answer.
type Fact uint8

// The questions. Those before Danger are answered without a look at the values of the call.
const (
	FactArgued     Fact = iota // somebody but the user has said something: a page, a file, a stranger
	FactOutside                // something from beyond this machine has come in
	FactSpoken                 // the user has said something
	FactDelegated              // the user asked to follow what some content says
	FactWorkspace              // it is done with the host's own tools, where the agent works
	FactActs                   // it changes something, here or outside
	FactDanger                 // it runs or puts something that leaves, stays behind or wrecks
	FactDictated               // every text of it stands in the user's own words
	FactContained              // all its danger is in files that it runs and that nobody has read
	FactInterferes             // the answer would have hung on what nobody named: a fault of ours
)

// Is answers what can be said of any call of a tool without looking at its values.
func (c *Context) Is(f Fact, toolName string) (value, known bool) {
	c.listen()
	switch f {
	case FactArgued:
		return c.argued, true
	case FactOutside:
		return c.outside, true
	case FactDelegated:
		return c.user.delegated(), true
	case FactSpoken:
		return c.user.turn > 0 && !c.foreign, true
	case FactWorkspace:
		return c.workspace(c.meaning(toolName)), true
	}
	return false, false
}
