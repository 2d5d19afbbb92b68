package storetest

import (
	"errors"
	"testing"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/audit"
)

// broken checks that a session is not loaded past a record that was changed behind the store's back.
func broken(t *testing.T, open func(t *testing.T) Store) {
	if _, ok := open(t).(Tamperer); !ok {
		return
	}
	for name, test := range map[string]struct {
		change Change
		good   int // records that are given before
	}{
		"an edited body":                    {EditBody, 2},
		"an edited kind":                    {EditKind, 2},
		"a removed record":                  {Remove, 2},
		"two records in each other's place": {Swap, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := filled(t, open(t))
			s.(Tamperer).Tamper(t, test.change, "s1", 3)
			for _, after := range []int{0, 1, 2} {
				n, last := 0, error(nil)
				for _, err := range s.Load(t.Context(), "s1", uint64(after)) {
					if last = err; err == nil {
						n++
					}
				}
				if !errors.Is(last, audit.ErrBroken) || !errors.Is(last, tidemark.ErrUnavailable) || n != test.good-after {
					t.Errorf("after %d: got %d records and %v, want %d and a broken chain", after, n, last, test.good-after)
				}
			}
		})
	}
}
