package question

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
)

// The bounds of what a line of the log says of a call.
const (
	maxDid   = 160 // characters of one value
	maxNamed = 3   // values that no slot is known of
)

// Did is what a call does, in a few words, from what the log keeps of it: the line that stood behind it (event.Decided.Warrant),
// and its arguments as JSON. Where nobody looked at what it does, it is the arguments; empty: neither is known.
func Did(warrant, args string) string {
	act, slots, _ := strings.Cut(warrant, " ")
	leaves := strictjson.Flat(args)
	var values []event.Shown
	for slot := range strings.FieldsSeq(slots) {
		of, _, _ := strings.Cut(slot, "=")
		kind, path, named := strings.Cut(of, ":")
		for _, l := range leaves {
			if named && At(path, l.Path) {
				values = append(values, event.Shown{Slot: kind, Path: l.Path, Value: l.Text})
			}
		}
	}
	return DidTo(act, values, args)
}

// DidTo is Did for a call whose values were shown to somebody.
func DidTo(act string, values []event.Shown, args string) string {
	f, ok := forms[act]
	parts := []string{f.verb}
	for _, t := range f.slots {
		if list := namedOf(values, t.kind); len(list) > 0 {
			parts = append(parts, strings.TrimSpace(t.before+" "+strings.Join(list, ", ")))
		}
	}
	if ok && len(parts) > 1 {
		return strings.Join(parts, " ")
	}
	parts = nil
	for _, l := range strictjson.Flat(args) {
		switch {
		case strings.HasPrefix(l.Text, "[REDACTED"): // that it is left out is no news of what was done
		case len(parts) == maxNamed:
			parts = append(parts, "…")
		case len(parts) > maxNamed:
		case ok && len(parts) == 0:
			parts = append(parts, briefly(l.Text)) // what stands first is what it is about
		default:
			parts = append(parts, name(l.Path)+": "+briefly(l.Text))
		}
	}
	if ok && len(parts) > 0 {
		return f.verb + " " + strings.Join(parts, ", ")
	}
	return strings.Join(parts, ", ")
}

// namedOf are the values of a kind of slot, each once.
func namedOf(values []event.Shown, kind string) []string {
	var list []string
	for _, v := range values {
		if v.Slot != kind || v.Path == "" || v.Value == "" {
			continue
		}
		value := briefly(v.Value)
		if v.Secret {
			value = "a secret"
		}
		if !slices.Contains(list, value) {
			list = append(list, value)
		}
	}
	if n := len(list) - maxHead; n > 0 {
		list = append(list[:maxHead], fmt.Sprintf("%d more", n))
	}
	return list
}

// briefly is a value in one line, which nobody takes for several.
func briefly(value string) string {
	line := strings.Join(strings.Fields(value), " ")
	short := text.First(line, maxDid)
	if len(short) < len(line) {
		return text.Shown(short) + "…"
	}
	return text.Shown(short)
}
