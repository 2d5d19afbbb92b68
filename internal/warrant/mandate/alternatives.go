package mandate

import "slices"

// Exceptions and alternatives narrow what the items of a message give. Both are read loosely, like bans: who leaves something out
// loses nothing but a question.

// excepted is why a slot is left out of a list: what the owner excepts is told by the words that name it, or nobody can tell what
// they are about.
func (p *pass) excepted(v *Value) string {
	if len(p.item.Except) == 0 || v.Flag || v.Role != Object && v.Role != Aim {
		return ""
	}
	for _, phrase := range p.item.Except {
		words := contentWords(phrase)
		switch {
		case len(words) == 0:
			return "I could not tell what you excepted"
		case holdsAll(pieces(v.Text), words), p.records.called(v.Text, words):
			return "you excepted it"
		case !p.records.lists(v.Text, words) && !p.quoted(v.Text):
			return "I could not tell what you excepted"
		}
	}
	return ""
}

// called reports whether a record of a value is called by all of some words, or the call that brought it asked for them.
func (r *Records) called(value string, words []string) bool {
	return r.full || slices.ContainsFunc(r.whole[plain(value)], func(at int32) bool {
		return r.allOf(int(at), words) || r.cover(r.all[at].step, words, true) == len(words)
	})
}

// lists reports whether the list that a value is of has what some words call: only then somebody who reads the list can leave it
// out. What stands elsewhere says nothing about it.
func (r *Records) lists(value string, words []string) bool {
	return slices.ContainsFunc(r.whole[plain(value)], func(at int32) bool {
		step := r.all[at].step
		for i := r.firsts[step]; i < len(r.all) && r.all[i].step == step && !r.all[at].print; i++ {
			if r.takes(len(words)) && r.allOf(i, words) {
				return true
			}
		}
		return false
	})
}

// allOf reports whether a record, with those that it stands in, is called by all of some words.
func (r *Records) allOf(at int, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool {
		for i := at; i >= 0; i = r.all[i].parent {
			if r.all[i].calledBy(w) > 0 {
				return false
			}
		}
		return true
	})
}

// Together are the items that are spent with one: those of the same choice, the item itself among them. An item that is none of a
// choice is spent alone.
func (m *Mandate) Together(it *Item) []*Item {
	var out []*Item
	for i := range m.Items {
		if o := &m.Items[i]; o == it || it.Or != "" && o.Or == it.Or {
			out = append(out, o)
		}
	}
	return out
}

// Excepts reports whether the record of a value is called by all words of a phrase that excepts something.
func (r *Records) Excepts(value, phrase string) bool {
	words := contentWords(phrase)
	return len(words) > 0 && r.called(value, words)
}
