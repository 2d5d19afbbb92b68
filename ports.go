package tidemark

import (
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/opened"
)

// What a Monitor may be given besides a policy.
type (
	// Store is a log that is open. Give it to one Monitor, and close it when that is no longer used.
	Store = opened.Store
	// Station is where the program itself stands: its data, its port, the home it runs in.
	Station = engine.Station

	// Reader understands requests and tools. What a page or a tool said is never shown to it.
	Reader = engine.Reader
	// Auditor judges intent. What it is handed has no place for tool output or for a system prompt.
	Auditor = engine.Auditor
	// ActAuditor says whether the user's words want an act. It is told the tool and where each value comes from, never a
	// value that others wrote.
	ActAuditor = engine.ActAuditor

	// Verifier is a check outside, asked last: it can only deny.
	Verifier = engine.Verifier
	// Check is a call as a verifier sees it.
	Check = engine.Check
	// Ruling is a verifier's answer. The zero Ruling denies.
	Ruling = engine.Ruling
)
