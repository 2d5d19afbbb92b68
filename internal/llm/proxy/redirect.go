package proxy

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Redirect points an upstream somewhere else, or adds one, for one start; strict: it must speak the API that is given.
// The key of the file is for the server the file names, and so is what the file vouches for:
// another gets neither.
func Redirect(ups []Upstream, to Upstream, strict bool) ([]Upstream, error) {
	i := slices.IndexFunc(ups, func(u Upstream) bool { return u.Name == to.Name })
	switch {
	case i < 0:
		return append(ups, to), nil
	case strict && ups[i].API != to.API:
		return nil, fmt.Errorf("upstream %s: it speaks %s; give one that speaks %s another name", to.Name, ups[i].API, to.API)
	case !sameServer(ups[i].BaseURL, to.BaseURL):
		ups[i].Key, ups[i].Sign, ups[i].PassPaths, ups[i].PassNames = "", nil, nil, nil
	}
	ups[i].BaseURL = to.BaseURL
	return ups, nil
}

// sameServer reports whether two addresses lead to one server, equally well protected.
func sameServer(a, b string) bool {
	one, err1 := url.Parse(a)
	other, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && one.Host != "" && one.Scheme == other.Scheme && strings.EqualFold(one.Host, other.Host)
}
