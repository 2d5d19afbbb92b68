package audit_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/audit"
)

func chain(n int) ([]audit.Record, audit.Head) {
	var head audit.Head
	records := make([]audit.Record, n)
	for i := range records {
		records[i] = audit.Record{Session: "s", Time: int64(i) * 1000, Kind: "call.decided", Body: fmt.Appendf(nil, `{"step":%d}`, i)}
		head = audit.Next(head, &records[i])
	}
	return records, head
}

func stream(records []audit.Record) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// BEY-12
func TestVerifyAcceptsWhatNextMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records, want := chain(rapid.IntRange(0, 40).Draw(t, "records"))
		got, err := audit.Verify(audit.Head{}, stream(records))
		if err != nil || got != want {
			t.Fatalf("whole chain: got %v, %v; want %v", got, err, want)
		}
		cut := rapid.IntRange(0, len(records)).Draw(t, "cut")
		middle, err := audit.Verify(audit.Head{}, stream(records[:cut]))
		if err != nil {
			t.Fatalf("first part: %v", err)
		}
		if got, err := audit.Verify(middle, stream(records[cut:])); err != nil || got != want {
			t.Fatalf("second part from its head: got %v, %v; want %v", got, err, want)
		}
	})
}

// broken reports whether the change is seen: by Verify, or, where the end of the chain
// was cut, by comparing the head with the one that is known.
func broken(t *rapid.T, records []audit.Record, head audit.Head) bool {
	got, err := audit.Verify(audit.Head{}, stream(records))
	if err != nil && !errors.Is(err, audit.ErrBroken) {
		t.Fatalf("got %v, want ErrBroken", err)
	}
	return err != nil || got != head
}

// BEY-12
func TestEveryEditOfOneFieldIsFound(t *testing.T) {
	edits := map[string]func(*rapid.T, *audit.Record){
		"session": func(_ *rapid.T, r *audit.Record) { r.Session += "x" },
		"kind":    func(_ *rapid.T, r *audit.Record) { r.Kind = "result.seen" },
		"time":    func(_ *rapid.T, r *audit.Record) { r.Time++ },
		"seq":     func(_ *rapid.T, r *audit.Record) { r.Seq++ },
		"hash":    func(t *rapid.T, r *audit.Record) { r.Hash[rapid.IntRange(0, 31).Draw(t, "byte")] ^= 1 },
		"body": func(t *rapid.T, r *audit.Record) {
			r.Body = slices.Clone(r.Body)
			r.Body[rapid.IntRange(0, len(r.Body)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		},
		"body cut":              func(_ *rapid.T, r *audit.Record) { r.Body = r.Body[:len(r.Body)-1] },
		"kind moved to session": func(_ *rapid.T, r *audit.Record) { r.Session, r.Kind = r.Session+r.Kind, "" },
		"kind moved to body":    func(_ *rapid.T, r *audit.Record) { r.Body, r.Kind = append([]byte(r.Kind), r.Body...), "" },
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				records, head := chain(rapid.IntRange(1, 12).Draw(t, "records"))
				edit(t, &records[rapid.IntRange(0, len(records)-1).Draw(t, "which")])
				if !broken(t, records, head) {
					t.Fatal("the edit was not found")
				}
			})
		})
	}
}

// BEY-12
func TestEveryRemovalSwapAndInsertionIsFound(t *testing.T) {
	changes := map[string]func(*rapid.T, []audit.Record) []audit.Record{
		"removal": func(t *rapid.T, r []audit.Record) []audit.Record {
			i := rapid.IntRange(0, len(r)-1).Draw(t, "which")
			return slices.Delete(r, i, i+1)
		},
		"removal renumbered": func(t *rapid.T, r []audit.Record) []audit.Record {
			i := rapid.IntRange(0, len(r)-1).Draw(t, "which")
			r = slices.Delete(r, i, i+1)
			for j := range r {
				r[j].Seq = uint64(j + 1)
			}
			return r
		},
		"cut at the end": func(t *rapid.T, r []audit.Record) []audit.Record {
			return r[:rapid.IntRange(0, len(r)-1).Draw(t, "kept")]
		},
		"swap": func(t *rapid.T, r []audit.Record) []audit.Record {
			i := rapid.IntRange(0, len(r)-2).Draw(t, "first")
			j := rapid.IntRange(i+1, len(r)-1).Draw(t, "second")
			r[i], r[j] = r[j], r[i]
			return r
		},
		"swap renumbered": func(t *rapid.T, r []audit.Record) []audit.Record {
			i := rapid.IntRange(0, len(r)-2).Draw(t, "first")
			r[i], r[i+1] = r[i+1], r[i]
			r[i].Seq, r[i+1].Seq = r[i+1].Seq, r[i].Seq
			return r
		},
		"a record twice": func(t *rapid.T, r []audit.Record) []audit.Record {
			i := rapid.IntRange(0, len(r)-1).Draw(t, "which")
			return slices.Insert(r, i, r[i])
		},
		"a forged record": func(t *rapid.T, r []audit.Record) []audit.Record {
			i := rapid.IntRange(0, len(r)).Draw(t, "where")
			var head audit.Head
			if i > 0 {
				head = audit.Head{Seq: r[i-1].Seq, Hash: r[i-1].Hash}
			}
			forged := audit.Record{Session: "s", Kind: "trust.reset", Body: []byte("{}")}
			audit.Next(head, &forged)
			return slices.Insert(r, i, forged)
		},
		"a record of another session": func(t *rapid.T, r []audit.Record) []audit.Record {
			other := audit.Record{Session: "other", Kind: r[0].Kind, Body: r[0].Body, Time: r[0].Time}
			audit.Next(audit.Head{}, &other)
			r[0] = other
			return r
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				records, head := chain(rapid.IntRange(2, 12).Draw(t, "records"))
				if !broken(t, change(t, records), head) {
					t.Fatal("the change was not found")
				}
			})
		})
	}
}

func TestVerifyNamesTheFirstRecordThatDoesNotFit(t *testing.T) {
	records, _ := chain(5)
	records[2].Body = []byte("{}")
	records[4].Kind = "x"
	head, err := audit.Verify(audit.Head{}, stream(records))
	if want := `audit chain broken: session "s": record 3 was changed`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if head.Seq != 2 {
		t.Errorf("verified up to record %d, want 2", head.Seq)
	}
	records, _ = chain(5)
	_, err = audit.Verify(audit.Head{}, stream(slices.Delete(records, 1, 2)))
	if want := `audit chain broken: session "s": record 3 follows 1`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestVerifyPassesOnAReadError(t *testing.T) {
	records, _ := chain(2)
	lost := errors.New("disk gone")
	_, err := audit.Verify(audit.Head{}, func(yield func(audit.Record, error) bool) {
		_ = yield(records[0], nil) && yield(audit.Record{}, lost)
	})
	if !errors.Is(err, lost) || errors.Is(err, audit.ErrBroken) {
		t.Errorf("got %v, want the read error alone: nobody changed the log", err)
	}
}

// BEY-12
func TestLedgerCoversEveryRecordItsOrderAndItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hash := rapid.Custom(func(t *rapid.T) (h audit.Hash) {
			h[0] = byte(rapid.IntRange(0, 2).Draw(t, "h"))
			return h
		})
		entry := rapid.Custom(func(t *rapid.T) (e struct {
			Prev    audit.Hash
			Batch   uint64
			Records []audit.Hash
		}) {
			e.Prev, e.Batch = hash.Draw(t, "prev"), uint64(rapid.IntRange(0, 2).Draw(t, "batch"))
			e.Records = rapid.SliceOfN(hash, 0, 3).Draw(t, "records")
			return e
		})
		a, b := entry.Draw(t, "a"), entry.Draw(t, "b")
		same := a.Prev == b.Prev && a.Batch == b.Batch && slices.Equal(a.Records, b.Records)
		if got := audit.Ledger(a.Prev, a.Batch, a.Records) == audit.Ledger(b.Prev, b.Batch, b.Records); got != same {
			t.Fatalf("%v and %v: same link %v, same entry %v", a, b, got, same)
		}
	})
}

func TestHashText(t *testing.T) {
	var h audit.Hash
	h[0], h[31] = 0xab, 0x01
	text, err := h.MarshalText()
	want := "ab000000000000000000000000000000000000000000000000000000000000" + "01"
	if err != nil || string(text) != want {
		t.Errorf("got %s, %v; want %s", text, err, want)
	}
}

func FuzzNextVerify(f *testing.F) {
	f.Add("s", "kind", []byte("{}"), int64(1), "s", "kind", []byte("{}"), int64(2))
	f.Add("", "", []byte(nil), int64(-1), "a", "b", []byte{0xff}, int64(0))
	f.Fuzz(func(t *testing.T, s1, k1 string, b1 []byte, t1 int64, s2, k2 string, b2 []byte, t2 int64) {
		a := audit.Record{Session: s1, Kind: k1, Body: b1, Time: t1}
		b := audit.Record{Session: s2, Kind: k2, Body: b2, Time: t2}
		head := audit.Next(audit.Next(audit.Head{}, &a), &b)
		got, err := audit.Verify(audit.Head{}, stream([]audit.Record{a, b}))
		if err != nil || got != head {
			t.Fatalf("got %v, %v; want %v", got, err, head)
		}
		x, y := a, audit.Record{Session: s2, Kind: k2, Body: b2, Time: t2}
		audit.Next(audit.Head{}, &y)
		same := s1 == s2 && k1 == k2 && string(b1) == string(b2) && t1 == t2
		if (x.Hash == y.Hash) != same {
			t.Fatalf("same hash %v, same record %v", x.Hash == y.Hash, same)
		}
	})
}
