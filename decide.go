package tidemark

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

// Permit is proof that one exact call was decided, recorded and allowed. Only Decide
// makes one; nil and the zero Permit cover nothing. Whatever lets a call through takes
// a *Permit and redeems it.
type Permit = engine.Permit

// DecideOption says how a call is asked about.
type DecideOption func(*decideOptions)

// decideOptions is how a call is asked about.
type decideOptions struct {
	patience time.Duration
	after    string
	dialog   string
	inDialog bool
	gated    bool
	folder   string
}

// Wait has a held call wait for the owner's answer, so long at most; then the verdict is the one on the answered call.
// One that nobody answered is held still, or Late if its question has expired.
func Wait(patience time.Duration) DecideOption {
	return func(a *decideOptions) { a.patience = patience }
}

// After is for a host that waited by itself: the call was held, and this is its question. A no to that question stands, though
// another turn may have begun since.
func After(question string) DecideOption { return func(a *decideOptions) { a.after = question } }

// InDialog is for a host that asks its person about a held call in a dialog of its own, and names itself: at most 32 lower-case
// letters, digits and dashes. What then ran it tells with Ran.
func InDialog(host string) DecideOption {
	return func(a *decideOptions) { a.dialog, a.inDialog = host, true }
}

// Gated is for a call that the host asks about once more before it runs: what is not denied outright is left to that, and
// nobody is asked yet. The verdict has no Permit.
func Gated() DecideOption { return func(a *decideOptions) { a.gated = true } }

// In says which folder the host works in: files that earlier sessions left there count.
func In(folder string) DecideOption { return func(a *decideOptions) { a.folder = folder } }

// Decide says whether this exact call may run now. An allowed call has a Permit, which its host redeems when it
// runs it. Wait, After, InDialog and Gated exclude one another.
func (m *Monitor) Decide(ctx context.Context, ref Ref, call tool.Call, how ...DecideOption) (Verdict, error) {
	var a decideOptions
	for _, o := range how {
		o(&a)
	}
	if err := a.check(); err != nil {
		return Verdict{}, fmt.Errorf("decide %s: %w", tool.Name(call.Name), err)
	}
	asked := []engine.DecideOption{engine.In(a.folder), engine.After(a.after)}
	switch {
	case a.inDialog:
		asked = append(asked, engine.InDialog(a.dialog))
	case a.gated:
		asked = append(asked, engine.Gated())
	}
	v, err := m.waits.Decide(ctx, ref, call, a.patience, asked...)
	if err != nil {
		return Verdict{}, err
	}
	if a.gated {
		v.Permit = nil
	}
	return verdictOf(v), nil
}

// errHow is returned for options that exclude one another.
var errHow = errors.New("give one of Wait, After, InDialog and Gated")

func (a *decideOptions) check() error {
	n := 0
	for _, set := range []bool{a.patience > 0, a.after != "", a.inDialog, a.gated} {
		if set {
			n++
		}
	}
	if n > 1 {
		return errHow
	}
	return nil
}

// Ran tells that a host ran a call about which its own dialog was to ask (InDialog), so that the question is closed.
func (m *Monitor) Ran(ctx context.Context, ref Ref, call tool.Call, host string) error {
	return m.engine.Ran(ctx, ref, call, host)
}
