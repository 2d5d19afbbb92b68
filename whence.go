package tidemark

import (
	"fmt"

	"github.com/tidemark/tidemark/event"
)

// whences are the origins of a value, in words for people.
var whences = map[string]string{
	"user":      "you said it",
	"system":    "your operator's settings say it",
	"own":       "an earlier step of this task made it",
	"anchored":  "it belongs to what you named",
	"field":     "a field of something that was read",
	"other":     "it belongs to something beside what you named",
	"authored":  "whoever wrote what was read says so",
	"contested": "text that was read argues for it",
	"named":     "it stands in the text you pointed to",
	"text":      "it stands in text that was read",
	"unseen":    "it appears nowhere: not in your words, not in anything read",
}

// Whence says in words where a value of a call came from.
func Whence(v event.Shown) string {
	words, ok := whences[v.Origin]
	if !ok {
		words = v.Origin
	}
	if v.Where != "" && v.Where != words {
		words += " (" + v.Where + ")"
	}
	return fmt.Sprintf("%s = %s: %s", v.Path, v.Value, words)
}
