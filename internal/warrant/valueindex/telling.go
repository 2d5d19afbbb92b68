package valueindex

import (
	_ "embed" // the words are part of the program

	"github.com/tidemark/tidemark/internal/warrant/wordlist"
)

// naming reports whether a field of these tokens could name its record.
func (q *query) naming() bool {
	for i := range q.toks {
		if q.tells(i) || q.figures(i) {
			return true
		}
	}
	return false
}

// distinctive reports whether a token can tell one thing from another.
func distinctive(k Kind, text []byte) bool {
	switch {
	case k.Target():
		return true
	case k == Date || k == Time:
		return false
	}
	digits := 0
	for _, b := range text {
		if roles[b] == digit {
			digits++
		}
	}
	if k == Number || digits == len(text) {
		return digits >= longNumber
	}
	return len(text) > 2 && !commonWords[string(text)]
}

// commonWords name nothing in particular.
var commonWords = lists.Set("common")

//go:embed words.txt
var wordsText string

var lists = wordlist.Read(wordsText)
