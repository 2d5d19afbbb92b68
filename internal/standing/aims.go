package standing

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/warrant"
)

// KnownAims are the arguments that say whom a call is for or where it goes, where each stays as it is and the user said it
// or it is theirs. None where one is new: somebody new is not allowed for good.
func KnownAims(k *event.Kept, w *warrant.Warrant) []string {
	var out []string
	if w.Barred() {
		return nil
	}
	for i := range w.Slots {
		slot := &w.Slots[i]
		if slot.Kind != warrant.Aim && slot.Kind != warrant.Place {
			continue
		}
		path, _, _ := strings.Cut(slot.Path, "[") // a list stays as it is, whole
		if _, fixed := k.Fixed[path]; !fixed || slot.Has < warrant.Own || slot.Secret || slot.Fault {
			return nil
		}
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// SlotOf is the kind of a slot that a rule of the shipped tables is about; "?" where it is none of them.
func SlotOf(rule string) string {
	last := rule[strings.LastIndexByte(rule, '.')+1:]
	if _, known := warrant.KindNamed(last); known {
		return last
	}
	return "?"
}
