package auditor

import (
	"context"
	"errors"
	"sync/atomic"
)

// model is a provider's endpoint.
type model interface {
	// ask sends a request once and returns the whole text of the answer. Its errors are
	// those of errors.go, and have errNoAnswer in them where the model did not answer.
	ask(ctx context.Context, r *request) (string, error)
	// list asks for something cheap that needs the key.
	list(ctx context.Context) error
}

// dialect is which parameters an endpoint takes. Models differ, and say so only when
// they are asked.
type dialect struct {
	noTemperature    bool // it has none to set
	completionTokens bool // the limit is called max_completion_tokens
	noSchema         bool // it cannot be held to a form
}

// without is the dialect that avoids what was just refused; ok is false if there is
// none. Each parameter is given up once, so it ends.
func (d dialect) without(err error) (next dialect, ok bool) {
	var r *refusal
	switch {
	case !errors.As(err, &r):
		return d, false
	case !d.noTemperature && r.names("temperature"):
		d.noTemperature = true
	case !d.completionTokens && r.names("max_tokens"):
		d.completionTokens = true
	case !d.noSchema && (r.names("response_format") || r.names("output_config") || r.names("schema") || r.names("structured")):
		d.noSchema = true
	default:
		return d, false
	}
	return d, true
}

// temperature is the one that gives the same answer again, where it can be set.
func (d dialect) temperature() *float64 {
	if d.noTemperature {
		return nil
	}
	return new(float64)
}

// speaker remembers the dialect that worked last.
type speaker struct{ last atomic.Pointer[dialect] }

// speak sends in the dialect that worked last and learns another one if it is refused.
func (s *speaker) speak(send func(dialect) (string, error)) (string, error) {
	d := *s.last.Load()
	for {
		text, err := send(d)
		next, ok := d.without(err)
		if !ok {
			if err == nil {
				s.last.Store(&d)
			}
			return text, err
		}
		d = next
	}
}
