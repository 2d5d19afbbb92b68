package redact

import "slices"

// bits is a set of small numbers.
type bits [2]uint64

func (b *bits) add(i int)     { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// automaton finds which of many words occur in a text, in any case, in one scan: an
// ordinary text is looked at once and not once per secret.
type automaton struct {
	class   [256]uint8 // of a byte: 0 for all bytes that are in no word
	classes int
	next    []uint16 // by state * classes + class: the state after
	out     []bits   // by state: the groups whose word ends here
	steps   []uint32 // next made ready: state * classes, and the top bit where a word ends
}

// ends is set where a word ends: only there is out looked at.
const ends = 1 << 31

// newAutomaton takes groups of words in lower case.
func newAutomaton(groups [][]string) *automaton {
	a := &automaton{classes: 1}
	for _, words := range groups {
		for _, w := range words {
			for i := range len(w) {
				a.addByte(w[i])
			}
		}
	}
	a.grow()
	for g, words := range groups {
		for _, w := range words {
			a.addWord(w, g)
		}
	}
	a.link()
	a.ready()
	return a
}

func (a *automaton) addByte(c byte) {
	if a.class[c] != 0 {
		return
	}
	a.class[c] = uint8(a.classes)
	if c >= 'a' && c <= 'z' {
		a.class[c-'a'+'A'] = uint8(a.classes)
	}
	a.classes++
}

func (a *automaton) grow() uint16 {
	a.next = append(a.next, make([]uint16, a.classes)...)
	a.out = append(a.out, bits{})
	return uint16(len(a.out) - 1)
}

func (a *automaton) addWord(w string, group int) {
	state := uint16(0)
	for i := range len(w) {
		at := int(state)*a.classes + int(a.class[w[i]])
		if a.next[at] == 0 {
			to := a.grow()
			a.next[at] = to
		}
		state = a.next[at]
	}
	a.out[state].add(group)
}

// link turns the tree of words into a machine that never goes back in the text.
func (a *automaton) link() {
	back := make([]uint16, len(a.out)) // the longest end of what was read that begins a word
	var queue []uint16
	for c := range a.classes {
		if to := a.next[c]; to != 0 {
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = slices.Delete(queue, 0, 1)
		for g := range a.out[state] {
			a.out[state][g] |= a.out[back[state]][g]
		}
		for c := range a.classes {
			at, fall := int(state)*a.classes+c, a.next[int(back[state])*a.classes+c]
			if to := a.next[at]; to != 0 {
				back[to] = fall
				queue = append(queue, to)
			} else {
				a.next[at] = fall
			}
		}
	}
}

// ready makes the table that scan uses.
func (a *automaton) ready() {
	a.steps = make([]uint32, len(a.next))
	for i, to := range a.next {
		a.steps[i] = uint32(to) * uint32(a.classes)
		if a.out[to] != (bits{}) {
			a.steps[i] |= ends
		}
	}
}

// scan says which groups have a word in the text.
func (a *automaton) scan(s string) (found bits) {
	state := uint32(0)
	for i := range len(s) {
		state = a.steps[state+uint32(a.class[s[i]])]
		if state&ends != 0 {
			state &^= ends
			o := &a.out[state/uint32(a.classes)]
			found[0] |= o[0]
			found[1] |= o[1]
		}
	}
	return found
}
