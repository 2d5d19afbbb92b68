package postgres

import (
	"context"
	"iter"

	"github.com/tidemark/tidemark/internal/store/patient"
	"github.com/tidemark/tidemark/internal/store/shelf"
)

// Waited is what servers have in common beside their log, waited for as long as the log itself: those who wait for one another would
// wait in turn for a database that is silent.
type Waited struct {
	*Store
	patient *patient.Store
}

// NewWaited makes it.
func NewWaited(s *Store, p *patient.Store) Waited { return Waited{s, p} }

// Use puts something on the shelf, as Store.Use.
func (w Waited) Use(ctx context.Context, p shelf.Place, now int64) (first bool, err error) {
	err = w.patient.Do(ctx, func(ctx context.Context) (err error) { first, err = w.Store.Use(ctx, p, now); return err })
	return first, err
}

// Lookup reads what is on the shelf, as Store.Lookup.
func (w Waited) Lookup(ctx context.Context, id string, now int64) (body []byte, err error) {
	err = w.patient.Do(ctx, func(ctx context.Context) (err error) { body, err = w.Store.Lookup(ctx, id, now); return err })
	return body, err
}

// Reshelve changes what is on the shelf, as Store.Reshelve.
func (w Waited) Reshelve(
	ctx context.Context, begins string, now int64, change func(there map[string][]byte) (put []shelf.Place, gone []string, err error),
) error {
	return w.patient.Do(ctx, func(ctx context.Context) error { return w.Store.Reshelve(ctx, begins, now, change) })
}

// Tell tells other servers a word, as Store.Tell.
func (w Waited) Tell(ctx context.Context, word string) error {
	return w.patient.Do(ctx, func(ctx context.Context) error { return w.Store.Tell(ctx, word) })
}

// Note adds notes, as Store.Note.
func (w Waited) Note(ctx context.Context, bodies [][]byte) error {
	return w.patient.Do(ctx, func(ctx context.Context) error { return w.Store.Note(ctx, bodies) })
}

// Notes are the notes of all servers, as Store.Notes.
func (w Waited) Notes(ctx context.Context, after int64) iter.Seq2[shelf.Note, error] {
	return patient.Stream(ctx, w.patient, func(ctx context.Context) iter.Seq2[shelf.Note, error] { return w.Store.Notes(ctx, after) })
}
