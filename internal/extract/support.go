package extract

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// found is what stands in a text, spelt in one way.
type found struct {
	words   string // the text in lower case, its words with single spaces between and around them
	numbers map[string]bool
	clocks  map[string]bool
	days    map[string]bool // with their year
	yearly  map[string]bool // those that are said without one, 01-02
}

//go:embed months.txt
var monthsData string

// months are the names of months, in the languages that are shipped.
var months = readMonths(monthsData)

func readMonths(data string) map[string]int {
	out := map[string]int{}
	for line := range strings.Lines(data) {
		names := strings.Fields(line)
		if len(names) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		n, err := strconv.Atoi(names[0])
		if err != nil {
			panic("months.txt: " + line)
		}
		for _, name := range names[1:] {
			out[name] = n
		}
	}
	return out
}

var (
	numberForm = regexp.MustCompile(`\d[\d.,'\x{a0}\x{202f} ]*`)
	isoForm    = regexp.MustCompile(`(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})`)
	hanForm    = regexp.MustCompile(`(?:(\d{4})\s*[年년]\s*)?(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]`)
	shortForm  = regexp.MustCompile(`(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})\b`)
	barestForm = regexp.MustCompile(`\b(\d{1,2})[./](\d{1,2})[.]?(?:\D|$)`)
	dayMonth   = regexp.MustCompile(`(\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?(?:\s+(?:of|de|di))?\s*(\p{L}+)\.?,?(?:\s+(?:de|del)?\s*(\d{4}))?`)
	monthDay   = regexp.MustCompile(`(\p{L}+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?\b(?:,?\s+(\d{4}))?`)
	clockForm  = regexp.MustCompile(`\b(\d{1,2})[:.hH](\d{2})(?:\s*([aApP])\.?\s?[mM])?`)
	hourForm   = regexp.MustCompile(`\b(\d{1,2})\s*(?:([aApP])\.?\s?[mM]\b|[uU]hr\b|h\b|時|시)`)
)

// look goes through a text.
func look(text string) *found {
	text = norm.NFKC.String(text)
	f := &found{numbers: map[string]bool{}, clocks: map[string]bool{}, days: map[string]bool{}, yearly: map[string]bool{}}
	lower := strings.ToLower(text)
	f.words = " " + strings.Join(strings.FieldsFunc(lower, between), " ") + " "
	for _, run := range numberForm.FindAllString(text, -1) {
		f.number(run)
	}
	f.findDays(lower)
	f.findClocks(text)
	return f
}

// between is what stands between words.
func between(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// number adds a run of digits in every way that it can be read.
func (f *found) number(run string) {
	for _, piece := range append(strings.Fields(run), run) {
		piece = strings.Trim(piece, ".,' \u00a0\u202f")
		for _, point := range []string{".", ",", ""} {
			whole, part := piece, ""
			if point != "" {
				if i := strings.LastIndex(piece, point); i >= 0 {
					whole, part = piece[:i], piece[i+1:]
				}
			}
			n := digits(whole)
			if part != "" {
				n += "." + digits(part)
			}
			if v, err := strconv.ParseFloat(n, 64); err == nil {
				f.numbers[strconv.FormatFloat(v, 'f', -1, 64)] = true
			}
		}
	}
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

func (f *found) findDays(text string) {
	for _, m := range isoForm.FindAllStringSubmatch(text, -1) {
		f.addDay(m[1], m[2], m[3])
	}
	for _, m := range hanForm.FindAllStringSubmatch(text, -1) {
		f.addDay(m[1], m[2], m[3])
	}
	for _, m := range shortForm.FindAllStringSubmatch(text, -1) {
		if len(m[3]) == 2 {
			m[3] = "20" + m[3]
		}
		f.addDay(m[3], m[2], m[1])
		f.addDay(m[3], m[1], m[2])
	}
	for _, m := range barestForm.FindAllStringSubmatch(text, -1) {
		f.addDay("", m[2], m[1])
		f.addDay("", m[1], m[2])
	}
	for _, m := range dayMonth.FindAllStringSubmatch(text, -1) {
		f.addNamed(m[3], m[2], m[1])
	}
	for _, m := range monthDay.FindAllStringSubmatch(text, -1) {
		f.addNamed(m[3], m[1], m[2])
	}
}

func (f *found) addNamed(year, month, day string) {
	if n := months[month]; n > 0 {
		f.addDay(year, strconv.Itoa(n), day)
	}
}

func (f *found) addDay(year, month, day string) {
	m, _ := strconv.Atoi(month) // digits
	d, _ := strconv.Atoi(day)
	if m < 1 || m > 12 || d < 1 || d > 31 {
		return
	}
	if year == "" {
		f.yearly[fmt.Sprintf("%02d-%02d", m, d)] = true
	} else {
		f.days[fmt.Sprintf("%s-%02d-%02d", year, m, d)] = true
	}
}

// day reports whether a day stands in the text. Where the text has it without a year, any year will do: who reads knows it from elsewhere.
func (f *found) day(t time.Time) bool {
	return f.days[t.Format(time.DateOnly)] || f.yearly[t.Format("01-02")]
}

func (f *found) findClocks(text string) {
	for _, m := range clockForm.FindAllStringSubmatch(text, -1) {
		f.addClock(m[1], m[2], m[3])
	}
	for _, m := range hourForm.FindAllStringSubmatch(text, -1) {
		f.addClock(m[1], "00", m[2])
	}
}

func (f *found) addClock(hour, minute, half string) {
	h, _ := strconv.Atoi(hour) // digits
	switch {
	case strings.EqualFold(half, "p") && h < 12:
		h += 12
	case strings.EqualFold(half, "a") && h == 12:
		h = 0
	}
	if h < 24 && minute < "60" {
		f.clocks[fmt.Sprintf("%02d:%s", h, minute)] = true
	}
}

// has reports whether some words stand in the text, whole and in a row.
func (f *found) has(words string) bool {
	list := strings.FieldsFunc(strings.ToLower(norm.NFKC.String(words)), between)
	return len(list) > 0 && strings.Contains(f.words, " "+strings.Join(list, " ")+" ")
}
