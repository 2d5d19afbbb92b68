package console

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	h "github.com/tidemark/tidemark/internal/base/html"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/recordsearch"
	"github.com/tidemark/tidemark/internal/reports/timeline"
	"github.com/tidemark/tidemark/internal/store"
)

// auditFields are the names of the filter in the address.
var auditFields = []string{"kind", "session", "tool", "effect", "rule", "person", "via", "text", "from", "to"}

// auditFilterOf is which records a person wants to see. It stands in the address, so that it
// can be sent on.
func auditFilterOf(q url.Values) recordsearch.Filter {
	f := recordsearch.Filter{
		Kind: q.Get("kind"), Prefix: q.Get("session"), Tool: q.Get("tool"), Effect: q.Get("effect"), Rule: q.Get("rule"),
		Person: q.Get("person"), Via: q.Get("via"), Text: q.Get("text"),
	}
	f.From, _ = recordsearch.Time(q.Get("from"), false) // the form's own; anything else is none
	f.To, _ = recordsearch.Time(q.Get("to"), true)
	f.Before, _ = strconv.ParseInt(q.Get("before"), 10, 64)
	return f
}

func (c *Console) auditPage(v *visit) { c.showAudit(v, nil) }

func (c *Console) auditVerify(v *visit) {
	if c.offices.Verify == nil {
		c.wrong(v, say(http.StatusNotFound, "This server cannot check its log. Run: tidemark log verify"))
		return
	}
	out, err := c.offices.Verify(v.r.Context())
	if err != nil {
		c.wrong(v, err)
		return
	}
	c.showAudit(v, &out)
}

func (c *Console) showAudit(v *visit, check *Verified) {
	q := v.r.URL.Query()
	f := auditFilterOf(q)
	rows, next, err := c.seenRecords(v.r.Context(), &f, pageRows)
	if err != nil {
		c.wrong(v, err)
		return
	}
	head, err := c.log.Head(v.r.Context())
	if err != nil {
		c.wrong(v, err)
		return
	}
	body := h.List{
		h.El("h1", h.T("Audit")),
		h.El("p", h.T(fmt.Sprintf("%d records, head ", head.Records)), h.El("code", h.T(fmt.Sprintf("%d:%s", head.Batch, head.Hash))),
			h.T(". Keep this hash elsewhere: it proves later that no older record was changed.")),
		verifiedNote(check), auditForm(q),
		h.El("p", h.Class("pages"), h.El("a", h.A("href", query("/console/audit/verify", q, "before", "")), h.T("Verify the log")),
			h.El("a", h.A("href", query("/console/audit/export", q, "format", "ndjson")), h.T("Export as NDJSON")),
			h.El("a", h.A("href", query("/console/audit/export", q, "format", "csv")), h.T("Export as CSV"))),
		c.recordTable(rows),
	}
	if next > 0 {
		body = append(body, h.El("p", h.El("a", h.A("href", query("/console/audit", q, "before", strconv.FormatInt(next, 10))),
			h.T("Older"))))
	}
	c.page(v, http.StatusOK, "Audit", body...)
}

func verifiedNote(check *Verified) h.Part {
	if check == nil {
		return h.List(nil)
	}
	if len(check.Breaks) == 0 {
		return h.El("p", h.Class("banner"), h.A("role", "status"), h.El("strong", h.Class("allow-word"), h.T("Unbroken: ")),
			h.T(fmt.Sprintf("%d records in %d sessions, proofs of %d approvals good. Head ", check.Records, check.Sessions,
				check.Proofs)),
			h.El("code", h.T(check.Head)))
	}
	list := h.List{h.Class("banner bad"), h.A("role", "alert"), h.El("p", h.El("strong", h.T("The log was changed. ")),
		h.T("Everything after these places is in doubt; sessions that cannot be read are refused."))}
	for i, b := range check.Breaks {
		if i == 50 {
			list = append(list, h.El("p", h.T(fmt.Sprintf("and %d more", len(check.Breaks)-i))))
			break
		}
		list = append(list, h.El("p", foreign(b)))
	}
	return h.El("div", list...)
}

func auditForm(q url.Values) h.HTML {
	parts := h.List{h.A("method", "get"), h.A("action", "/console/audit"), h.Class("filters")}
	kinds := []string{
		"", "call.decided", "approval.answered", "approval.failed", "person.acted", "turn.began", "result.seen", "trust.reset",
		"write.reviewed", "grant.revoked", "resource.labelled", "resource.cleared", "turn.sealed", "context.seen",
		"model.called", "model.answered",
		"task.planned", "contract.drawn", "box.ended", "session.closed",
	}
	parts = append(parts, choice("Kind", "kind", q.Get("kind"), kinds...), choice("Verdict", "effect", q.Get("effect"), "",
		"allow", "confine", "confirm", "deny"))
	for _, name := range []string{"session", "tool", "rule", "person", "via", "text"} {
		parts = append(parts, field(strings.ToUpper(name[:1])+name[1:], name, q.Get(name)))
	}
	return h.El("form", append(parts, field("From", "from", q.Get("from"), h.A("type", "date")), field("To", "to", q.Get("to"),
		h.A("type", "date")),
		h.El("button", h.T("Filter")))...)
}

func (c *Console) recordTable(rows []recordsearch.Row) h.HTML {
	if len(rows) == 0 {
		return h.El("p", h.Class("empty"), h.T("No record matches. Remove a filter, the text or the dates first."))
	}
	var lines h.List
	for i := range rows {
		r := &rows[i]
		said := h.Part(h.El("strong", h.Class("bad"), h.T("cannot be read: verify the log")))
		if !r.Broken {
			said = recordText(&r.Event)
		}
		lines = append(lines, h.El("tr", h.El("th", h.A("scope", "row"), h.Class("n"), h.T(strconv.FormatInt(r.ID, 10))),
			h.El("td", c.ago(time.Unix(0, r.Entry.Time))),
			h.El("td", h.El("code", h.T(clean(r.Entry.Kind)))), h.El("td", sessionOrOwn(r.Session)), h.El("td", said,
				h.El("details", h.El("summary", h.T("Record")), h.El("p", h.T("Hash "), h.El("code", h.T(r.Hash.String()))),
					h.El("pre", foreign(string(r.Entry.Body)))))))
	}
	return h.El("section", h.Class("rows scroll"), h.A("tabindex", "0"), h.A("aria-label", "Records"), h.El("table",
		h.El("caption", h.T("Newest first")),
		h.El("thead", h.El("tr", heads("Record", "When", "Kind", "Session", "What")...)), h.El("tbody", lines)))
}

// sessionOrOwn leads to a session; logs of the monitor's own are none.
func sessionOrOwn(name string) h.Part {
	if strings.HasPrefix(name, store.Own) {
		return h.El("code", h.T(name))
	}
	return sessionLink(name)
}

// recordText is a record in one line.
func recordText(e *event.Event) h.Part {
	switch {
	case e.Decided != nil:
		return h.List{foreign(e.Decided.Tool), h.T(" "), effectWord(e.Decided.Effect), h.T(" "), h.El("code", h.T(clean(e.Decided.Rule))),
			lineIf(timeline.One(e).Did)}
	case e.Answer != nil:
		a := e.Answer
		proofText := ""
		if a.Proof != nil {
			proofText = ", proof: " + a.Proof.Kind
		}
		return h.List{h.T(clean(strings.TrimSpace(a.Verdict+" "+strings.Join(a.IDs,
			" ")) + " by " + a.By + ", " + a.Via + proofText + " ")), quotedIf(a.Reason), lineIf(a.What)}
	case e.Person != nil:
		return h.T(clean(strings.TrimSpace(e.Person.Act + " " + e.Person.By + " " + e.Person.Detail)))
	case e.Began != nil:
		return h.List{levelWord(e.Began.Level.String()), h.T(" "), h.El("code", h.T(clean(e.Began.Rule)))}
	case e.Seen != nil:
		return h.List{foreign(e.Seen.Tool), h.T(" "), levelWord(e.Seen.Label.Level.String())}
	case e.Resource != nil:
		return foreign(e.Resource.Key)
	}
	return h.List(nil)
}

// lineIf is a line of its own, where there is something to say.
func lineIf(text string) h.Part {
	if text == "" {
		return h.List(nil)
	}
	return h.El("p", foreign(text))
}

// quotedIf is somebody's words in quotation marks, where there are any.
func quotedIf(text string) h.Part {
	if text == "" {
		return h.List(nil)
	}
	return quoted(text)
}

// maxExport bounds one file.
const maxExport = 100_000

// auditExport sends exactly what the filter shows, with the head and the filter inside.
func (c *Console) auditExport(v *visit) {
	q := v.r.URL.Query()
	f := auditFilterOf(q)
	ctx := v.r.Context()
	head, err := c.log.Head(ctx)
	if err != nil {
		c.wrong(v, err)
		return
	}
	asCSV := q.Get("format") == "csv"
	name, kind := "tidemark-audit.ndjson", "application/x-ndjson"
	if asCSV {
		name, kind = "tidemark-audit.csv", "text/csv; charset=utf-8"
	}
	v.w.Header().Set("Content-Type", kind)
	v.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	used := map[string]string{"head": fmt.Sprintf("%d:%s", head.Batch, head.Hash)}
	for _, name := range auditFields {
		if q.Get(name) != "" {
			used[name] = q.Get(name)
		}
	}
	out := exporter{v: v, csv: csv.NewWriter(v.w), asCSV: asCSV}
	out.first(used)
	for sent := 0; sent < maxExport; {
		rows, next, err := c.seenRecords(ctx, &f, store.MaxLimit)
		if err != nil {
			return // half a file: its last line is missing
		}
		for i := range rows {
			out.row(&rows[i])
		}
		sent += len(rows)
		if f.Before = next; next == 0 {
			break
		}
	}
	out.csv.Flush()
}

type exporter struct {
	v     *visit
	csv   *csv.Writer
	asCSV bool
}

func (x *exporter) first(used map[string]string) {
	raw, err := strictjson.Marshal(map[string]any{"export": used})
	if err != nil {
		return // strings always have a form
	}
	if x.asCSV {
		_ = x.csv.Write([]string{"# " + string(raw)}) // what fails is seen when it is flushed
		_ = x.csv.Write([]string{"id", "time", "session", "seq", "kind", "hash", "body"})
		return
	}
	_, _ = fmt.Fprintf(x.v.w, "%s\n", raw) // a browser that is gone cannot be told
}

func (x *exporter) row(r *recordsearch.Row) {
	at := time.Unix(0, r.Entry.Time).UTC().Format(time.RFC3339Nano)
	if x.asCSV {
		_ = x.csv.Write([]string{
			strconv.FormatInt(r.ID, 10), at, cell(r.Session), strconv.FormatUint(r.Seq, 10), r.Entry.Kind, r.Hash.String(),
			cell(string(r.Entry.Body)),
		})
		return
	}
	raw, err := strictjson.Marshal(map[string]any{
		"id": r.ID, "time": at, "session": r.Session, "seq": r.Seq, "kind": r.Entry.Kind, "hash": r.Hash.String(),
		"body": string(r.Entry.Body),
	})
	if err == nil {
		_, _ = fmt.Fprintf(x.v.w, "%s\n", raw) // a browser that is gone cannot be told
	}
}

// cell keeps a spreadsheet from taking text for a formula.
func cell(s string) string {
	if strings.ContainsAny(s[:min(1, len(s))], "=+-@\t\r") {
		return "'" + s
	}
	return s
}
