package question

// Quotes reports whether the words that gave the item are among those shown.
func (c *Card) Quotes() bool { return c.quotes(c.Item.Quote) }
