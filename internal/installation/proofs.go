package installation

import (
	"context"
	"fmt"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/patient"
)

// VerifyAll checks the chains and the ledger, and then the proof of every approval.
func VerifyAll(ctx context.Context, log proofs, progress func(done, total int64)) (store.Report, int, error) {
	report, err := log.Verify(ctx, progress)
	if err != nil {
		return report, 0, err
	}
	breaks, good, err := approvalproof.Audit(ctx, log)
	report.Breaks = append(report.Breaks, breaks...)
	return report, good, err
}

// ProvenLog is the log whose check covers the proofs and the anchors too.
type ProvenLog struct {
	KeptLog
	patient *patient.Store
	anchors func(ctx context.Context) ([]store.Break, error)
}

// Proven makes one.
func Proven(log KeptLog, p *patient.Store, anchors func(ctx context.Context) ([]store.Break, error)) ProvenLog {
	return ProvenLog{log, p, anchors}
}

// Sessions, Turns, Since and Head do not wait for a log that is silent.
func (l ProvenLog) Sessions(ctx context.Context, q store.SessionQuery) (out []store.Session, err error) {
	err = l.patient.Look(ctx, func(ctx context.Context) (err error) { out, err = l.KeptLog.Sessions(ctx, q); return err })
	return out, err
}

// Turns is one of them.
func (l ProvenLog) Turns(ctx context.Context, session string) (out []store.Turn, err error) {
	err = l.patient.Look(ctx, func(ctx context.Context) (err error) { out, err = l.KeptLog.Turns(ctx, session); return err })
	return out, err
}

// Since is one of them.
func (l ProvenLog) Since(ctx context.Context, q store.EntryQuery) (out []store.Entry, err error) {
	err = l.patient.Look(ctx, func(ctx context.Context) (err error) { out, err = l.KeptLog.Since(ctx, q); return err })
	return out, err
}

// Head is one of them.
func (l ProvenLog) Head(ctx context.Context) (out store.Head, err error) {
	err = l.patient.Look(ctx, func(ctx context.Context) (err error) { out, err = l.KeptLog.Head(ctx); return err })
	return out, err
}

// Ping says whether the log takes records, by what is known of it.
func (l ProvenLog) Ping(ctx context.Context) error { return l.patient.Ready(ctx) }

// Verify checks the log, the proofs in it, and the anchors.
func (l ProvenLog) Verify(ctx context.Context, progress func(done, total int64)) (store.Report, error) {
	report, _, err := VerifyAll(ctx, l.KeptLog, progress)
	if err != nil {
		return report, err
	}
	breaks, err := l.anchors(ctx)
	report.Breaks = append(report.Breaks, breaks...)
	return report, err
}

// Verify checks the log, and the proof of every approval in it.
func (l *Log) Verify(ctx context.Context, progress func(done, total int64)) (store.Report, error) {
	report, good, err := VerifyAll(ctx, l.Reader, progress)
	l.Proofs = good
	return report, err
}

// Unproven is the error for what takes a proof where one is required: without a server there
// is nobody who could be asked for it.
func (l *Log) Unproven() error {
	if l.keys.Required() == approvalproof.None {
		return nil
	}
	return fmt.Errorf("%w: start the server and do it in the console (tidemark console)", engine.ErrProof)
}

// proofs is what a check of the whole log reads.
type proofs interface {
	Verify(ctx context.Context, progress func(done, total int64)) (store.Report, error)
	approvalproof.Log
}
