package warrant

import (
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/origin"
)

var (
	copies   = list("copies")
	bareHost = regexp.MustCompile(`(?:^|[^:\w/])//((?:[a-z0-9-]+\.)+[a-z0-9]+)|\b((?:\d{1,3}\.){3}\d{1,3}[:/]\w+)`)
	stopSign = strings.NewReplacer("。", ".", "．", ".", "｡", ".")
)

// cargo judges a text that leaves with a call: whether others told the agent to write it,
// and the addresses in it.
func (j *judging) cargo(l *leaves.Leaf) {
	if !l.Quoted || j.w.Deed == Read {
		return
	}
	c := j.c
	j.disclosed(l)
	if len(tokens(l.Text)) >= 3 && len(l.Text) < 400 && !c.index.Said(l.Text) && c.told(l.Text) {
		j.textual = true
		j.w.add(Cargo, l.Path, l.Text, Nothing, "a text tells the agent to write this")
	}
	text := stopSign.Replace(l.Text)
	for _, h := range bareHosts(text) {
		if e, why := c.carried(h[1] + h[2]); e < Followed {
			j.w.add(Cargo, l.Path, h[1]+h[2], e, why)
		}
	}
	for _, p := range origin.Targets(text) {
		switch p.Kind {
		case origin.URL, origin.Host:
			if p.Kind == origin.URL || knownTLD(p.Text) {
				e, why := c.carried(p.Text)
				j.w.add(Cargo, l.Path, p.Text, e, why)
			}
		case origin.Email, origin.IBAN, origin.Phone:
			e, why := j.evidence(p.Text, false)
			if f := c.index.Of(p.Text); e == Nothing && c.says(copies) && (f.Named || f.Class == origin.Field) && c.looked(p.Text) {
				e, why = Followed, "of what you want passed on"
			}
			j.w.add(Cargo, l.Path, p.Text, e, why)
		}
	}
}

// bareHosts are the addresses of a text that have no scheme. Most texts hold nothing that could be one.
func bareHosts(text string) [][]string {
	numbers := strings.IndexFunc(text, func(r rune) bool { return r >= '0' && r <= '9' })
	if !strings.Contains(text, "//") && (numbers < 0 || strings.IndexByte(text[numbers:], '.') < 0) {
		return nil
	}
	return bareHost.FindAllStringSubmatch(text, -1)
}

// afterScheme is an address without how it is reached: ftp leads outside as well.
func afterScheme(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		return rest
	}
	return address
}

// carried is the evidence for an address that a text carries away.
func (c *Context) carried(address string) (Evidence, string) {
	e, why := c.address(address)
	switch {
	case e < Followed && private(address) && private(afterScheme(address)):
		return Followed, "an address that leads nowhere outside"
	case e > Nothing:
	case c.says(copies) && c.index.Of(address).Named && c.looked(address):
		return Followed, "of what you want passed on"
	case c.isOwn(address):
		return Own, "an earlier act returned it"
	}
	return e, why
}

// looked reports whether every place in which a value stands was looked at: of what only a
// trace is left, nobody knows whether the user pointed at it.
func (c *Context) looked(v string) bool {
	return c.index.Mentions(v, func(origin.Mention) bool { return true }) && !c.lost
}
