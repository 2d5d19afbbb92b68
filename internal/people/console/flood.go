package console

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/waiting"
)

const sessionActPath = Path + "/session/act"

// floods are the sessions of which many calls wait, each as one thing. The stream sends them anew as they change.
func (c *Console) floods(v *visit, list []engine.Question) h.HTML {
	var out h.List
	for _, f := range waiting.Floods(list) {
		out = append(out, h.El("form", h.A("method", "post"), h.A("action", sessionActPath), h.Class("banner flood"),
			c.token(v, sessionActPath), hidden("what", f.Session),
			h.El("p", h.El("strong", h.T(fmt.Sprintf("%d calls of this session wait: ", f.Calls))), sessionLink(f.Session),
				h.T(fmt.Sprintf(". The first %d are shown.", waiting.FewCalls))),
			h.El("button", h.A("name", "do"), h.A("value", "deny-all"), h.Class("deny"),
				h.T(fmt.Sprintf("Deny all %d of this session", f.Calls)))))
	}
	return h.Join(out)
}

// denyAll says no to every call of a session that waits now. It narrows: it takes no proof.
func (c *Console) denyAll(ctx context.Context, v *visit, session string) error {
	list, err := c.open(ctx)
	if err != nil {
		return err
	}
	vote := engine.Vote{Session: session, By: v.by(), Via: "console", Reason: strings.TrimSpace(v.r.PostForm.Get("note"))}
	for i := range list {
		if list[i].Session == session {
			vote.IDs = append(vote.IDs, list[i].ID)
		}
	}
	if len(vote.IDs) == 0 {
		return say(http.StatusConflict, "Nothing was changed: no call of this session waits.")
	}
	_, err = c.monitor.Answer(ctx, vote)
	return err
}
