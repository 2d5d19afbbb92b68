package cost

import (
	"fmt"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/glob"
)

// passed says in words which part of a budget the next call would go beyond; "" for none.
func (b Budget) passed(name string, spent, need sum) string {
	switch {
	case b.Tokens > 0 && (spent.tokens >= b.Tokens || spent.tokens+need.tokens > b.Tokens):
		return fmt.Sprintf("The token budget of this %s does not reach: "+
			"%d of %d are spent, and the next call takes about %d (plugins.cost.%s.tokens).",
			name, spent.tokens, b.Tokens, need.tokens, name)
	case b.Money > 0 && (spent.money >= b.Money || spent.money+need.money > b.Money):
		return fmt.Sprintf("The money for this %s does not reach: "+
			"%.4f of %.4f is spent, and the next call takes about %.4f (plugins.cost.%s.money).",
			name, spent.money, b.Money, need.money, name)
	}
	return ""
}

// million is what prices are for.
const million = 1_000_000

// money is what a call costs.
func (o *Options) money(model string, input, output int64) float64 {
	p := o.price(model)
	return (float64(input)*p.Input + float64(output)*p.Output) / million
}

// price is a model's; one that nobody named is as dear as any.
func (o *Options) price(model string) Price {
	var dearest Price
	for _, p := range o.Prices {
		if model != "" && glob.Match(p.Model, model) {
			return p
		}
		dearest.Input, dearest.Output = max(dearest.Input, p.Input), max(dearest.Output, p.Output)
	}
	return dearest
}

// bytesPerToken is how long a token is in most texts; JSON around them makes it shorter.
const bytesPerToken = 4

func tokens(bytes int) int64 { return int64((bytes + bytesPerToken - 1) / bytesPerToken) }

func length(messages []hook.JSON) int {
	n := 0
	for _, m := range messages {
		n += len(m)
	}
	return n
}

// estimate is what a request takes before anybody has counted. A host that announces a turn
// and shows no messages spends nothing that we can see.
func estimate(e *hook.BeforeLLMCall) int64 {
	if e.TokenEstimate > 0 {
		return e.TokenEstimate
	}
	n := length(e.Messages)
	if n == 0 {
		return 0
	}
	n += len(e.PromptApart())
	for _, t := range e.Tools {
		n += len(t.Raw())
	}
	return tokens(n)
}
