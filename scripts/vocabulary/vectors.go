package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
)

// vectors are words, and for each what the words around it say about it.
type vectors struct {
	words []string
	rows  [][]float64
}

// readVectors reads the JSON file: {"words": [...], "vectors": {"word": [...]}}, the most
// common words first.
func readVectors(file string, own map[string]bool, c choice) (*vectors, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	if err := seek(d, "vectors"); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != nil { // {
		return nil, err
	}
	out := &vectors{}
	plain := 0
	for rank := 0; d.More() && rank < c.rare; rank++ {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var row []float64
		if err := d.Decode(&row); err != nil {
			return nil, err
		}
		word, _ := name.(string)
		if !isWord(word) || plain >= c.common && !own[word] {
			continue
		}
		if len(row) != 102 { // a hundred numbers, the length, the rank
			return nil, fmt.Errorf("%s has %d numbers", word, len(row))
		}
		plain++
		out.words, out.rows = append(out.words, word), append(out.rows, row[:100])
	}
	return out, nil
}

// seek reads up to the value of a key of the outer object.
func seek(d *json.Decoder, key string) error {
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		k, err := d.Token()
		if err != nil || k == key {
			return err
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return err
		}
	}
	return fmt.Errorf("no %q", key)
}

// isWord leaves out figures, signs and what is written with them.
func isWord(w string) bool {
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return len(w) > 1
}

// turn lays the vectors along the directions in which words differ most, leaves out some of
// the very first, in which they differ by how common they are, and keeps at most dims others.
func (v *vectors) turn(drop, dims int) {
	n := len(v.rows[0])
	mean := make([]float64, n)
	for _, row := range v.rows {
		unit(row)
		for i, x := range row {
			mean[i] += x / float64(len(v.rows))
		}
	}
	cov := make([][]float64, n)
	for i := range cov {
		cov[i] = make([]float64, n)
	}
	for _, row := range v.rows {
		for i := range row {
			row[i] -= mean[i]
		}
		for i, x := range row {
			for j := i; j < n; j++ {
				cov[i][j] += x * row[j]
			}
		}
	}
	for i := range cov {
		for j := range i {
			cov[i][j] = cov[j][i]
		}
	}
	axes := eigen(cov)[drop:]
	for k, row := range v.rows {
		turned := make([]float64, min(dims, len(axes)))
		for i := range turned {
			for j, x := range row {
				turned[i] += axes[i][j] * x
			}
		}
		v.rows[k] = turned
	}
}

func unit(row []float64) {
	sum := 0.0
	for _, x := range row {
		sum += x * x
	}
	if sum == 0 {
		return
	}
	for i := range row {
		row[i] /= math.Sqrt(sum)
	}
}

// eigen finds the directions of a symmetric matrix by Jacobi's rotations, the longest first.
// The matrix is used up.
func eigen(a [][]float64) [][]float64 {
	n := len(a)
	axes := make([][]float64, n) // in columns
	for i := range axes {
		axes[i] = make([]float64, n)
		axes[i][i] = 1
	}
	for range 60 {
		off := 0.0
		for p := range n {
			for q := p + 1; q < n; q++ {
				off += a[p][q] * a[p][q]
				rotate(a, axes, p, q)
			}
		}
		if off < 1e-18 {
			break
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return a[order[i]][order[i]] > a[order[j]][order[j]] })
	out := make([][]float64, n)
	for k, i := range order {
		out[k] = make([]float64, n)
		for j := range n {
			out[k][j] = axes[j][i]
		}
	}
	return out
}

// rotate makes a[p][q] zero.
func rotate(a, axes [][]float64, p, q int) {
	if a[p][q] == 0 {
		return
	}
	theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
	t := 1 / (math.Abs(theta) + math.Sqrt(theta*theta+1))
	if theta < 0 {
		t = -t
	}
	cos := 1 / math.Sqrt(t*t+1)
	sin := t * cos
	for k := range a {
		x, y := a[k][p], a[k][q]
		a[k][p], a[k][q] = cos*x-sin*y, sin*x+cos*y
	}
	for k := range a {
		x, y := a[p][k], a[q][k]
		a[p][k], a[q][k] = cos*x-sin*y, sin*x+cos*y
		x, y = axes[k][p], axes[k][q]
		axes[k][p], axes[k][q] = cos*x-sin*y, sin*x+cos*y
	}
}

// pack writes the table: the number of words and of numbers for each, where each word ends,
// the words in order, and for each its numbers as signed bytes.
func (v *vectors) pack() []byte {
	order := make([]int, len(v.words))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return v.words[order[i]] < v.words[order[j]] })
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(v.words)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(v.rows[0])))
	end := 0
	for _, i := range order {
		end += len(v.words[i])
		out = binary.LittleEndian.AppendUint32(out, uint32(end))
	}
	for _, i := range order {
		out = append(out, v.words[i]...)
	}
	for _, i := range order {
		out = append(out, small(v.rows[i])...)
	}
	return out
}

// small writes a vector with a byte for each number; only its direction counts.
func small(row []float64) []byte {
	top := 0.0
	for _, x := range row {
		top = max(top, math.Abs(x))
	}
	out := make([]byte, len(row))
	for i, x := range row {
		if top > 0 {
			out[i] = byte(int8(math.Round(x / top * 127)))
		}
	}
	return out
}
