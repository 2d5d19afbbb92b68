package shim

import (
	"cmp"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
)

// answer makes the agent's form of a verdict complete.
func (a adapter) answer(e *catalogue.Event, v verdict) Outcome {
	switch {
	case v.reason == "":
		return passed(catalogue.Reply{Stdout: a.Pass(e, v.notice), Stderr: a.unsaid(e, v.notice), Code: catalogue.CodePass})
	case v.instead != nil:
		return passed(catalogue.Reply{Stdout: v.instead, Code: catalogue.CodePass})
	case v.asks != "" && a.Ask != nil:
		return refused(a.Ask(e, v.asks)) // not ours to pass: the person's
	case v.person != "" && a.Hold != nil:
		return refused(a.Hold(e, catalogue.Held{Reason: clean(v.reason), Person: v.person}))
	}
	return refused(a.Refuse(e, clean(v.reason)))
}

// fault is the answer where nothing could be asked or understood.
func (a adapter) fault(e *catalogue.Event, err error) Outcome {
	if e == nil {
		e = &catalogue.Event{}
	}
	reason := clean("Tidemark: " + cutLine(err.Error()))
	if e.Kind.Gates() {
		return refused(a.Refuse(e, reason))
	}
	if a.Warn != nil {
		if own, ok := a.Warn(e, reason); ok {
			return passed(own)
		}
	}
	return passed(catalogue.Reply{Stdout: a.Pass(e, ""), Stderr: reason, Code: catalogue.CodeWarn})
}

// clean keeps a reason printable and never empty: some agents let a silent refusal pass.
func clean(reason string) string {
	reason = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(reason, "?"))
	return cmp.Or(strings.TrimSpace(reason), "blocked by security policy")
}

// unsaid is a notice the agent's reply has no place for.
func (a adapter) unsaid(e *catalogue.Event, notice string) string {
	if notice == "" || len(a.Pass(e, notice)) > len(a.Pass(e, "")) {
		return ""
	}
	return clean(notice)
}
