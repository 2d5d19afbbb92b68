package channels

// Status is how a channel fares.
type Status struct {
	Name      string `json:"name"`
	OK        bool   `json:"ok"` // the latest attempt worked
	Open      int    `json:"open"`
	Delivered int64  `json:"delivered"`
	Answered  int64  `json:"answered"`
	Failed    int64  `json:"failed"`
	LastError string `json:"lastError,omitzero"` // of the latest failure, also after it passed
}

// Status reports how the channel fares.
func (c *Channel) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.status
	s.Open = c.active
	return s
}

func (c *Channel) delivered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Delivered++
	c.status.OK = true
}

func (c *Channel) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Answered++
	c.status.OK = true
}

func (c *Channel) failed(what string, err error) {
	c.mu.Lock()
	c.status.Failed++
	c.status.OK, c.status.LastError = false, err.Error()
	c.mu.Unlock()
	c.o.Logger.Warn(what, "channel", c.o.Name, "error", err)
}
