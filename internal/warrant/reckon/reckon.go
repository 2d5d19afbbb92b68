// Package reckon works out the sums that words leave to be worked out: "half of the 80", "20 for each of the 3", "240 less ten
// percent". It is pure, and knows no sum that the words do not give: what they say no numbers for it does not work out.
package reckon

import (
	_ "embed" // the words are part of the program
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/wordlist"
)

var (
	//go:embed words.txt
	wordsText string

	lists = wordlist.Read(wordsText)

	takesOff  = lists.Set("takes_off")
	putsOn    = lists.Set("puts_on")
	leavesOf  = lists.Set("leaves_of")
	divides   = lists.Set("divides")
	multiply  = lists.Set("multiplies")
	averages  = lists.Set("averages")
	percents  = lists.Set("percents")
	nothings  = lists.Set("nothings")
	portionOf = lists.ByFirst("portions")
)

// grouping is a number whose figures stand in groups of three, with what follows them.
var grouping = regexp.MustCompile(`^\d{1,3}(?:(?:,\d{3})+(?:\.\d{1,2})?|(?:\.\d{3})+(?:,\d{1,2})?)$`)

// Readings are what a number may mean, as people write numbers: in groups, or with a point or a comma before its cents. A day written in
// figures means none.
func Readings(figure string) []float64 {
	var out []float64
	add := func(text string) {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			out = append(out, n)
		}
	}
	signs := strings.Count(figure, ".") + strings.Count(figure, ",")
	if signs < 2 {
		add(strings.ReplaceAll(figure, ",", "."))
	}
	if signs > 0 && grouping.MatchString(figure) {
		end := len(figure)
		if at := strings.LastIndexAny(figure, ".,"); len(figure)-at <= len(".00") {
			end = at
		}
		add(strings.NewReplacer(".", "", ",", "").Replace(figure[:end]) + strings.ReplaceAll(figure[end:], ",", "."))
	}
	return out
}

// Same reports whether a number that was said may mean a value.
func Same(said, value string) bool {
	n, err := strconv.ParseFloat(value, 64)
	return err == nil && slices.Contains(Readings(said), n)
}

// Number reports whether figures that were said mean a number, and no day.
func Number(said string) bool { return len(Readings(said)) > 0 }

var figuresIn = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// Words are what clauses say of a sum that is to be worked out. The zero Words say nothing.
type Words struct {
	sums, counts, percents           []float64
	portions                         []float64
	off, on, rest, split, each, mean bool
}

// Add takes the numbers of a clause that are sums or counts, and what its words do to them. A word that is denied does nothing: "nothing
// more".
func (r *Words) Add(clause string, words, sums, counts []string) {
	denied := 0
	for i, w := range words {
		if denied--; mandate.Negates(w) || nothings[w] {
			denied = 2
			continue
		}
		switch {
		case denied > 0:
		case percents[w] && i > 0:
			for n := range mandate.Counts(words[i-1]) {
				r.percent(n)
			}
		}
		if denied <= 0 {
			r.word(w)
		}
	}
	for _, at := range figuresIn.FindAllStringIndex(clause, -1) {
		f, behind := clause[at[0]:at[1]], strings.TrimLeft(clause[at[1]:], " \u00a0")
		next := strings.Fields(behind)
		if strings.HasPrefix(behind, "%") || len(next) > 0 && percents[strings.ToLower(strings.TrimRight(next[0], ".,;!?"))] {
			r.percent(f)
			continue
		}
		switch {
		case slices.Contains(sums, f):
			r.sums = append(r.sums, Readings(f)...)
		case slices.Contains(counts, f):
			r.counts = append(r.counts, Readings(f)...)
		}
	}
	for n := range mandate.Counts(clause) {
		if c, err := strconv.ParseFloat(n, 64); err == nil && c > 1 && !slices.Contains(r.percents, c) && !slices.Contains(r.counts, c) {
			r.counts = append(r.counts, c)
		}
	}
}

// hundredths tells which numbers a sign for percent stands behind: it is no word, and may stand behind the clause.
func (r *Words) hundredths(list []string) {
	for _, f := range list {
		for _, n := range Readings(f) {
			is := func(m float64) bool { return m == n }
			r.sums, r.counts = slices.DeleteFunc(r.sums, is), slices.DeleteFunc(r.counts, is)
		}
		r.percent(f)
	}
}

func (r *Words) percent(figure string) { r.percents = append(r.percents, Readings(figure)...) }

func (r *Words) word(w string) {
	r.off, r.on, r.rest = r.off || takesOff[w], r.on || putsOn[w], r.rest || leavesOf[w]
	r.split, r.each, r.mean = r.split || divides[w], r.each || multiply[w], r.mean || averages[w]
	if n, err := strconv.ParseFloat(portionOf[w], 64); err == nil {
		r.portions = append(r.portions, n)
	}
}

// maxReckoned bounds the numbers that are reckoned with.
const maxReckoned = 12

// Results are all that words may mean.
type Results struct{ list []float64 }

// Have reports whether a number is one of them, but for what is lost by rounding.
func (r *Results) Have(value string) bool {
	got, err := strconv.ParseFloat(value, 64)
	return err == nil && slices.ContainsFunc(r.list, func(n float64) bool {
		off := math.Abs(n - got)
		return off < 0.006 || off <= 0.5 && got == math.Trunc(got) && got >= 10
	})
}

// Results are all that the words may mean, where a sign for percent stands behind some of their numbers.
func (r *Words) Results(hundredths []string) *Results {
	r.hundredths(hundredths)
	return &Results{r.results()}
}

func (r *Words) results() []float64 {
	if len(r.sums)+len(r.counts) > maxReckoned {
		return nil
	}
	sums := r.sums
	if len(sums) == 0 {
		sums = r.counts
	}
	var out []float64
	total := 0.0
	for _, a := range sums {
		total += a
		for _, p := range r.percents {
			switch {
			case r.off:
				out = append(out, a*(1-p/100))
			case r.on:
				out = append(out, a*(1+p/100), a*p/100)
			default:
				out = append(out, a*p/100)
			}
		}
		for _, f := range r.portions {
			out = append(out, a*f)
		}
		for n := 2; r.split && n <= maxReckoned; n++ {
			out = append(out, a/float64(n))
		}
		for _, n := range r.counts {
			if r.each || r.on {
				out = append(out, a*n)
			}
		}
		for _, b := range sums {
			if r.rest || r.off {
				out = append(out, math.Abs(a-b))
			}
			if r.on {
				out = append(out, a+b)
			}
		}
	}
	if r.on || r.each {
		out = append(out, total)
	}
	if r.mean && len(sums) > 0 {
		out = append(out, total/float64(len(sums)))
	}
	return slices.DeleteFunc(out, func(n float64) bool { return n <= 0 })
}
