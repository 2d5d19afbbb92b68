package console

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/draw"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/graph"
	"github.com/tidemark/tidemark/internal/reports/timeline"
)

// sessionPage is one session: its time line, or the picture of one of its turns.
func (c *Console) sessionPage(v *visit) {
	q := v.r.URL.Query()
	key := q.Get("key")
	if key == "" {
		c.wrong(v, say(http.StatusBadRequest, "The address names no session: it needs ?key=, as the list of sessions has it."))
		return
	}
	view, err := c.seenView(v.r.Context(), key)
	if err != nil {
		c.wrong(v, err)
		return
	}
	turn := q.Get("turn")
	body := h.List{
		h.El("p", h.El("a", h.A("href", "/console/sessions"), h.T("‹ all sessions"))),
		h.El("h1", foreign(key)), c.sessionFacts(v, &view), c.turns(v, key, turn),
	}
	part, err := c.steps(v, key, turn)
	if q.Get("show") == "graph" {
		part, err = c.graph(v, key, turn)
	}
	if err != nil {
		c.wrong(v, err)
		return
	}
	c.page(v, http.StatusOK, "Session", append(body, part)...)
}

// sessionFacts is the session at a glance, and the two acts about it.
func (c *Console) sessionFacts(v *visit, s *engine.View) h.HTML {
	figure := func(name string, value h.Part) h.HTML { return h.El("div", h.El("dt", h.T(name)), h.El("dd", value)) }
	parts := h.List{h.El("dl", h.Class("figures"),
		figure("Mark", levelWord(s.Taint.Level.String())), figure("Agent", foreign(s.Agent)),
		figure("Turns", h.T(strconv.FormatUint(s.Turns, 10))), figure("Calls", h.T(strconv.FormatInt(s.Steps, 10))),
		figure("Stopped", h.T(strconv.FormatInt(s.Denied, 10))), figure("Waiting", h.T(strconv.Itoa(pending(s)))))}
	for i := range s.Questions {
		if q := &s.Questions[i]; q.Pending() {
			parts = append(parts, h.El("p", h.Class("banner"), h.T("Waits: "), h.El("a", h.A("href", "/console/q/"+q.ID), headline(q))))
		}
	}
	for _, g := range s.Grants {
		left := " "
		if g.Calls > 0 {
			left = fmt.Sprintf(", %s more ", counted(g.Calls, "call"))
		}
		parts = append(parts, h.El("p", h.T("Grant "), h.El("code", h.T(g.ID)), h.T(" for "), foreign(fmt.Sprint(g.Tools)), h.T(left),
			c.actForm(v, "/console/session/act", s.Session, hidden("grant", g.ID), act("revoke", "End it"))))
	}
	return h.Join(parts, h.El("details", h.El("summary", h.T("Trust this context again…")),
		h.El("p", h.T("The main context goes back to the level owner. "+
			"What was read stays in the model's memory: do this only if you know it is harmless.")),
		c.actForm(v, "/console/session/act", s.Session, act("reset-trust", "Reset trust"))))
}

// counted is a number of things.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// turns is how one gets from turn to turn, and from the time line to the picture.
func (c *Console) turns(v *visit, key, now string) h.HTML {
	list, err := c.log.Turns(v.r.Context(), key)
	if err != nil || len(list) == 0 {
		return h.El("p", h.Class("quiet"), h.T("Begun, nothing called yet."))
	}
	options := h.List{h.A("name", "turn"), h.El("option", h.A("value", ""), h.T("all turns"))}
	for i := len(list) - 1; i >= max(0, len(list)-200); i-- {
		options = append(options, h.El("option", h.A("value", list[i].ID), h.Flag("selected", list[i].ID == now),
			h.T(clean(cut(list[i].ID, 60)))))
	}
	show := v.r.URL.Query().Get("show")
	return h.El("form", h.A("method", "get"), h.A("action", "/console/session"), h.Class("filters"), hidden("key", key),
		h.El("label", h.T("Turn "), h.El("select", options...)),
		h.El("label", h.T("Show "), h.El("select", h.A("name", "show"),
			h.El("option", h.A("value", "time"), h.T("time line")), h.El("option", h.A("value", "graph"), h.Flag("selected",
				show == "graph"), h.T("graph")))),
		choice("Only", "only", v.r.URL.Query().Get("only"), "", "stops", "falls"), h.El("button", h.T("Show")))
}

// steps is the time line, 100 steps at a time.
func (c *Console) steps(v *visit, key, turn string) (h.HTML, error) {
	q := v.r.URL.Query()
	after, _ := strconv.ParseUint(q.Get("after"), 10, 64)
	var lines h.List
	var last uint64
	more := false
	for s, err := range timeline.Of(c.monitor.Events(v.r.Context(), key)) {
		if err != nil {
			return h.HTML{}, err
		}
		only := q.Get("only")
		if s.Seq <= after || turn != "" && s.Turn != turn || only == "stops" && !s.Stops() || only == "falls" && !s.Fell {
			continue
		}
		if len(lines) == pageRows {
			more = true
			break
		}
		last = s.Seq
		lines = append(lines, stepLine(&s))
	}
	if len(lines) == 0 {
		return h.El("p", h.Class("empty"), h.T("No step matches. Choose all turns, or any step.")), nil
	}
	out := h.List{h.El("ol", append(h.List{h.Class("time")}, lines...)...)}
	if more {
		out = append(out, h.El("p", h.El("a", h.A("href", query("/console/session", q, "after", strconv.FormatUint(last, 10))),
			h.T("Later steps"))))
	}
	if after > 0 {
		out = append(out, h.El("p", h.El("a", h.A("href", query("/console/session", q, "after", "")), h.T("From the beginning"))))
	}
	return h.Join(out), nil
}

func stepLine(s *timeline.Step) h.HTML {
	line := h.List{h.El("strong", foreign(s.Title))}
	if s.Effect != "" {
		line = append(line, h.T(" "), effectWord(s.Effect))
	}
	if s.Fell {
		line = append(line, h.T(" "), h.El("b", h.Class("bad"), h.T("▼ trust fell")))
	}
	if s.Rule != "" {
		line = append(line, h.T(" "), h.El("code", h.T(clean(s.Rule))))
	}
	if s.Reason != "" {
		line = append(line, h.T(" "), foreign(s.Reason))
	}
	if s.Proof != "" {
		line = append(line, h.T(" proof: "+s.Proof))
	}
	if s.Did != "" {
		line = append(line, h.El("p", foreign(s.Did)))
	}
	if s.Text != "" && s.Did != "" {
		line = append(line, h.El("details", h.El("summary", h.T("The whole call")), h.El("p", quoted(cut(s.Text, 4000)))))
	} else if s.Text != "" {
		line = append(line, h.El("p", quoted(cut(s.Text, 600))))
	}
	if s.Warrant != "" {
		line = append(line, h.El("p", h.Class("quiet"), h.T("evidence: "), foreign(s.Warrant)))
	}
	for _, v := range s.Values {
		line = append(line, h.El("p", h.A("data-value", v.Value), value(v), h.T(" "),
			h.El("button", h.Class("quiet"), h.A("data-value", v.Value), h.A("type", "button"), h.T("where else?"))))
	}
	if s.Question != "" {
		line = append(line, h.El("p", h.El("a", h.A("href", "/console/q/"+s.Question), h.T("question "+s.Question))))
	}
	return h.El("li", h.Class(s.Mark), h.A("id", "s-"+strconv.FormatUint(s.Seq, 10)),
		h.El("span", h.Class("quiet"), h.T(s.Time.Format("15:04:05")+" #"+strconv.FormatUint(s.Seq, 10))), levelWord(s.Mark),
		h.El("div", line...))
}

// graph is the picture of a turn; each box leads to the time line of its turn.
func (c *Console) graph(v *visit, key, turn string) (h.HTML, error) {
	g, err := c.monitor.Graph(v.r.Context(), key, turn)
	if errors.Is(err, graph.ErrNoTurn) {
		return h.El("p", h.Class("empty"), h.T("This turn has no records. Choose another.")), nil
	}
	if err != nil {
		return h.HTML{}, err
	}
	q := url.Values{"key": {key}, "turn": {g.TurnID}}
	var b bytes.Buffer
	link := func(n *graph.Node) string {
		if n.Kind == graph.NodeToolCall && n.Blocked {
			return query("/console/session", q, "only", "stops")
		}
		return "/console/session?" + q.Encode()
	}
	if err := draw.InPage(&b, g, link); err != nil {
		return h.HTML{}, fmt.Errorf("draw graph: %w", err)
	}
	button := func(act, name string) h.HTML {
		return h.El("button", h.A("type", "button"), h.A("data-act", act), h.A("aria-label", name), h.T(act))
	}
	var tree bytes.Buffer
	if err := draw.Tree(&tree, g, nil); err != nil {
		return h.HTML{}, fmt.Errorf("draw graph: %w", err)
	}
	return h.El("section", h.El("p", button("+", "larger"), h.T(" "), button("-", "smaller"), h.T(" "), button("0", "as it was")),
		h.El("p", h.Class("quiet"), h.T("What came in, from top to bottom, and what the agent did with it. "+
			"A thick line leads from a text to the call in question that uses a value from it.")),
		h.El("div", h.Class("picture"), h.A("tabindex", "0"), h.A("role", "region"), h.A("aria-label", "Provenance graph"),
			h.Drawing(b.Bytes())),
		h.El("details", h.El("summary", h.T("The same as a tree")), h.El("pre", h.T(clean(cut(tree.String(), 60_000)))))), nil
}

// sessionAct resets trust or ends a grant.
func (c *Console) sessionAct(v *visit) {
	f, ctx := v.r.PostForm, v.r.Context()
	key := f.Get("what")
	if err := c.seenAct(ctx, key, f.Get("grant")); err != nil {
		c.wrong(v, err)
		return
	}
	var err error
	switch f.Get("do") {
	case "revoke": // it narrows: like a denial it takes no proof
		err = c.monitor.Revoke(ctx, key, f.Get("grant"), v.by(), "console")
	case "deny-all":
		if err = c.denyAll(ctx, v, key); err == nil {
			http.Redirect(v.w, v.r, "/console/", http.StatusSeeOther)
			return
		}
	case "reset-trust":
		if err = c.proven(v, "admin"); err == nil {
			err = c.monitor.Reset(ctx, engine.Ref{Session: key}, v.by(), "console")
		}
	default:
		err = say(http.StatusBadRequest, "Nothing was changed: say what to do.")
	}
	if err != nil {
		c.wrong(v, err)
		return
	}
	if f.Get("back") == "given" {
		http.Redirect(v.w, v.r, grantsPath, http.StatusSeeOther)
		return
	}
	if key == "" { // what holds in every session
		http.Redirect(v.w, v.r, "/console/sessions", http.StatusSeeOther)
		return
	}
	http.Redirect(v.w, v.r, "/console/session?key="+url.QueryEscape(key), http.StatusSeeOther)
}
