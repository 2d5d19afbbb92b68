package vocabulary

import (
	_ "embed" // the data is part of the program
	"math"
	"strings"
)

// nearData is made by scripts/vocabulary: the number of words, how many numbers each has,
// where each word ends, the words in order, and their numbers as signed bytes. It is used
// as it stands, so it costs nothing until somebody asks.
//
//go:embed data/near.bin
var nearData string

// header is the size of the two numbers in front.
const header = 8

// Near tells how near two English words are in meaning, from -1 to 1. Of our own lists, half
// of the words that mean the same are above 0.4, and one pair in a hundred that means
// different things is above 0.56: nearness supports what other evidence says, alone it is
// little. Opposites that WordNet knows are below 0. It is false, and 0, if one of the words
// is not known.
func (t *Table) Near(a, b string) (float64, bool) {
	x, ok := t.vector(a)
	if !ok {
		return 0, false
	}
	y, ok := t.vector(b)
	if !ok {
		return 0, false
	}
	return cosine(x, y), true
}

// vector finds the numbers of a word, or of its dictionary form.
func (t *Table) vector(word string) (string, bool) {
	w := lower(word)
	if v, ok := vectorOf(w); ok {
		return v, true
	}
	if s := t.Stem(w); s != w {
		return vectorOf(s)
	}
	return "", false
}

// vectorOf looks a word up by halving.
func vectorOf(w string) (string, bool) {
	if len(nearData) < header || w == "" {
		return "", false
	}
	n, dims := number(0), number(4)
	words := header + 4*n
	vectors := words + number(words-4)
	low, high := 0, n
	for low < high {
		mid := (low + high) / 2
		start := 0
		if mid > 0 {
			start = number(header + 4*(mid-1))
		}
		end := number(header + 4*mid)
		switch strings.Compare(nearData[words+start:words+end], w) {
		case 0:
			return nearData[vectors+mid*dims : vectors+(mid+1)*dims], true
		case -1:
			low = mid + 1
		default:
			high = mid
		}
	}
	return "", false
}

func number(at int) int {
	b := nearData[at : at+4]
	return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 | int(b[3])<<24
}

// cosine compares the directions of two vectors of bytes.
func cosine(x, y string) float64 {
	var dot, xx, yy int
	for i := range min(len(x), len(y)) {
		a, b := int(int8(x[i])), int(int8(y[i]))
		dot, xx, yy = dot+a*b, xx+a*a, yy+b*b
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(xx)*float64(yy))
}
