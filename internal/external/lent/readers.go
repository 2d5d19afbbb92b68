package lent

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/tool"
)

var (
	_ engine.Reader     = (*Readers)(nil)
	_ engine.ActAuditor = (*Readers)(nil)
	_ engine.Audited    = (*Readers)(nil)
)

// errNobody is the answer where no model reads for a session.
var errNobody = errors.New("no model reads in this session")

// Readers say which model reads for which session. What a host or an upstream answers counts in its own sessions only: each has a
// client of its own, with a memory of its own.
type Readers struct {
	Main  *auditor.Client            // of all other sessions; nil: nobody
	Desk  *Desk                      // nil: no agent's own model reads
	Hosts map[string]*auditor.Client // by agent
	Keys  *Keys                      // nil: no upstream is asked
	ups   map[at]*auditor.Client
}

// Upstream has sessions that ask at an upstream in a wire read by a client.
func (r *Readers) Upstream(name, wire string, c *auditor.Client) {
	if r.ups == nil {
		r.ups = map[at]*auditor.Client{}
	}
	r.ups[at{name, wire}] = c
}

// Lends reports whether an upstream is asked in a wire.
func (r *Readers) Lends(name, wire string) bool { return r.ups[at{name, wire}] != nil }

// All are the clients that are lent, for who has to close them.
func (r *Readers) All() []*auditor.Client {
	return slices.AppendSeq(slices.Collect(maps.Values(r.Hosts)), maps.Values(r.ups))
}

// of is who reads for a session; nil: nobody. An agent that the file marks is read for by its own model and by no other.
func (r *Readers) of(session string) *auditor.Client {
	if r.Desk != nil {
		if agent, ok := r.Desk.agentOf(session); ok {
			return r.Hosts[agent]
		}
	}
	if r.Keys != nil {
		if where, ok := r.Keys.where(session); ok {
			return r.ups[where]
		}
	}
	return r.Main
}

// Reads reports whether there is a model for a session.
func (r *Readers) Reads(session string) bool { return r.of(session) != nil }

// Prepare implements engine.Reader.
func (r *Readers) Prepare(session string, q intent.Request) {
	if c := r.of(session); c != nil {
		c.Prepare(session, q)
	}
}

// Contract implements engine.Reader.
func (r *Readers) Contract(ctx context.Context, session string, q intent.Request, wait bool) (intent.Contract, string, error) {
	if c := r.of(session); c != nil {
		return c.Contract(ctx, session, q, wait)
	}
	return intent.Contract{}, "", errNobody
}

// Definition implements engine.Reader. Definitions are read once for all sessions, so no host or client may say what they mean.
func (r *Readers) Definition(d tool.Definition) *tool.Reading {
	if r.Main == nil {
		return nil
	}
	return r.Main.Definition(d)
}

// Audited implements engine.Audited.
func (r *Readers) Audited(session string, before int) {
	if c := r.of(session); c != nil {
		c.Audited(session, before)
	}
}

// AuditAct implements engine.ActAuditor.
func (r *Readers) AuditAct(ctx context.Context, session string, q intent.ActQuestion) (intent.ActOpinion, error) {
	if c := r.of(session); c != nil {
		return c.AuditAct(ctx, session, q)
	}
	return intent.ActOpinion{}, errNobody
}
