package valueindex

import "bytes"

// learn takes in the hosts that a text of the user names.
func (c *corpus) learn(link []byte) {
	if h := hostOf(link); h != nil {
		c.hosts[string(h)] = true
	}
}

// SaidHost reports whether the value is a link to the exact host of one the user wrote,
// or to a host they wrote.
func (x *Index) SaidHost(value string) bool {
	q := &x.q
	if !x.look(value) || len(q.toks) != 1 || q.toks[0].kind != URL && q.toks[0].kind != Host {
		return false
	}
	h := hostOf(q.text(0))
	return h != nil && x.hosts[string(h)]
}

// hostOf is the host of a link in its one spelling. A link with a user in front of its
// host, or with a backslash, is read differently by different programs: it has none.
func hostOf(link []byte) []byte {
	if i := bytes.Index(link, []byte("://")); i >= 0 {
		link = link[i+3:]
	}
	host := link[:authority(link)]
	if len(host) == 0 || bytes.IndexByte(host, '@') >= 0 || bytes.IndexByte(link, '\\') >= 0 {
		return nil
	}
	return host
}
