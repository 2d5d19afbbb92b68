package intent

import (
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// answered is the third form as a model answers it: nothing else may stand in an answer.
type answered struct {
	Items   []Item      `json:"items"`
	Reads   []Look      `json:"reads"`
	Follow  []Follow    `json:"follow"`
	Never   []forbidden `json:"never"`
	Assents bool        `json:"assents"`
}

// forbidden is a ban as it is written: on one thing, or on several.
type forbidden struct {
	Act   string           `json:"act"`
	What  strictjson.Value `json:"what"`
	First bool             `json:"first"`
}

// bansOf reads bans. One whose things cannot be read is on everything.
func bansOf(list []forbidden) []Ban {
	var out []Ban
	for _, f := range list {
		var one string
		var several []string
		switch {
		case len(f.What) == 0:
		case f.What.Kind() == '"' && strictjson.Unmarshal(f.What, &one) == nil:
			several = []string{one}
		case f.What.Kind() != '[' || strictjson.Unmarshal(f.What, &several) != nil:
			several = nil
		}
		if len(several) == 0 {
			several = []string{""}
		}
		for _, what := range several {
			out = append(out, Ban{Act: f.Act, What: what, First: f.First})
		}
	}
	return out
}

// ParseContract reads an answer to a request: one JSON object of exactly the form asked
// for, after a model's opening thoughts and within one fence. A member nobody knows is an
// error. An item is left out where its tool was not offered, or nobody knows what it says.
func ParseContract(text string, tools []Signature) (Contract, error) {
	body, err := spoken(text)
	if err != nil {
		return Contract{}, err
	}
	if body = unfence(body); len(body) > maxContract {
		return Contract{}, fmt.Errorf("read contract: %w: %d bytes", ErrContract, len(body))
	}
	var in *answered
	if err := strictjson.UnmarshalKnown([]byte(body), &in); err != nil {
		return Contract{}, fmt.Errorf("read contract: %w: %w", ErrContract, err)
	}
	if in == nil {
		return Contract{}, fmt.Errorf("read contract: %w: null", ErrContract)
	}
	c := Contract{V: ItemsVersion, Reads: in.Reads, Follow: in.Follow, Never: bansOf(in.Never), Assents: in.Assents}
	c.Items = named(in.Items, tools)
	return c.Within(tools)
}

// named are items under the names that tools and arguments really have: a model saw them cut short.
func named(items []Item, tools []Signature) []Item {
	shown := identifiers(toolNames(tools))
	var out []Item
	for _, it := range items {
		at := slices.Index(shown, it.Tool)
		if at < 0 {
			continue
		}
		it.Tool = tools[at].Name
		params, args := identifiers(tools[at].paramNames()), it.Args
		it.Args = nil
		for _, a := range args {
			if i := slices.Index(params, a.Arg); i >= 0 {
				a.Arg = tools[at].Params[i].Name
			}
			it.Args = append(it.Args, a)
		}
		out = append(out, it)
	}
	return out
}

// DecodeContract reads a contract of whichever form that a host hands in, or that stands in a recording.
// Without tools every tool it names counts as offered.
func DecodeContract(src []byte, tools []Signature) (Contract, error) {
	var in *struct {
		V         int         `json:"v"`
		Acts      []Promise   `json:"acts"`
		Items     []Item      `json:"items"`
		Reads     []Look      `json:"reads"`
		Follow    []Follow    `json:"follow"`
		Never     []forbidden `json:"never"`
		Assents   bool        `json:"assents"`
		Opens     string      `json:"opens"`
		Delegates bool        `json:"delegates"`
		Why       string      `json:"why"`
	}
	if err := strictjson.UnmarshalKnown(src, &in); err != nil {
		return Contract{}, fmt.Errorf("read contract: %w: %w", ErrContract, err)
	}
	if in == nil {
		return Contract{}, fmt.Errorf("read contract: %w: null", ErrContract)
	}
	c := Contract{
		V: in.V, Acts: in.Acts, Items: in.Items, Reads: in.Reads, Follow: in.Follow, Never: bansOf(in.Never), Assents: in.Assents,
		Opens: in.Opens, Delegates: in.Delegates, Why: in.Why,
	}
	if c.V == 0 && len(c.Items) > 0 {
		c.V = secondForm // it says so itself
		if c.ofThird() != "" {
			c.V = ItemsVersion
		}
	}
	return c.Within(tools)
}
