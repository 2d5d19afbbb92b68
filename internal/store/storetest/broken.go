package storetest

import (
	"errors"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
)

// broken checks that a session is not loaded past a record that was changed behind the store's back.
func broken(t *testing.T, open func(t *testing.T) Store) {
	if _, ok := open(t).(Tamperer); !ok {
		return
	}
	for name, test := range map[string]struct {
		change Change
		seq    uint64
		good   int // records that are given before
	}{
		"an edited body":                    {EditBody, 3, 2},
		"an edited kind":                    {EditKind, 3, 2},
		"a removed record":                  {Remove, 3, 2},
		"two records in each other's place": {Swap, 3, 2},
		"a removed end":                     {Remove, 6, 5},
	} {
		t.Run(name, func(t *testing.T) {
			s := filled(t, open(t))
			s.(Tamperer).Tamper(t, test.change, "s1", test.seq)
			for after := range test.good + 1 {
				n, last := 0, error(nil)
				for _, err := range s.Load(t.Context(), "s1", uint64(after)) {
					if last = err; err == nil {
						n++
					}
				}
				if !errors.Is(last, audit.ErrBroken) || !errors.Is(last, engine.ErrUnavailable) || n != test.good-after {
					t.Errorf("after %d: got %d records and %v, want %d and a broken chain", after, n, last, test.good-after)
				}
			}
		})
	}
}
