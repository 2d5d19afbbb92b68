package valueindex

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// maxSpelled bounds how often JSON in JSON is taken apart.
const maxSpelled = 3

// spelled is the text that JSON holds: its keys and values, each on lines of its own, as whoever
// wrote them meant them. A host may hand on a page as a text in an object, where the end of a line
// is written \n; who reads the page knows nothing of that. Other content stays as it is.
func spelled(content []byte, depth int) []byte {
	text := bytes.TrimSpace(content)
	if len(text) < 2 || depth >= maxSpelled || bytes.IndexByte([]byte(`{["`), text[0]) < 0 || !json.Valid(text) {
		return content
	}
	var out bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err == io.EOF {
			return out.Bytes()
		}
		if err != nil {
			return content // it is valid, so this does not happen
		}
		switch t := t.(type) {
		case string:
			out.Write(spelled([]byte(t), depth+1))
		case json.Number:
			out.WriteString(t.String())
		default:
			continue // brackets, and what is true, false or nothing
		}
		out.WriteByte('\n')
	}
}

// Written reports whether an address stands somewhere as it is spelled: in the user's words, the operator's, or in a result of one of
// some steps. What a search takes for the same is not enough where spelling may carry something: capital letters, or parameters that
// only count visitors. Of what is kept as hashes nobody knows the spelling.
func (x *Index) Written(address string, of func(step uint64) bool) bool {
	return x.written(address, -2, of)
}

// Returned is Written for results alone: what somebody said is no link of a page.
func (x *Index) Returned(address string, of func(step uint64) bool) bool {
	return x.written(address, 0, of)
}

func (x *Index) written(address string, from int, of func(step uint64) bool) bool {
	if !x.look(address) {
		return false
	}
	want, found := spelling(address), false
	for i := from; i < len(x.shards) && !found; i++ {
		c, spoken := x.user, true
		switch {
		case i == -1:
			c = x.system
		case i >= 0:
			c, spoken = x.shards[i], false
		}
		visit := func(h hit) bool {
			same := spelling(string(c.segText(h.seg)[h.lo:h.hi])) == want
			found = same && (spoken || of(c.docOf(h.seg).step))
			return !found
		}
		c.eachWhole(&x.lex, &x.q, standTries, visit)
		if !found {
			c.eachWithin(&x.lex, &x.q, standWalk, standTries, visit)
		}
	}
	return found
}

// Bears reports whether the spelling of an address may carry something that a search does not see: capital letters or escapes behind its
// host, or parameters that only count visitors.
func Bears(address string) bool {
	if !strings.ContainsAny(address, "?%") && strings.ToLower(address) == address {
		return false // most
	}
	plain := spelling(address)
	end := authority([]byte(plain))
	rest := plain[end:]
	return strings.Contains(rest, "%") || strings.ToLower(rest) != rest || len(untracked([]byte(rest))) != len(rest)
}

// spelling is an address without what nobody can say anything with: the scheme of the web, "www.", the case of the host and a slash
// at the end.
func spelling(address string) string {
	rest := address
	for _, scheme := range []string{"https://", "http://"} {
		if len(rest) >= len(scheme) && strings.EqualFold(rest[:len(scheme)], scheme) {
			rest = rest[len(scheme):]
			break
		}
	}
	end := authority([]byte(rest))
	host := strings.TrimPrefix(strings.ToLower(rest[:end]), "www.")
	return strings.TrimSuffix(host+rest[end:], "/")
}
