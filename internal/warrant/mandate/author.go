package mandate

import (
	"regexp"
	"strings"
)

// Author is who wrote a record: the address or the account that it came from, never the name that they show, which
// anybody may choose. The zero Author is somebody who is not known.
type Author string

var sender = regexp.MustCompile(`^(.*?)\s*<([^<>\s]+)>$`)

// AuthorOf takes a sender apart: the author, and the name that they show, if there is one.
func AuthorOf(sentBy string) (a Author, shown string) {
	sentBy = strings.TrimSpace(sentBy)
	if m := sender.FindStringSubmatch(sentBy); m != nil {
		return Author(m[2]), m[1]
	}
	if strings.ContainsAny(sentBy, " \t") {
		return "", "" // a name and nothing else
	}
	return Author(sentBy), ""
}
