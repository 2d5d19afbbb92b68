// Package endpoint reads out of a configuration file what it takes to ask somebody
// outside: addresses, time limits, and secrets whose values stand in the environment.
//
// Invariants:
//   - a Secret prints as nothing but a mark, whatever the verb;
//   - a secret of which a part is missing is a fault, not a shorter secret.
package endpoint

import (
	"errors"
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/outbound"
)

// Reader is a Decoder of sections about others. Every adapter reads its own with it.
type Reader struct {
	*configfile.Decoder
	Env        func(string) (string, bool)
	Production bool // the environment says that this is no development machine
}

// Seconds is a span of whole seconds within bounds.
func (r *Reader) Seconds(n *configfile.Node, low, high int64) time.Duration {
	v, _ := r.Int(n, low, high)
	return time.Duration(v) * time.Second
}

// Address is an https URL; http only where production is not meant.
func (r *Reader) Address(n *configfile.Node) string {
	v, ok := r.Text(n)
	if !ok {
		return ""
	}
	u, err := outbound.URL(v)
	switch {
	case err != nil:
		r.Hintf(n.Pos, "write it as https://host/path", "%s: %v", n.Path, err)
	case u.Scheme == "http" && r.Production:
		r.Hintf(n.Pos, "use https", "%s is not encrypted: a deny could be made an allow on the way", n.Path)
	case u.Scheme == "http":
		r.Warnf(n.Pos, "%s is not encrypted: a deny could be made an allow on the way; production refuses it", n.Path)
	}
	return v
}

// Secret is a text that should not stand in the file itself.
func (r *Reader) Secret(n *configfile.Node) (Secret, bool) {
	v, ok := r.Expanded(n)
	if _, refs, _ := expand(n.Text, r.Env); ok && refs == 0 {
		r.Warnf(n.Pos, "%s stands in the file itself: better ${NAME}, and the value in the environment", n.Path)
	}
	return v, ok
}

// Expanded is a text with its references to the environment replaced.
func (r *Reader) Expanded(n *configfile.Node) (Secret, bool) {
	text, ok := r.Text(n)
	if !ok {
		return "", false
	}
	v, _, slips := expand(text, r.Env)
	for _, s := range slips {
		hint := "set it before starting"
		if errors.Is(s.err, errDollar) {
			hint = "write ${NAME} for a variable, $$ for a dollar sign"
		}
		r.Hintf(n.At(1, s.at), hint, "%s: %v", n.Path, s.err)
	}
	return Secret(v), len(slips) == 0
}

// Unused is a secret of something that is off: it may be incomplete, and then it is none.
func (r *Reader) Unused(n *configfile.Node) Secret {
	v, _, slips := expand(n.Text, r.Env)
	if len(slips) > 0 {
		return ""
	}
	return Secret(v)
}

// Needs reports the keys that a section lacks.
func (r *Reader) Needs(n *configfile.Node, keys ...string) {
	if !n.Empty() && n.Kind != configfile.Map {
		return // that was said
	}
	for _, key := range keys {
		if n.Get(key) == nil {
			r.Errorf(n.Pos, "%s needs %s", n.Path, key)
		}
	}
}
