package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/reports/records"
	"github.com/tidemark/tidemark/store"
)

// auditLog is where records are read: at a running server, or in the file.
type auditLog interface {
	Newest(ctx context.Context, f records.Filter, most int) ([]store.Entry, error)
	Oldest(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
	Head(ctx context.Context) (store.Head, error)
}

var (
	_ auditLog = (*app.Log)(nil)
	_ auditLog = serverLog{}
)

// withAudit reads at the server that runs on the data folder, or where none does, or a database is named, in the
// log itself.
func (e *env) withAudit(ctx context.Context, step func(auditLog) error) error {
	if e.store == "" {
		c, err := e.findServer(ctx)
		if err != nil {
			return err
		}
		if c != nil {
			return step(serverLog{c})
		}
	}
	return e.withLog(ctx, func(log *app.Log) error { return step(log) })
}

// serverLog reads the log through the route of a running server.
type serverLog struct{ c *client }

// pageOfRecords is what the route answers.
type pageOfRecords struct {
	Records []recordJSON `json:"records"`
	Next    int64        `json:"next"`
}

// page asks for one page.
func (s serverLog) page(ctx context.Context, q url.Values) ([]store.Entry, int64, error) {
	var p pageOfRecords
	if err := s.c.call(ctx, http.MethodGet, "/v1/audit?"+q.Encode(), nil, &p); err != nil {
		return nil, 0, err
	}
	out := make([]store.Entry, len(p.Records))
	for i, r := range p.Records {
		hash, err := hex.DecodeString(r.Hash)
		if err != nil || len(hash) != len(audit.Hash{}) {
			return nil, 0, fmt.Errorf("read answer: record %d has no hash", r.ID)
		}
		out[i] = store.Entry{ID: r.ID, Record: audit.Record{
			Session: r.Session, Seq: r.Seq, Time: r.Time.UnixNano(), Kind: r.Kind, Body: r.Body, Hash: audit.Hash(hash),
		}}
	}
	return out, p.Next, nil
}

// Newest implements auditLog.
func (s serverLog) Newest(ctx context.Context, f records.Filter, most int) (out []store.Entry, err error) {
	q := url.Values{"order": {"newest"}}
	for name, value := range map[string]string{
		"session": f.Session, "kind": f.Kind, "tool": f.Tool, "effect": f.Effect, "rule": f.Rule, "person": f.Person, "via": f.Via, "text": f.Text,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, at := range map[string]time.Time{"from": f.From, "to": f.To} {
		if !at.IsZero() {
			q.Set(name, at.Format(time.RFC3339Nano))
		}
	}
	for {
		q.Set("limit", strconv.Itoa(min(most-len(out), store.MaxLimit)))
		page, next, err := s.page(ctx, q)
		if err != nil {
			return nil, err
		}
		if out = append(out, page...); next == 0 || len(out) >= most {
			return out, nil
		}
		q.Set("before", strconv.FormatInt(next, 10))
	}
}

// Since implements auditLog.
func (s serverLog) Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error) {
	in := url.Values{"after": {strconv.FormatInt(q.After, 10)}, "limit": {strconv.Itoa(store.Page(q.Limit))}}
	if q.Session != "" {
		in.Set("session", q.Session)
	}
	if q.Kind != "" {
		in.Set("kind", q.Kind)
	}
	page, _, err := s.page(ctx, in)
	return page, err
}

// Oldest implements auditLog.
func (s serverLog) Oldest(ctx context.Context, q store.EntryQuery) ([]store.Entry, error) {
	return app.Oldest(ctx, s, q)
}

// Head implements auditLog. Of it only how many records there are is told.
func (s serverLog) Head(ctx context.Context) (store.Head, error) {
	var h struct {
		Batch   uint64 `json:"batch"`
		Records int64  `json:"records"`
	}
	err := s.c.call(ctx, http.MethodGet, "/v1/audit/head", nil, &h)
	return store.Head{Batch: h.Batch, Records: h.Records}, err
}

// lost reports whether a server that was read from is not there any more.
func lost(log auditLog, err error) bool {
	var no *refused
	_, remote := log.(serverLog)
	return remote && err != nil && !errors.As(err, &no)
}
