package console

import (
	"net/http"
	"strconv"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/event"
)

const stopPath = Path + "/stop"

// toStop leads an administrator to the page on which everything is stopped.
func toStop(v *visit) h.HTML {
	if !v.mayRule() {
		return h.HTML{}
	}
	return h.El("p", h.El("a", h.A("href", stopPath), h.T("Stop everything")))
}

// stopBanner says on every page that everything is stopped.
func (c *Console) stopBanner(v *visit) h.List {
	stopped, err := c.monitor.Stopped(v.r.Context())
	switch {
	case err != nil:
		return h.List{h.El("p", h.Class("banner bad"),
			h.T("Whether everything is stopped cannot be read from the log, so nothing runs. Run: tidemark doctor"))}
	case stopped == nil:
		return nil
	}
	return h.List{h.El("p", h.Class("banner bad"), h.T("Everything is stopped: every call is denied. "),
		h.El("a", h.A("href", stopPath), h.T("Who stopped it, and how to resume")))}
}

// stopPage is where everything is stopped, and resumed.
func (c *Console) stopPage(v *visit) {
	stopped, err := c.monitor.Stopped(v.r.Context())
	if err != nil {
		c.wrong(v, err)
		return
	}
	body := h.List{h.El("h1", h.T("Stop everything"))}
	switch {
	case stopped != nil:
		body = append(body, stopFacts(stopped), c.actForm(v, stopPath, "everything", act("resume", "Resume: judge calls again")))
	case v.mayRule():
		body = append(body, h.El("p", h.T("Every call of every agent is denied, at every door and server, until somebody resumes it. "+
			"Commands that run already go on. It is recorded, and holds over restarts.")),
			h.El("form", h.A("method", "post"), h.A("action", stopPath), c.token(v, stopPath),
				field("Why", "reason", "", h.A("maxlength", strconv.Itoa(event.MaxStopReason))), act("stop", "Stop everything now")))
	default:
		body = append(body, h.El("p", h.T("Nothing is stopped. Stopping everything takes the role admin.")))
	}
	c.page(v, http.StatusOK, "Stop everything", body...)
}

func stopFacts(s *event.Stopped) h.HTML {
	out := h.List{h.T("Stopped by "), foreign(s.By), h.T(" at " + s.At.Local().Format("2006-01-02 15:04:05") + ".")}
	if s.Reason != "" {
		out = append(out, h.T(" Why: "), foreign(s.Reason))
	}
	return h.El("p", out...)
}

// changeStop stops, which only narrows and takes no proof, or resumes.
func (c *Console) changeStop(v *visit) {
	f, ctx := v.r.PostForm, v.r.Context()
	var err error
	switch f.Get("do") {
	case "stop":
		if err = say(http.StatusForbidden, "Nothing was changed: this takes the role admin."); v.mayRule() {
			_, err = c.monitor.Stop(ctx, f.Get("reason"), v.by(), "console")
		}
	case "resume":
		if err = c.proven(v, "admin"); err == nil {
			err = c.monitor.Resume(ctx, v.by(), "console")
		}
	default:
		err = say(http.StatusBadRequest, "Nothing was changed: say what to do.")
	}
	if err != nil {
		c.wrong(v, err)
		return
	}
	http.Redirect(v.w, v.r, stopPath, http.StatusSeeOther)
}
