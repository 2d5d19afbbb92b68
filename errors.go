package tidemark

import (
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/opened"
)

var (
	// ErrRef is returned for a reference that names no session.
	ErrRef = engine.ErrRef
	// ErrSealed is returned for a turn whose answer has gone out.
	ErrSealed = engine.ErrSealed
	// ErrPermit is returned by Permit.Redeem for anything but the first use for the exact call that was decided.
	ErrPermit = engine.ErrPermit
	// ErrNotFound is returned for sessions, turns and questions nobody knows.
	ErrNotFound = engine.ErrNotFound
	// ErrUnavailable is in every error that says the log could not take or give a record.
	ErrUnavailable = engine.ErrUnavailable
	// ErrTaken is returned for a Store that a Monitor has already.
	ErrTaken = opened.ErrTaken
	// ErrHost is returned for a host with a dialog that has no plain name.
	ErrHost = engine.ErrHost
)

// AnswerError is an answer that changed nothing: a wrong, late or foreign code, or a
// question that is no longer open.
type AnswerError = engine.AnswerError
