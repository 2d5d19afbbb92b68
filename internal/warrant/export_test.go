package warrant

import "github.com/tidemark/tidemark/internal/warrant/mandate"

// Held holds a call against the first item of the latest message, once or once more with a second look: a benchmark
// tells what that costs.
func (c *Context) Held(call *mandate.Call, again bool) bool {
	j := &judging{c: c, w: &Warrant{}}
	m, w := c.agreed.Mandate, world{c: c, strays: map[string]string{}}
	got := m.Cover(call, w, c.records)
	return len(got.Missing) == 0 && (!again || j.unmoved(m, got.Item, call, w))
}

// Took is how many steps the rule took for the call that was judged last.
func (c *Context) Took() int { return c.records.Took() }
