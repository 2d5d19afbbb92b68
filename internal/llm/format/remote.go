package format

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

// remoteDepth is how deep a picture or a file is looked into for an address.
const remoteDepth = 6

// remote is the first address in a picture or a file that the provider fetches it from; ""
// where all of it is in the request or lies with the provider already.
func (p *parser) remote(o object, depth int) string {
	for _, f := range o.fields {
		if found := p.remoteIn(f.key, f.value, depth); found != "" {
			return found
		}
	}
	return ""
}

func (p *parser) remoteIn(key string, at, depth int) string {
	switch c := p.doc.Kind(at); {
	case c == '"':
		return p.address(key, p.raw(at))
	case depth >= remoteDepth && (c == '{' || c == '['):
		return "nested too deep"
	case c == '{':
		base := len(p.pool)
		found := p.remote(p.free(at), depth+1)
		p.pool = p.pool[:base]
		return found
	case c == '[':
		for _, e := range p.list(at, "list") {
			if found := p.remoteIn(key, e, depth+1); found != "" {
				return found
			}
		}
	}
	return ""
}

// longest is how long an address may be under a name that is not known to hold one.
const longest = 4096

// scheme is how an address of any kind begins.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]{0,20}://`)

// address is a member's value where it is one. What people may write freely is none, and
// neither is what holds its data itself.
func (p *parser) address(key string, lit []byte) string {
	const inline = "data:"
	if len(lit) > 1+len(inline) && strings.EqualFold(string(lit[1:1+len(inline)]), inline) {
		return ""
	}
	switch key = fold(key); key {
	case "text", "title", "context", "filename", "name", "displayname", "type":
		return ""
	case "data": // some servers that speak Chat fetch a sound whose data is an address
		if !p.api.fetchesData || len(lit) > longest || bytes.ContainsAny(lit, " \n") {
			return ""
		}
	}
	named := key == "url" || key == "uri" || key == "image_url" || key == "file_url" || key == "fileuri"
	if !named && len(lit) > longest { // data without a word about it: its beginning will do
		lit = append(bytes.ReplaceAll(lit[:longest], []byte{'\\'}, nil), '"')
	}
	text := strings.TrimSpace(string(jsonspan.Text(lit)))
	switch {
	case text == "" || len(text) >= len(inline) && strings.EqualFold(text[:len(inline)], inline):
		return ""
	case p.api.uploaded != nil && p.api.uploaded(text):
		return ""
	}
	if named || scheme.MatchString(text) {
		return text
	}
	return ""
}
