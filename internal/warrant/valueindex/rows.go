package valueindex

import "bytes"

const (
	maxColumns = 64
	minRows    = 2 // of data: one line under another is no table yet
)

// csv reads a table with a header and columns divided by tabs or commas. Every row has
// as many cells as the header has names; anything else is free text.
func (f *forest) csv(src []byte) bool {
	head, _, more := bytes.Cut(src, []byte("\n"))
	if !more {
		return false
	}
	sep := byte('\t')
	if bytes.IndexByte(head, sep) < 0 {
		sep = ','
	}
	r := rows{f: f, src: src, sep: sep}
	names, ok := r.row(nil)
	if !ok || !header(names) {
		return false
	}
	names = append([][]byte(nil), names...)
	all := f.open(list, nil)
	count := 0
	var cells [][]byte
	for r.pos < len(src) {
		if cells, ok = r.row(cells[:0]); !ok || len(cells) != len(names) {
			return false
		}
		f.record(names, cells)
		count++
	}
	f.close(all)
	return count >= minRows
}

// record adds one row.
func (f *forest) record(names, cells [][]byte) {
	o := f.open(object, nil)
	for i, name := range names {
		f.leaf(name, cells[i])
	}
	f.close(o)
}

// header accepts names of columns: short, different, no sentence, no data.
func header(names [][]byte) bool {
	if len(names) < 2 || len(names) > maxColumns {
		return false
	}
	seen := map[string]bool{}
	for _, n := range names {
		if len(n) == 0 || len(n) > 32 || bytes.Count(n, []byte(" ")) > 2 || roles[n[0]] != letter || seen[string(n)] {
			return false
		}
		for _, b := range n {
			if r := roles[b]; r == cut && b != ' ' && b != '(' && b != ')' || r == oper || b == '@' || b == '!' || b == '?' {
				return false
			}
		}
		seen[string(n)] = true
	}
	return true
}

// rows reads one row after the other.
type rows struct {
	f   *forest
	src []byte
	pos int
	sep byte
}

// row reads the cells of one line; a cell in quotes may hold the separator and breaks.
func (r *rows) row(cells [][]byte) ([][]byte, bool) {
	for {
		cell, ok := r.cell()
		if !ok || len(cells) == maxColumns {
			return nil, false
		}
		cells = append(cells, bytes.TrimSpace(cell))
		if r.pos >= len(r.src) {
			return cells, true
		}
		b := r.src[r.pos]
		r.pos++
		if b == '\n' {
			return cells, true
		}
	}
}

func (r *rows) cell() ([]byte, bool) {
	from := r.pos
	if from >= len(r.src) || r.src[from] != '"' {
		for r.pos < len(r.src) && r.src[r.pos] != r.sep && r.src[r.pos] != '\n' {
			r.pos++
		}
		return r.src[from:r.pos], true
	}
	out := r.f.room(len(r.src) - from)[:0]
	for r.pos++; r.pos < len(r.src); r.pos++ {
		b := r.src[r.pos]
		if b == '"' {
			if r.pos+1 >= len(r.src) || r.src[r.pos+1] != '"' {
				r.pos++
				end := r.pos >= len(r.src) || r.src[r.pos] == r.sep || r.src[r.pos] == '\n' || r.src[r.pos] == '\r'
				if end && r.pos < len(r.src) && r.src[r.pos] == '\r' {
					r.pos++
				}
				return r.f.keep(out), end
			}
			r.pos++
		}
		out = append(out, b)
	}
	return nil, false
}

// markdown reads a table of bars and dashes.
func (f *forest) markdown(src []byte) bool {
	if src[0] != '|' {
		return false
	}
	lines := bytes.Split(src, []byte("\n"))
	if len(lines) < 3 {
		return false
	}
	names, ok := bars(lines[0])
	rule, isRow := bars(lines[1])
	if !ok || !isRow || len(rule) != len(names) || !header(names) {
		return false
	}
	for _, cell := range rule {
		if len(bytes.Trim(cell, "-:")) > 0 || len(cell) == 0 {
			return false
		}
	}
	all := f.open(list, nil)
	for _, line := range lines[2:] {
		cells, ok := bars(line)
		if !ok || len(cells) != len(names) {
			return false
		}
		f.record(names, cells)
	}
	f.close(all)
	return true
}

// bars cuts "| a | b |" into its cells.
func bars(line []byte) ([][]byte, bool) {
	line = bytes.TrimSpace(line)
	if len(line) < 3 || line[0] != '|' || line[len(line)-1] != '|' {
		return nil, false
	}
	cells := bytes.Split(line[1:len(line)-1], []byte("|"))
	for i, c := range cells {
		cells[i] = bytes.TrimSpace(c)
	}
	return cells, true
}
