package keeper

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/box/ordered"
)

// by takes down the ticket of the command that came last: with it the monitor is asked what else was let in its session.
func (h *held) by(g Grant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if g.Ticket != "" {
		h.ticket = g.Ticket
	}
}

// ordered asks what the session's own file tools may have written to the workspace; nil: nobody can be asked. The folder's real name is
// found out before any command runs: afterwards a link in it could be one of theirs.
func (s *shelf) ordered(h *held, workspace string) func(context.Context) ([]ordered.Order, error) {
	if s.o.Writer == nil {
		return nil
	}
	named := filepath.Clean(h.grant.Workspace)
	real, err := filepath.EvalSymlinks(named)
	if err != nil {
		real = named
	}
	return func(ctx context.Context) ([]ordered.Order, error) {
		h.mu.Lock()
		ticket := h.ticket
		h.mu.Unlock()
		if ticket == "" {
			return nil, nil // a person opened it
		}
		list, err := s.o.Writer.Written(ctx, ticket)
		if err != nil {
			s.o.Say("ask what was ordered in session %s: %v", h.grant.Session, err)
			return nil, err
		}
		var out []ordered.Order
		for _, w := range list {
			if w.Step <= h.grant.Step { // what it left stood there before any command, or was taken away since
				continue
			}
			path := filepath.Clean(w.Path)
			if below, ok := strings.CutPrefix(path, named+"/"); ok {
				path = filepath.Join(real, below)
			}
			below, err := filepath.Rel(workspace, path)
			if err == nil && filepath.IsAbs(path) && filepath.IsLocal(below) {
				out = append(out, ordered.Order{Number: w.Step, Path: below, Whole: w.Whole, Text: w.Text, Edits: w.Edits})
			}
		}
		return out, nil
	}
}
