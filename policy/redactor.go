package policy

import "github.com/tidemark/tidemark/internal/base/redact"

// Redactor removes secrets from what is stored, shown or sent, the way a file says: what
// is shipped is always looked for, a file only adds to it. It errs on the side of
// removing too much. The zero Redactor removes everything.
type Redactor struct{ rules *redact.Redactor }

// Redactor removes secrets the way the file says.
func (s *Set) Redactor() Redactor { return Redactor{s.redactor} }

// Text is s without secrets.
func (r Redactor) Text(s string) string { return r.rules.Text(s) }

// Removed are the pieces that Text takes out of s, bounded, each also with the word and the
// line it stands in. They are secrets: they must not be stored, shown or sent.
func (r Redactor) Removed(s string) []string { return r.rules.Removed(s) }

// Bodies is Args with what is written to files in it, without secrets: for whoever is asked about that.
func (r Redactor) Bodies(tool string, args []byte, keys ...string) []byte {
	return r.rules.Bodies(tool, args, keys...)
}

// Args are the arguments of a call of that tool without secrets, as JSON of the same
// shape. What is not JSON becomes a JSON string of its text. The keys are paths of parameters
// that the reading of the call found to hold credentials.
func (r Redactor) Args(tool string, args []byte, keys ...string) []byte {
	return r.rules.Args(tool, args, keys...)
}

// Preview is the beginning of a content without secrets, one line of at most n characters.
func (r Redactor) Preview(content []byte, n int) string { return r.rules.Preview(content, n) }
