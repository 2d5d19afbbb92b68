package warrant

import (
	"net/netip"
	"net/url"
	pathpkg "path"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// address is the evidence for an address that is asked or written to.
func (c *Context) address(v string) (Evidence, string) {
	if valueindex.Bears(v) && !c.index.Written(v, func(uint64) bool { return true }) {
		if c.index.SaidHost(v) && c.spelledSo(v) {
			return Said, "you named the host"
		}
		return Nothing, "it is spelled as nothing that was said or read"
	}
	return c.knownAddress(v)
}

// knownAddress is address for one whose spelling carries nothing.
func (c *Context) knownAddress(v string) (Evidence, string) {
	switch {
	case c.index.Said(v):
		return Said, "you said it"
	case c.index.SaidHost(v) && c.saidRest(v):
		return Said, "you named the host"
	case private(v):
		return Nothing, "an address inside your network"
	}
	f := c.index.Of(v)
	switch f.Class {
	case valueindex.Anchored, valueindex.Field:
		if !c.contested(v, false) {
			return Followed, "a field of what was looked up"
		}
	case valueindex.Text:
		switch {
		case c.agreed != nil && c.agreed.Opens == "linked" && f.Named && !c.placed() && !strings.ContainsAny(v, "?&="):
			return Followed, "you want the links in it followed"
		case !c.isWritten(v, true):
			return Followed, "a list of what was looked up holds it"
		}
	}
	return Nothing, c.where(v, &f)
}

// placed reports whether the user named an address: then a text that bids to open another
// leads away from it.
func (c *Context) placed() bool {
	return slices.ContainsFunc(c.said, func(s string) bool { return strings.Contains(s, "://") || strings.Contains(s, "www.") })
}

var (
	pathWords = list("pathwords")
	links     = list("links")
)

// saidRest reports whether what follows a host the user named leads to what they named there and carries nothing of the agent's:
// it says nothing, asks for words of theirs, or was read, has no query and stays where they pointed. A host is shared by many:
// who named a document there has not named the form beside it.
func (c *Context) saidRest(v string) bool {
	u, err := url.Parse(v)
	if err != nil {
		return false
	}
	if f := c.index.Of(v); f.Class >= valueindex.Text && !f.Perhaps {
		return u.RawQuery == "" && (c.pointedAt(u) || c.says(links))
	}
	return all(tokens(u.Path), func(t string) bool { return pathWords[t] }) && searches(u, c.mine)
}

// linked reports whether an address is a link as pages write those to their own site, without the host: /menu. The user named the site,
// and the page that has the link was brought by the same tool from there: whatever else was read may be private, and what looks like a
// path in it would tell the site of it.
func (c *Context) linked(tool, v string) bool {
	u, err := url.Parse(v)
	plain := err == nil && len(u.Path) > 1 && u.Path == u.EscapedPath() && u.RawQuery == "" && u.Fragment == "" && u.User == nil
	if !plain || !c.index.SaidHost(v) || !c.pointedAt(u) && !c.says(links) {
		return false
	}
	records := c.records.All()
	there := func(value string) bool {
		host, _, _ := strings.Cut(afterScheme(value), "/")
		return strings.EqualFold(host, u.Host)
	}
	return c.index.Returned(u.Path, func(step uint64) bool { return records.Asked(step, tool, there) })
}

// searches reports whether the query of an address asks for words of the user's, by names that say nothing of their own: it is searched.
func searches(u *url.URL, mine func(string) bool) bool {
	query, err := url.ParseQuery(u.RawQuery)
	for key, values := range query {
		if !pathWords[strings.ToLower(key)] || !all(values, mine) {
			return false
		}
	}
	return err == nil && mine(u.Fragment)
}

// ofWords reports whether what follows a host is the user's words or says nothing. To show that carries nothing; to open it may do
// more than look, and who asks how to close an account has named no address that closes it.
func (c *Context) ofWords(v string) bool {
	u, err := url.Parse(v)
	return err == nil && c.mine(u.Path+" "+u.RawQuery+" "+u.Fragment)
}

// mine reports whether each word of a text is the user's or says nothing: who names a shop and shoes may have it searched for them.
func (c *Context) mine(text string) bool {
	return all(tokens(text), func(t string) bool { return pathWords[t] || c.user.stems[stem(t)] })
}

func all(words []string, are func(string) bool) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !are(w) })
}

// pointedAt reports whether the user named the host of an address alone, or something beside or above it there.
func (c *Context) pointedAt(u *url.URL) bool {
	for _, said := range c.spoken {
		for _, p := range valueindex.Targets(said) {
			link := p.Text
			if p.Kind == valueindex.Host {
				link = "https://" + link
			} else if p.Kind != valueindex.URL {
				continue
			}
			if named, err := url.Parse(link); err == nil && strings.EqualFold(named.Host, u.Host) && besideOrBelow(named.Path, u.Path) {
				return true
			}
		}
	}
	return false
}

// besideOrBelow reports whether a path lies in the folder of another one, or below it. What lies in no folder has beside it only
// what lies in none either: the first folder of many hosts is whose it is.
func besideOrBelow(named, path string) bool {
	if named = strings.TrimSuffix(named, "/"); strings.TrimSuffix(path, "/") != strings.TrimSuffix(pathpkg.Clean(path), "/") && path != "" {
		return false // it leads elsewhere than it looks
	}
	folder := named[:strings.LastIndexByte(named, '/')+1]
	switch {
	case named == "", strings.HasPrefix(path, named+"/"):
		return true
	case folder == "/":
		return strings.Count(strings.TrimSuffix(path, "/"), "/") == 1
	}
	return strings.HasPrefix(path, folder)
}

// spelledSo reports whether what follows a host is made of words as the user wrote them, or of ones that say nothing. In the path
// those are numbers of things: a verb there does something.
func (c *Context) spelledSo(v string) bool {
	u, err := url.Parse(v)
	if err != nil || strings.Contains(v, "%") {
		return false
	}
	apart := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	wrote := map[string]bool{}
	for _, said := range c.spoken[max(0, len(c.spoken)-maxAsking):] {
		for _, w := range strings.FieldsFunc(said, apart) {
			wrote[w] = true
		}
	}
	mine := func(w string) bool { return pathWords[w] || wrote[w] }
	thing := func(w string) bool { return mine(w) && (pathWords[w] || strings.ContainsFunc(w, unicode.IsDigit)) }
	words := func(text string) bool { return all(strings.FieldsFunc(text, apart), mine) }
	return all(strings.FieldsFunc(u.Path, apart), thing) && searches(u, words)
}

// listed reports whether a resource is the server's own: it has listed it, or names it in a scheme that leads to no host. What is asked for
// through the protocol reaches nobody but that server; whether something is packed into the name is looked at like any words.
func (j *judging) listed(v string) bool {
	if !j.m.Looks() {
		return false
	}
	scheme, _, ok := strings.Cut(strings.ToLower(v), "://")
	if ok && scheme != "file" && !hosts[scheme] {
		return true
	}
	f := j.c.index.Of(v)
	field := f.Class == valueindex.Field || f.Class == valueindex.Anchored
	return field && !j.c.contested(v, false) || j.c.servers.Says(serverOf(j.m.Tool), v)
}

// hosts are the schemes whose addresses begin with a host.
var hosts = list("hosts")

var inside = list("inside")

// private reports whether an address lies inside the user's machine or network, or is none
// of the web.
func private(v string) bool {
	s := strings.ToLower(v)
	if scheme, rest, ok := strings.Cut(s, "://"); ok {
		if scheme != "http" && scheme != "https" {
			return true
		}
		s = rest
	}
	if strings.Contains(s, "@") {
		return false // what stands before it may look like a host
	}
	host := s
	if i := strings.IndexAny(s, "/?#\\"); i >= 0 {
		host = s[:i]
	}
	if at, err := netip.ParseAddrPort(host); err == nil {
		host = at.Addr().String()
	} else if name, port, ok := strings.Cut(host, ":"); ok && strings.Trim(port, "0123456789") == "" {
		host = name
	}
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	return inside[host]
}

// distant are the addresses that lie elsewhere. The cloud's metadata service does, for a
// command: what it answers was not made here.
func distant(list []string) []string {
	var out []string
	for _, a := range list {
		if !private(a) || strings.HasPrefix(a, "169.") {
			out = append(out, a)
		}
	}
	return out
}

// chosen reports whether the user named every one of some addresses, and there are any.
func (c *Context) chosen(addresses []string) bool {
	for _, u := range addresses {
		if e, _ := c.address(u); e < Own {
			return false
		}
	}
	return len(addresses) > 0
}

// isHost reports whether a value is an address or a host and nothing else.
func isHost(s string) bool {
	if strings.Contains(s, " ") || !strings.Contains(s, ".") && !strings.Contains(s, ":") {
		return false // most values
	}
	p := valueindex.Targets(s)
	return len(p) == 1 && (p[0].Kind == valueindex.Host || p[0].Kind == valueindex.URL) && p[0].Start == 0 && p[0].End == len(s)
}

var tlds = list("tlds")

// knownTLD reports whether a dotted name is a host and not a file or a call in a program.
func knownTLD(h string) bool { return tlds[h[strings.LastIndexByte(h, '.')+1:]] }
