package doctor_test

import (
	"errors"
	"testing"

	"github.com/tidemark/tidemark/internal/reports/doctor"
)

func TestAPromiseThatDoesNotHoldIsAFault(t *testing.T) {
	for name, c := range map[string]struct {
		rows []doctor.BoxRow
		err  error
		want doctor.Grade
	}{
		"all hold":           {[]doctor.BoxRow{{Name: "box", Held: true}, {Name: "key", Held: true}}, nil, doctor.Good},
		"one does not":       {[]doctor.BoxRow{{Name: "box", Held: true}, {Name: "key"}}, nil, doctor.Broken},
		"no box can be made": {[]doctor.BoxRow{{Name: "box", Help: "a line"}}, nil, doctor.Limit},
		"a reduced one":      {[]doctor.BoxRow{{Name: "box", Held: true, Reduced: true}}, nil, doctor.Limit},
		"it cannot be tried": {nil, errors.New("no disk"), doctor.Broken},
	} {
		r := doctor.Examine(t.Context(), []doctor.Check{doctor.CheckBox(func() ([]doctor.BoxRow, error) { return c.rows, c.err })}, nil)
		if last := r.Findings[len(r.Findings)-1]; last.Grade != c.want || last.About != "box" {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
}
