package valueindex_test

import (
	"slices"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

func TestSiblingsAreTheShortFieldsOfTheSameRecord(t *testing.T) {
	x := valueindex.New(0)
	x.Result(valueindex.Result{Tool: "find_parcels", Step: 1, External: true, Content: []byte(`[
		{"parcel_id":"prc-5512","title":"Walnut crate","note":"a long note that tells at length where the crate has been and who has seen it there"},
		{"parcel_id":"prc-7781","title":"Larch crate"}]`)})
	siblings := func(value string) (out []string) {
		x.Siblings(value, func(text string) bool {
			x.Of(text) // the index may be asked meanwhile
			out = append(out, text)
			return true
		})
		return out
	}
	if got := siblings("prc-5512"); !slices.Equal(got, []string{"Walnut crate"}) {
		t.Errorf("beside prc-5512 stand %q", got)
	}
	if got := siblings("prc-9999"); got != nil {
		t.Errorf("beside nothing stand %q", got)
	}
}
