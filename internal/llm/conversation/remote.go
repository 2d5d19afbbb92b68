package conversation

import (
	"net/url"
	"strings"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/trust"
)

// remoteKind is what a picture or a file is called that the provider fetches.
const remoteKind = "remote_file"

// media is what a picture or a file brings. One in the request is the user's own, whatever
// it shows. One that the provider fetches is a third party's, even where the user named the
// address: nobody knows what stands there by then.
func media(p *format.Part) trust.Label {
	if p.URL == "" {
		return local()
	}
	return trust.Label{
		Level: trust.External, Sensitivity: trust.Internal,
		Sources: []trust.Source{{Level: trust.External, Kind: remoteKind, Detail: host(p.URL)}},
	}
}

// remotes is what instructions of the client bring that the provider fetches.
func remotes(m *format.Message) trust.Label {
	l := nothing()
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == format.Media && p.URL != "" {
			l = l.Join(media(p))
		}
	}
	return l
}

// maxHost is how much of a host's name people are shown.
const maxHost = 100

// host names whoever an address leads to, in letters that show nothing but themselves.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return "an address that cannot be read"
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_:", r) {
			return r
		}
		return '?'
	}, u.Hostname())
	return name[:min(len(name), maxHost)]
}
