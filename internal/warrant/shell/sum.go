package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// sum is the value of arithmetic on numbers that are written out: a number must not hide in
// a sum of others.
func sum(e syntax.ArithmExpr, depth int) (int64, bool) {
	if depth > maxDepth {
		return 0, false
	}
	switch e := e.(type) {
	case *syntax.ParenArithm:
		return sum(e.X, depth+1)
	case *syntax.Word:
		return number(e.Lit())
	case *syntax.BinaryArithm:
		x, ok := sum(e.X, depth+1)
		y, fine := sum(e.Y, depth+1)
		if !ok || !fine {
			return 0, false
		}
		switch e.Op {
		case syntax.Add:
			return x + y, true
		case syntax.Sub:
			return x - y, true
		case syntax.Mul:
			return x * y, true
		case syntax.Xor:
			return x ^ y, true
		case syntax.Or:
			return x | y, true
		}
	}
	return 0, false
}

// number reads one as a shell does, with its base before it where it has one.
func number(text string) (int64, bool) {
	base := 0
	if b, rest, ok := strings.Cut(text, "#"); ok {
		n, err := strconv.Atoi(b)
		if err != nil || n < 2 || n > 36 {
			return 0, false
		}
		base, text = n, rest
	}
	if strings.Contains(text, "_") || strings.HasPrefix(strings.ToLower(text), "0b") {
		return 0, false // of other languages
	}
	v, err := strconv.ParseInt(text, base, 32)
	return v, err == nil
}
