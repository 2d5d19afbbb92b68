package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// evaluated reads the text that eval and trap run.
func (c *call) evaluated() {
	args := c.args
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if c.name == "trap" && len(args) > 1 {
		args = args[:1]
	}
	for _, a := range args {
		if a.tame == tameInit && a.Text == "$" && len(args) == 1 {
			return // nothing but such an answer
		}
		if !a.Known {
			if a.flow.fetched || a.flow.decoded {
				c.does |= RunsFetched
			}
			c.unread()
			return
		}
	}
	src := strings.Join(texts(args), " ")
	if c.name == "trap" && strings.HasPrefix(src, "-") {
		return
	}
	for _, a := range args {
		if a.flow.decoded {
			c.does |= RunsFetched
		}
	}
	c.out = c.script(src, c.in)
}

// find reads the commands after -exec and its kin.
func (c *call) find() {
	runs := []string{"-exec", "-execdir", "-ok", "-okdir"}
	if c.name != "find" {
		runs = []string{"-x", "-X", "--exec", "--exec-batch"}
	}
	for i, a := range c.args {
		switch {
		case !a.Known:
		case slices.Contains(runs, a.Text):
			end := slices.IndexFunc(c.args[i+1:], func(w Word) bool { return w.Known && (w.Text == ";" || w.Text == "+") })
			if end < 0 {
				end = len(c.args) - i - 1
			}
			c.inner(c.args[i+1:i+1+end], true)
			c.fedWatched(c.args[i+1:i+1+end], slices.ContainsFunc(c.args[:i], func(w Word) bool { return c.watches(w.Text) }))
			if end > 0 && c.args[i+1].Text == "rm" {
				c.clears()
			}
		case a.Text == "-delete":
			c.does |= Destructive | FileWrite
			if c.findsAnything() {
				c.changed("-delete")
			}
			c.clears()
		case strings.HasPrefix(a.Text, "-fprint") || a.Text == "-fls":
			if i+1 < len(c.args) {
				c.written(c.args[i+1].Text, flow{})
			}
		}
	}
}

// clears notes that find removes what is in the folders it looks at.
func (c *call) clears() {
	var roots []Word
	for _, a := range c.args {
		if a.Text == "-H" || a.Text == "-L" || a.Text == "-P" {
			continue
		}
		if a.Text != "" && strings.ContainsAny(a.Text[:1], "-(!") {
			break
		}
		roots = append(roots, a)
	}
	if len(roots) == 0 {
		roots = []Word{{Text: ".", Known: true}}
	}
	for _, a := range roots {
		c.gone(a.Text)
		if slices.ContainsFunc(c.everywhere(a.Text), everything) {
			c.does |= Wrecks
		}
	}
}

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
