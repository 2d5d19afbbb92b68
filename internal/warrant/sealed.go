package warrant

// Sealed adds values of the user's own words of which only hashes under a key were kept: a
// log holds no secrets, and what was in it before a restart was still said.
func (c *Context) Sealed(key []byte, sums []string) { c.index.Sealed(key, sums) }
