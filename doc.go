// Package tidemark is a reference monitor for AI agents: it knows where everything
// in an agent's context came from, keeps the high-water mark of distrust, and
// decides outside the model what the agent may still do.
//
// A host drives it with five verbs. [Monitor.Begin] says who speaks, [Monitor.Tools]
// says which tools the model may see now, [Monitor.Decide] says whether one exact call
// may run, [Monitor.Observe] labels what came back, and [Monitor.Answer] takes a
// person's vote on a held call. [Monitor.End] seals the turn.
//
// Invariants:
//   - Decide is the only place that decides; only an allowed, recorded call has a [Permit];
//   - a denial is a value, an error means "could not decide" and the caller must not act;
//   - a session's state is a fold over its log, so replaying the log gives the same state;
//   - the package does no I/O of its own: the log, the clock and randomness are handed in.
package tidemark
