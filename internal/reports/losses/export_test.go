package losses

// Test is the name of the test that shows a cell.
func (c Cell) Test() string { return c.test }
