package origin

import "bytes"

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
var commonWords = wordSet(`event events meeting meetings file files email emails mail message messages document documents calendar list
 transaction transactions account user users item date time day name id status title body description content subject sender recipient
 recipients owner size hour hours minutes confirmed received sent shared drive cloud com org net www http https docx pdf txt xlsx csv
 january february march april may june july august september october november december monday tuesday wednesday thursday friday
 saturday sunday today tomorrow the and for with from are was were been its this that these those your our their his her you them
 she they does did not yes please can could would should will might just also then than there here what which who whom when where how
 why all any some every each other more most next new last first per via into out down about after before fwd hello dear thanks best
 regards true false null none`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range bytes.Fields([]byte(words)) {
		set[string(w)] = true
	}
	return set
}
