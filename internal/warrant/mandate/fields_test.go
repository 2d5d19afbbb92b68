package mandate

import (
	"reflect"
	"slices"
	"testing"
)

// A view blanks what it knows of. Whoever gives Records something new says here what a view shows of it.
func TestAViewKnowsAllThatRecordsHold(t *testing.T) {
	known := []string{
		"all", "whole", "figures", // blank where the item does not name them
		"covers",                  // of words and calls
		"named",                   // only words of the item are looked for in it, and what has one of them is not blank
		"calls", "firsts", "work", // of calls, and of decisions
		"size", "full",
		"pairs",  // of the owner's, whatever was read
		"looked", // of ours, by names of the owner's: what was found is in the records
		"once",   // for people; a view has none
		"finds",  // of words alone, whatever was read
		"says",   // of tools, whatever was read
	}
	for f := range reflect.TypeFor[Records]().Fields() {
		if !slices.Contains(known, f.Name) {
			t.Errorf("a view does not know what to show of %s", f.Name)
		}
	}
}
