package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/store"
)

func (m *management) auditRoutes() {
	route(m, operation{http.MethodGet, "/v1/audit", "listRecords", "Records of the log, in the order they were committed"}, m.listRecords)
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

type recordPage struct {
	Records []record `json:"records"`
	Next    int64    `json:"next,omitzero" doc:"the after of the next page; absent on the last"`
}

func (m *management) listRecords(ctx context.Context, in *struct {
	After   int64  `query:"after" minimum:"0" doc:"id of the last record already seen"`
	Limit   int    `query:"limit" default:"100" minimum:"1" maximum:"1000"`
	Session string `query:"session" doc:"only this session"`
	Kind    string `query:"kind" doc:"only this kind of record"`
}) (recordPage, error) {
	page := recordPage{Records: []record{}}
	entries, err := m.log.Since(ctx, store.EntryQuery{After: in.After, Limit: in.Limit, Session: in.Session, Kind: in.Kind})
	if err != nil {
		return page, err
	}
	for _, e := range entries {
		page.Records = append(page.Records, recordOf(e))
	}
	if len(entries) == store.Page(in.Limit) {
		page.Next = entries[len(entries)-1].ID
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
