package mandate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// held reports whether a value that stands so is of the source: it is of the one record, of each that is wanted, or of
// the one that the words choose.
func (p *pass) held(v *Value, s *Source, stands standing, words []string) bool {
	return (!p.each(s) || p.records.ofWhom(v.Text, s)) && p.standsFor(v, s, stands, words)
}

// standsFor reports it of a value that is of whom the words name.
func (p *pass) standsFor(v *Value, s *Source, stands standing, words []string) bool {
	each := p.each(s)
	if each && stands <= equals && stands > nowhere && !p.records.written(v.Text) && p.entry(v.Text, words) {
		stands = listed
	}
	switch p.compared(v, s, stands, words) {
	case yes:
		return v.Role != Aim || stands == single
	case no:
		return each && stands != single && stands != beside
	}
	switch stands {
	case single:
		return true
	case alone:
		return p.alone(v, words)
	case listed:
		return p.oneOf(v, each) || p.first(v, s, stands, words)
	case searched:
		return v.Role != Aim && (each || p.first(v, s, stands, words))
	case equals, beside:
		return each && stands == equals || p.first(v, s, stands, words)
	}
	return p.stands(v, s)
}

// ofWhom reports whether some record of a value is of whom the words of a list name, as far as records tell: of the mails from Acme is one
// that Acme sent, and not one that speaks of Acme.
func (r *Records) ofWhom(value string, s *Source) bool {
	names := s.formed().whose
	if len(names) == 0 {
		return true
	}
	told := false
	for _, at := range r.whole[plain(value)] {
		has, is := r.all[at].ofWhom(names)
		if told = told || has; is {
			return true
		}
	}
	return !told
}

// ofWhom reports whether a record says whose it is, and whether that is somebody of a name.
func (rec *Record) ofWhom(names []string) (has, is bool) {
	for i := range rec.fields {
		f := &rec.fields[i]
		if f.text == "" || !slices.ContainsFunc(keyWords(f.key), func(w string) bool { return whoseKeys[w] }) {
			continue
		}
		has = true
		is = is || !slices.ContainsFunc(names, func(n string) bool {
			named := slices.ContainsFunc(saidKeys(n), func(k string) bool { return slices.Contains(f.keys, k) })
			return !named && !strings.Contains(f.text, plain(n))
		})
	}
	return has, is
}

// whose is the word of a phrase that names whose its things are: the first name behind the last word for that.
func whose(phrase string) []string {
	list := strings.Fields(phrase)
	for i := len(list) - 2; i >= 0; i-- {
		if !ofWords[strings.ToLower(list[i])] {
			continue
		}
		for _, word := range list[i+1:] {
			low := wordsOf(word)
			if len(low) == 0 || functional[low[0]] {
				continue
			}
			_, day := weekdays[low[0]]
			_, month := months[low[0]]
			first, _ := utf8.DecodeRuneInString(strings.TrimLeft(word, `"'(“‘«@#`))
			if day || month || !unicode.IsUpper(first) && !strings.ContainsAny(word, "@.") && !unspaced(low[0]) {
				return nil
			}
			return low[:1]
		}
	}
	return nil
}

var (
	whoseKeys = lists.Set("whose_keys") // keys of whose something is
	ofWords   = lists.Set("of_words")   // words before whom something is of
)

// compared reports whether a value is of the one that words choose among others by a day or a sum.
func (p *pass) compared(v *Value, s *Source, stands standing, words []string) answer {
	if !s.formed().ordered || stands == nowhere || stands == alone {
		return unknown
	}
	return p.records.extreme(v.Text, words, s.formed().wants)
}

// alone reports whether the only one of its kind may be what is meant: where something grave is done to it the words must not call
// it anything else, or it is the only one that belongs to what they name.
func (p *pass) alone(v *Value, words []string) bool {
	if v.Role == Aim {
		return false
	}
	return !p.call.Grave || p.records.generic(v.Text, words, p.call.Tool) || p.records.linkedTo(v.Text, words)
}

// first reports whether words choose among equals, nothing says which comes first but where it stands, and what is done to it can
// be undone: it is the first then.
func (p *pass) first(v *Value, s *Source, stands standing, words []string) bool {
	switch {
	case !s.formed().ordered || p.call.Grave:
		return false
	case stands == equals:
		return p.records.firstOf(v.Text, words)
	case stands == beside:
		return p.records.firstEver(v.Text, words)
	}
	return p.records.firstIn(v.Text)
}

// each reports whether every entry of a list is wanted, and what is done to them can be undone.
func (p *pass) each(s *Source) bool {
	return !p.call.Grave && (p.item.Per != "" || p.index.many || s.formed().many)
}

// oneOf reports whether it does not matter which of a list it is.
func (p *pass) oneOf(v *Value, each bool) bool {
	if v.Role == Measure && !p.call.Grave {
		return true
	}
	return each && (v.Role != Aim || !p.records.written(v.Text))
}

// stands reports whether a value that no record has stands in a text that the source names.
func (p *pass) stands(v *Value, s *Source) bool {
	switch {
	case v.Role == Measure && s.How != Said:
		return p.measured(v, s)
	case v.Role == Object && s.How == From:
		return p.inSource(v)
	}
	return false
}

// inSource reports whether a value stands in what the item names, where that makes something that can be undone.
func (p *pass) inSource(v *Value) bool {
	if p.call.Deed != "tidy" && p.call.Deed != "create" || v.Role == Object && !p.records.seen(v.Text) {
		return false
	}
	return p.world.Stands(v.Text, func(step uint64) bool {
		return p.some(func(words []string) bool { return p.records.follows(step, words) })
	})
}

// entry reports whether a value is an entry of a list that other words of the item name, or of the only list of such
// things, where its own words name nothing that was seen.
func (p *pass) entry(value string, words []string) bool {
	if p.records.known(words) {
		return false
	}
	return p.some(func(w []string) bool { return p.records.broughtBy(value, w) }) || p.records.ofWholeList(value)
}

// universalUnspaced are the words that speak of more than one in scripts without blanks, where they stand within others.
var universalUnspaced = func() []string {
	var out []string
	for u := range universal {
		if unspaced(u) {
			out = append(out, u)
		}
	}
	return out
}()

// Many reports whether a phrase speaks of more than one.
func Many(phrase string) bool { return many(phrase) }

// many reports whether words speak of more than one.
func many(phrase string) bool {
	for _, w := range wordsOf(phrase) {
		if universal[w] {
			return true
		}
		for _, u := range universalUnspaced {
			if strings.Contains(w, u) {
				return true
			}
		}
	}
	return false
}

// measured reports whether a figure stands in the text of the record that a source names.
func (p *pass) measured(v *Value, s *Source) bool {
	words := s.words()
	if len(words) == 0 {
		return false
	}
	stands := p.records.figured(v.Text, words)
	if p.call.Grave || stands == single {
		return stands == single
	}
	told := p.world.Told(v.Text)
	if says, known := dateSays(v.Text, s.formed().joined); known && says != denies && !told {
		return true // in the form that the interface wants
	}
	// A word of a text may be anything: whose it is, who may see it; and so may a figure that is for something the words do not name.
	figure := strings.ContainsFunc(v.Text, unicode.IsDigit) && (!p.item.Worded || Speaks(p.index.quote, paramWords(v.Path)))
	return stands == listed || figure && s.Of != "" && told && !strays(p.world, v.Text, []string{s.Of})
}
