package intent

import (
	"fmt"
	"slices"
)

// ItemsVersion is the form of contracts as they are drawn now. They list items: each says of every argument where its value comes
// from, and of the act in which words it was asked for. The form before it is the same without what worked_out.go has.
const ItemsVersion = 3

// secondForm is the first that lists items.
const secondForm = 2

// Lists reports whether contracts of a form list items.
func Lists(form int) bool { return form == secondForm || form == ItemsVersion }

// The bounds of what stands beside items.
const (
	maxWhat  = 64 // literals of one argument
	maxLooks = 64 // reads, bans and followed contents, each
)

// Item is one kind of call that a message asks for.
type Item struct {
	Tool  string `json:"tool"`
	Quote string `json:"quote,omitzero"` // the user's words that order it
	Need  string `json:"need,omitzero"`  // asked, step or standing
	Times int    `json:"times,omitzero"` // how often at most; 0: once
	Per   string `json:"per,omitzero"`   // the list of which it is done once per entry
	If    string `json:"if,omitzero"`    // the user's condition
	Args  []Arg  `json:"args,omitzero"`
	// Except is what of a list it is not done to, in the user's words.
	Except []string `json:"except,omitzero"`
	// Or is the name of a choice: of the items that share one, one is done and not each.
	Or string `json:"or,omitzero"`
}

// Arg says where the value of one argument comes from.
type Arg struct {
	Arg  string   `json:"arg"`
	How  string   `json:"how"`           // said, most, person, thing, from, made, calc, choose, own, write or command
	What []string `json:"what,omitzero"` // literals of the user's words
	Of   string   `json:"of,omitzero"`   // the source, in the user's words
	Is   Values   `json:"is,omitzero"`   // the values that are worked out from what, as the tool takes them
}

// Look is something that must be opened.
type Look struct {
	What  string `json:"what"`
	Links bool   `json:"links,omitzero"` // also what it links to
}

// Follow is a content that the user wants obeyed.
type Follow struct {
	Source string `json:"source"`
	Limit  string `json:"limit,omitzero"` // how far, in the user's words
}

// Ban is an act that the user forbids, or wants shown first.
type Ban struct {
	Act  string `json:"act"`
	What string `json:"what,omitzero"` // empty: whatever it is done to
	// First says that it is not forbidden: the user wants to see it before it is done.
	First bool `json:"first,omitzero"`
}

var (
	needs = []string{"asked", "step", "standing"}
	hows  = []string{"said", "most", "person", "from", "calc", "own", "write", "command", "thing", "made", "choose"}
	bans  = []string{"send", "pay", "delete", "create", "change", "run", "grant", "all"}
)

// withinItems keeps of the second form what can be kept. What is left out is asked about; a ban that nobody
// understands forbids everything.
func (c *Contract) withinItems(out *Contract, tools []Signature) error {
	if c.V != 0 && c.V != 1 && !Lists(c.V) {
		return fmt.Errorf("read contract: %w: its form is %d, known are 1 to %d", ErrContract, c.V, ItemsVersion)
	}
	if new := c.ofThird(); new != "" && c.V != ItemsVersion {
		return fmt.Errorf("read contract: %w: its form is %d, and only form %d has %s", ErrContract, c.V, ItemsVersion, new)
	}
	out.V, out.Assents = c.V, c.Assents
	for i := range c.Items {
		if it, ok := c.Items[i].within(tools); ok && len(out.Items) < maxActs {
			out.Items = append(out.Items, it)
		}
	}
	for _, r := range c.Reads[:min(len(c.Reads), maxLooks)] {
		if r.What != "" && len(r.What) <= maxLiteral {
			out.Reads = append(out.Reads, r)
		}
	}
	for _, f := range c.Follow[:min(len(c.Follow), maxLooks)] {
		if f.Source != "" && len(f.Source) <= maxLiteral && len(f.Limit) <= maxLiteral {
			out.Follow = append(out.Follow, f)
		}
	}
	for _, b := range c.Never {
		if !slices.Contains(bans, b.Act) || len(b.What) > maxLiteral || len(out.Never) >= maxLooks {
			b = Ban{Act: "all"}
		}
		out.Never = append(out.Never, b)
	}
	return nil
}

func (i Item) within(tools []Signature) (Item, bool) {
	if i.Tool == "" || len(i.Tool) > maxName || i.Times < 0 || len(i.Args) > maxSlots || !slices.Contains(needs, i.Need) {
		return Item{}, false
	}
	if len(i.Quote) > maxLiteral || len(i.Per) > maxLiteral || len(i.If) > maxLiteral || !i.choosesWithin() {
		return Item{}, false
	}
	var known []Parameter
	if len(tools) > 0 {
		at := slices.IndexFunc(tools, func(s Signature) bool { return s.Name == i.Tool })
		if at < 0 {
			return Item{}, false
		}
		known = tools[at].Params
	}
	args := i.Args
	i.Times, i.Args, i.Except = min(i.Times, maxMost), nil, someOf(i.Except)
	for _, a := range args {
		at := slices.IndexFunc(known, func(k Parameter) bool { return k.Name == a.Arg })
		has := len(known) == 0 || at >= 0
		param := Parameter{}
		if at >= 0 {
			param = known[at]
		}
		if a.fits() && has && a.takenBy(&param) {
			a.Is = someOf(a.Is)
			i.Args = append(i.Args, a)
		}
	}
	return i, true
}

// fits reports whether an argument is of the form.
func (a *Arg) fits() bool {
	return a.Arg != "" && len(a.Arg) <= maxName && slices.Contains(hows, a.How) && len(a.What) <= maxWhat && len(a.Of) <= maxLiteral &&
		!slices.ContainsFunc(a.What, func(w string) bool { return len(w) > maxLiteral }) && a.worked()
}
