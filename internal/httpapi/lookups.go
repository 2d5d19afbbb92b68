package httpapi

import (
	"context"
	"strings"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// lookUpNote is a call of the monitor's own, which the host makes and no model is shown.
type lookUpNote struct {
	ID     string           `json:"id" doc:"of the call, for after_tool_call"`
	Tool   string           `json:"tool"`
	Params strictjson.Value `json:"params" doc:"what it is called with"`
}

// lookUps has a host that can make the calls that the latest message wants made first, once; nil: there are none. What they bring is
// told by after_tool_call, and then the call is asked about again.
func (a *API) lookUps(ctx context.Context, c *hook.Context, name string) (*toolCallAnswer, error) {
	if !c.Looks {
		return nil, nil
	}
	server, _, ok := strings.Cut(tool.Name(name), "__")
	if !ok {
		server = ""
	}
	list, err := a.monitor.LookUps(ctx, refOf(c), server)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	mark, err := a.monitor.Taint(ctx, refOf(c))
	if err != nil {
		return nil, err
	}
	n := &note{Taint: mark.Level.String(), Verdict: "deny", Rule: "look-up"}
	for _, l := range list {
		if err := l.Permit.Redeem(l.Call); err != nil {
			return nil, err
		}
		n.LookUps = append(n.LookUps, lookUpNote{l.Call.ID, l.Call.Name, strictjson.Value(l.Call.Args)})
	}
	const why = "Nothing was decided yet: make the calls of lookUps, report what they bring, and ask again."
	return &toolCallAnswer{reason: why, note: n}, nil
}
