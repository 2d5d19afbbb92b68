package mandate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

// many are records with the same value, of one result each: a folder, a currency.
func many(n int) *mandate.Records {
	r := mandate.NewRecords()
	for i := range n {
		r.Add(uint64(i+1), "list_letters", nil, fmt.Appendf(nil, `[{"folder":"inbox","title":"Mail","letter":"L%d"}]`, i), false, true)
	}
	return r
}

// MAN-10: what a question tells of a value costs the same however many records have it: of too many nothing is told.
func TestOfAValueOfTooManyRecordsNothingIsTold(t *testing.T) {
	few, lots := many(20), many(2000)
	if got := few.Title("inbox"); got != "Mail" {
		t.Errorf("of few records: got the title %q", got)
	}
	if title, set := lots.Title("inbox"), lots.SetOf("inbox"); title != "" || set != (mandate.Set{}) {
		t.Errorf("of many records: got %q and %v", title, set)
	}
	if got := lots.Title("L7"); got != "Mail" {
		t.Errorf("of one record among many: got the title %q", got)
	}
	less, more := testing.AllocsPerRun(5, func() { few.Title("inbox") }), testing.AllocsPerRun(5, func() { lots.Title("inbox") })
	if more > less {
		t.Errorf("%v allocations for 2000 records, and %v for 20", more, less)
	}
}

// What is told of lists is worked out again when more was read.
func TestAListIsCountedAgainWhenMoreWasRead(t *testing.T) {
	r := mandate.NewRecords()
	r.Add(1, "list_letters", nil, []byte(`[{"letter":"L1"},{"letter":"L2"}]`), false, true)
	if got := r.SetOf("L1").Many; got != 2 {
		t.Fatalf("got %d", got)
	}
	r.Add(2, "list_letters", nil, []byte(`[{"letter":"L3"},{"letter":"L4"},{"letter":"L5"}]`), false, true)
	if got, more := r.SetOf("L1").Many, r.SetOf("L3").Many; got != 2 || more != 3 {
		t.Errorf("got %d and %d", got, more)
	}
}

// MAN-10: of the one record of a value a question tells what it is, and of its lists how many there are.
func TestARecordTellsWhatItIs(t *testing.T) {
	r := mandate.NewRecords()
	r.Add(1, "list_files", nil, []byte(`[{"id":"F1","name":"Plan","size":"2.4 GB","kind":"folder","members":["ana","ben","cleo"],"owner":"Ana"},{"id":"F2"}]`), false, true)
	facts, step := r.Facts("F1")
	if got, want := strings.Join(facts, ", "), "size: 2.4 GB, kind: folder, members: 3 of them"; !strings.HasPrefix(got, want) || step != 1 {
		t.Errorf("got %q of step %d, want %q", got, step, want)
	}
	if facts, _ := r.Facts("F2"); len(facts) != 0 {
		t.Errorf("of a record that says nothing: %q", facts)
	}
	r.Add(2, "list_files", nil, []byte(`[{"id":"F1","size":"1 KB"}]`), false, true)
	if facts, _ := r.Facts("F1"); len(facts) != 0 {
		t.Errorf("of two records: %q", facts)
	}
}
