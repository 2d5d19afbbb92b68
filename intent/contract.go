package intent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	cut "github.com/tidemark/tidemark/internal/base/text"
)

// ContractVersion names the prompt that contracts are drawn with.
const ContractVersion = "contract-3"

// The bounds of a contract. What is beyond them is left out: an act that is not in a
// contract is asked about.
const (
	maxActs     = 64
	maxSlots    = 64 // arguments of one act
	maxLiteral  = 1024
	maxMost     = 1000
	maxContract = 32 << 10 // of the answer
)

// Contract is what a model understood of one message of the user's, from their words and
// the tools' names alone: it has read nothing else, so nothing else can have written it.
type Contract struct {
	Acts []Promise `json:"acts,omitzero"`
	// V is the form: 0 and 1 have Acts, 2 and 3 have Items.
	V       int      `json:"v,omitzero"`
	Items   []Item   `json:"items,omitzero"`
	Reads   []Look   `json:"reads,omitzero"`
	Follow  []Follow `json:"follow,omitzero"`
	Never   []Ban    `json:"never,omitzero"`
	Assents bool     `json:"assents,omitzero"` // it merely accepts what the agent offered
	// Opens says which addresses may be opened: none, named (by the user), linked (in what
	// they named), search (what a search they asked for finds). Empty is none.
	Opens string `json:"opens,omitzero"`
	// Delegates says that the user wants done what some content they named says.
	Delegates bool   `json:"delegates,omitzero"`
	Why       string `json:"why,omitzero"`
}

// Promise is one act that the message asks for.
type Promise struct {
	Tool string `json:"tool"`
	// Args say where values come from: user:<literal>, lookup, delegated or agent.
	Args map[string]string `json:"args,omitzero"`
	Most int               `json:"most,omitzero"` // how often it may be done; 0 is once
}

// openings are what a contract may say of addresses, least first.
var openings = []string{"none", "named", "linked", "search"}

// Signature is a tool as a contract is drawn from it.
type Signature struct {
	Name        string
	Description string // only of the host's own tools: anybody else's may argue
	Params      []Parameter
}

// Parameter is one argument of a tool.
type Parameter struct {
	Name string
	Type string // as its schema says; may be empty
	// Choices are the values that its schema lists; nil: it lists none.
	Choices []string
}

// Request is all that a contract is drawn from. The last word is the message it is about.
type Request struct {
	Words []Word
	Tools []Signature
}

// ErrContract is in every error about a contract that is not of the form.
var ErrContract = errors.New("not a contract")

// Within is the contract with only what can be kept: offered tools, arguments they have,
// sources and openings that exist, all of it bounded. Without tools every tool it names
// counts as offered.
func (c *Contract) Within(tools []Signature) (Contract, error) {
	out := Contract{Opens: c.Opens, Delegates: c.Delegates, Why: cut.Fit(clean(c.Why), maxReason)}
	if out.Opens == "" {
		out.Opens = openings[0]
	}
	if !slices.Contains(openings, out.Opens) {
		return Contract{}, fmt.Errorf("read contract: %w: it opens %s", ErrContract, shown.quote(c.Opens, maxName))
	}
	for _, p := range c.Acts {
		if len(out.Acts) == maxActs {
			break
		}
		if p, ok := p.within(tools); ok {
			out.Acts = append(out.Acts, p)
		}
	}
	if err := c.withinItems(&out, tools); err != nil {
		return Contract{}, err
	}
	return out, nil
}

func (p Promise) within(tools []Signature) (Promise, bool) {
	if p.Tool == "" || len(p.Tool) > maxName || p.Most < 0 || len(p.Args) > maxSlots {
		return Promise{}, false
	}
	var known []Parameter
	if len(tools) > 0 {
		i := slices.IndexFunc(tools, func(s Signature) bool { return s.Name == p.Tool })
		if i < 0 {
			return Promise{}, false
		}
		known = tools[i].Params
	}
	out := Promise{Tool: p.Tool, Most: min(max(p.Most, 1), maxMost)}
	for _, name := range slices.Sorted(maps.Keys(p.Args)) {
		source := p.Args[name]
		switch {
		case !sourced(source), len(name) > maxName:
			return Promise{}, false
		case len(known) > 0 && !slices.ContainsFunc(known, func(k Parameter) bool { return k.Name == name }):
			continue // the tool has no such argument
		}
		if out.Args == nil {
			out.Args = map[string]string{}
		}
		out.Args[name] = source
	}
	return out, true
}

// sourced reports whether a contract may say so of an argument.
func sourced(source string) bool {
	switch source {
	case "lookup", "delegated", "agent":
		return true
	}
	literal, ok := strings.CutPrefix(source, "user:")
	return ok && len(literal) <= maxLiteral
}
