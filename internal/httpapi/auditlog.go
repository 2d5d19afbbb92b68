package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/sight"
	"github.com/tidemark/tidemark/internal/reports/recordsearch"
	"github.com/tidemark/tidemark/internal/store"
)

func (m *management) auditRoutes() {
	route(m, operation{http.MethodGet, "/v1/audit", "listRecords",
		"Records of the log: in the order they were committed, or with any filter but session and kind the newest first"}, m.listRecords)
	route(m, operation{http.MethodGet, "/v1/audit/head", "auditHead", "Where the log stands, to be written down elsewhere"}, m.auditHead)
	route(m, operation{http.MethodGet, "/v1/audit/verify", "verifyAudit", "Find any edit, removal or reorder of the log"}, m.verifyAudit)
}

// record is a record of the log with its body decoded.
type record struct {
	ID      int64            `json:"id" doc:"place in the whole log"`
	Session string           `json:"session"`
	Seq     uint64           `json:"seq" doc:"place in its session"`
	Time    time.Time        `json:"time"`
	Kind    string           `json:"kind"`
	Body    strictjson.Value `json:"body"`
	Hash    string           `json:"hash"`
	Args    string           `json:"args,omitzero" doc:"of a call whose arguments are kept sealed: what they are, redacted"`
}

// recordOf shows a body that is no JSON, which only a tampered log has, as text.
func recordOf(e store.Entry) record {
	body := strictjson.Value(e.Body)
	if !body.IsValid() {
		body, _ = strictjson.Marshal(strings.ToValidUTF8(string(e.Body), "\uFFFD")) // text always has a form
	}
	return record{
		ID: e.ID, Session: e.Session, Seq: e.Seq, Time: time.Unix(0, e.Time).UTC(),
		Kind: e.Kind, Body: body, Hash: e.Hash.String(),
	}
}

// opened is a record with the arguments that are sealed in it beside its body, which is what the hash is of.
func (m *management) opened(e store.Entry) record {
	out := recordOf(e)
	out.Args = recordsearch.Sealed(e, m.monitor.Arguments)
	return out
}

type recordPage struct {
	Records []record `json:"records"`
	Next    int64    `json:"next,omitzero" doc:"the after of the next page, newest first its before; absent on the last"`
}

// auditQuery is which records are wanted.
type auditQuery struct {
	After   int64  `query:"after" minimum:"0" doc:"id of the last record already seen, oldest first"`
	Limit   int    `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"how many records at most"`
	Session string `query:"session" doc:"only this session"`
	Kind    string `query:"kind" doc:"only this kind of record"`
	Order   string `query:"order" enum:"oldest,newest" doc:"newest wherever a filter below is given; else oldest if absent"`
	Before  int64  `query:"before" minimum:"0" doc:"only records before this id, newest first"`
	Tool    string `query:"tool" doc:"decisions about this tool"`
	Effect  string `query:"effect" enum:"allow,confine,confirm,deny" doc:"decisions that came out so"`
	Rule    string `query:"rule" doc:"only decisions by rules whose name begins with this"`
	Person  string `query:"person" doc:"what this person answered or did: approver:ada, or ada"`
	Via     string `query:"via" doc:"what was answered or done through this door"`
	Text    string `query:"text" doc:"records with this text in them, in any case"`
	From    string `query:"from" doc:"from this time on: 2026-03-01, or with the time of day as RFC 3339 has it"`
	To      string `query:"to" doc:"up to this time; a day is all of it"`
}

// backwards is the query where it reads from the newest on; false: it does not.
func (q *auditQuery) backwards() (f recordsearch.Filter, ok bool, err error) {
	f = recordsearch.Filter{
		Kind: q.Kind, Session: q.Session, Tool: q.Tool, Effect: q.Effect, Rule: q.Rule, Person: q.Person, Via: q.Via, Text: q.Text,
		Before: q.Before,
	}
	if f.From, err = recordsearch.Time(q.From, false); err != nil {
		return f, true, badRequest("query.from: " + err.Error())
	}
	if f.To, err = recordsearch.Time(q.To, true); err != nil {
		return f, true, badRequest("query.to: " + err.Error())
	}
	plain := recordsearch.Filter{Kind: q.Kind, Session: q.Session}
	ok = q.Order == "newest" || f != plain
	if ok && (q.Order == "oldest" || q.After > 0) {
		return f, true, badRequest("query: these filters read the newest first; leave order and after out, and page with before")
	}
	return f, ok, nil
}

func (m *management) listRecords(ctx context.Context, in *auditQuery) (recordPage, error) {
	page := recordPage{Records: []record{}}
	f, newest, err := in.backwards()
	if err != nil {
		return page, err
	}
	look := sight.At(ctx, m.monitor)
	if newest {
		rows, next, err := recordsearch.Newest(ctx, m.log, m.monitor.Arguments, &f, in.Limit)
		for i := range rows {
			if !look.Session(ctx, rows[i].Session) {
				continue
			}
			page.Records = append(page.Records, m.opened(rows[i].Entry))
		}
		page.Next = next
		return page, err
	}
	entries, err := m.log.Since(ctx, store.EntryQuery{After: in.After, Limit: in.Limit, Session: in.Session, Kind: in.Kind})
	if err != nil {
		return page, err
	}
	if len(entries) == store.Page(in.Limit) {
		page.Next = entries[len(entries)-1].ID
	}
	for _, e := range seenEntries(ctx, look, entries) {
		page.Records = append(page.Records, m.opened(e))
	}
	return page, nil
}

func (m *management) auditHead(ctx context.Context, _ *struct{}) (store.Head, error) {
	return m.log.Head(ctx)
}

type verified struct {
	OK     bool         `json:"ok"`
	Report store.Report `json:"report"`
}

func (m *management) verifyAudit(ctx context.Context, _ *struct{}) (verified, error) {
	report, err := m.log.Verify(ctx, nil)
	return verified{OK: report.OK(), Report: report}, err
}
