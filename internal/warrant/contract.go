package warrant

import (
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/origin"
	"github.com/tidemark/tidemark/tool"
)

// Contract is what an isolated model understood of one message: which acts it asks for,
// and where their arguments come from. It has seen no content.
type Contract struct {
	Acts []struct {
		Tool string            `json:"tool"`
		Args map[string]string `json:"args"`
		Most int               `json:"most"`
	} `json:"acts"`
	Opens     string `json:"opens"` // none, named, linked, search
	Delegates bool   `json:"delegates"`
}

// Contract adds the contract of the latest message.
func (c *Context) Contract(k *Contract) {
	c.contracts = append(c.contracts, k)
	c.agreed = k
}

// sources are what the contracts say of the arguments of a tool.
func (c *Context) sources(m *meaning.Meaning) (map[string]string, bool) {
	for i := len(c.contracts) - 1; i >= 0; i-- {
		for _, a := range c.contracts[i].Acts {
			if tool.Name(a.Tool) == m.Tool {
				if a.Args == nil {
					return map[string]string{}, true
				}
				return a.Args, true
			}
		}
		if c.user.speaks(c.user.turn) {
			break
		}
	}
	return nil, false
}

// promised improves the evidence for a value by what the contract says of its source.
func (j *judging) promised(path, value string, e Evidence, why string) (Evidence, string) {
	c := j.c
	if e >= Picked || j.promises == nil {
		return e, why
	}
	root, _, _ := strings.Cut(strings.ReplaceAll(path, "[]", ""), ".")
	src, ok := j.promises[root]
	f := c.index.Of(value)
	told := c.told(value)
	switch {
	case told:
	case !ok && f.Class == origin.Unseen, src == "agent" && f.Class == origin.Unseen:
		return Picked, "left to the agent"
	case f.Class == origin.Unseen:
	case src == "lookup", strings.HasPrefix(src, "user:"), !ok && !strings.Contains(value, "@"):
		return Picked, "to be looked up, and found"
	case src == "delegated" && !c.grave:
		return Picked, "to be taken from what you named"
	}
	return e, why
}
