package sql

// Some dialects need no sign between two statements: what stands behind a complete one begins another. So only as many names stand
// beside each other as a query has them, and every other word of it is known.

var (
	clauses   = lists.Set("clauses")   // words of a query that stand between operands
	naming    = lists.Set("named")     // behind which an operand may be given another name
	unnamed   = lists.Set("unnamed")   // and those behind which it may not
	joins     = lists.Set("joins")     // words behind which another query may begin
	sequences = lists.Set("sequences") // members of a sequence that move it on
)

// grammar is how far a query is read.
type grammar struct {
	run    int    // operands that stand beside each other
	alone  bool   // an operand is not given another name here
	free   bool   // the statement is no query, and its words are its own
	before string // the word before this one; empty: none
	began  bool   // its first query has begun
	parts  bool   // queries with names stand before it
	stack  []bool // alone of the brackets that are open
}

const named = 2 // an operand and its name

// takes reports whether a query may go on with a token.
func (g *grammar) takes(token string, k kind, r *reader) bool {
	before := g.before
	g.parts = g.parts || k == word && token == "with" && !g.began
	if g.before = ""; k == word {
		g.before = token
	}
	switch {
	case k == word && openers[token] && token != "with" && (!g.began || token == "select"):
		return g.opens(token, before)
	case g.free:
		return true
	case k == sign, k == value && token == ".":
		g.sign(token)
		return true
	case k == word && r.calls() && pure[token]:
		g.run++
		ok := g.fits()
		g.run = 0
		return ok
	case k == word && (clauses[token] || stands(token)):
		return g.clause(token)
	case before == "top":
		g.run = 0
		return true
	}
	g.run++
	return g.fits()
}

// opens takes the first word of a query.
func (g *grammar) opens(token, before string) bool {
	ok := !g.began || joins[before] || before == "(" || g.parts && before == ")"
	g.run, g.alone = 0, false
	g.free = !g.began && token != "select"
	g.began = g.began || token != "explain"
	return ok
}

// sign takes what is no word.
func (g *grammar) sign(token string) {
	g.run = 0
	switch token {
	case "(":
		g.stack = append(g.stack, g.alone)
		g.alone, g.before = false, "("
	case ")":
		if n := len(g.stack); n > 0 {
			g.alone, g.stack = g.stack[n-1], g.stack[:n-1]
		}
		g.run, g.before = 1, ")"
	}
}

func stands(token string) bool { return before[token] && token != "select" }

// clause takes a word between operands.
func (g *grammar) clause(token string) bool {
	switch {
	case token == "as":
		g.run = 1
		return true
	case token == "end":
		g.run, g.alone = 1, false
		return true
	case naming[token]:
		g.alone = false
	case unnamed[token]:
		g.alone = true
	}
	g.run = 0
	if token == "asc" || token == "desc" || token == "last" || token == "only" {
		g.run = 1 // nothing is named behind it
	}
	return true
}

// fits reports whether no more operands stand beside each other than one and its name.
func (g *grammar) fits() bool {
	if g.alone {
		return g.run <= 1
	}
	return g.run <= named
}

// Columns are the names in a statement, in small letters.
func Columns(text string) []string {
	r := reader{rest: text}
	var out []string
	for len(out) < maxColumns {
		was := r.rest
		token, k := r.next()
		switch k {
		case bad, end:
			return out
		case word:
			out = append(out, token)
		case name:
			out = append(out, was[1:max(1, len(was)-len(r.rest)-1)])
		}
	}
	return out
}

const maxColumns = 2000
