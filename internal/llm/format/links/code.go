package links

// code takes a run of backticks, with the code span behind it where that is one in every reading: it is closed on its line, no
// sign of a table or of HTML stands before or in it, and no backtick of the paragraph is left over from before.
func (t *Text) code(b []byte, final bool) int {
	size := 0
	for size < len(b) && b[size] == '`' {
		size++
	}
	if size == len(b) && !final {
		if size > maxHeld {
			t.unpaired = true
			t.pass(b)
			return size
		}
		return 0
	}
	if t.doubt || t.raw || t.unpaired {
		t.unpaired = true
		t.pass(b[:size])
		return size
	}
	end, more := spanEnd(b, size, final)
	if more {
		return 0
	}
	if end < 0 {
		t.unpaired = true
		t.pass(b[:size])
		return size
	}
	t.pass(b[:end])
	return end
}

// spanEnd is where a code span ends that opens with so many backticks; -1: none that is sure does.
func spanEnd(b []byte, size int, final bool) (end int, more bool) {
	i := size
	for i < len(b) && i <= maxHeld {
		switch b[i] {
		case '\n', '|':
			return -1, false
		case '`':
			n := i
			for n < len(b) && b[n] == '`' {
				n++
			}
			switch {
			case n > maxHeld:
				return -1, false
			case n == len(b) && !final:
				return 0, true
			case n-i == size:
				return n, false
			}
			i = n
		default:
			i++
		}
	}
	if i > maxHeld || final {
		return -1, false
	}
	return 0, true
}
