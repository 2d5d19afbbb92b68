package mandate_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/pack"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

// brought is what a call brought, in one of the forms that results have.
func brought(t *rapid.T) string {
	word := rapid.SampledFrom([]string{"Petra", "Holm", "parcel", "n-41", "12.50", "2026-03-01", "Kes", "sluice"})
	w := func() string { return word.Draw(t, "word") }
	switch rapid.IntRange(0, 4).Draw(t, "form") {
	case 0:
		return fmt.Sprintf(`[{"id":%q,"name":%q,"lines":[{"what":%q,"sum":"7"}]},{"id":%q,"name":%q}]`, w(), w(), w(), w(), w())
	case 1:
		return fmt.Sprintf("Name: %s\nDue: %s\n\nName: %s\nDue: %s\n", w(), w(), w(), w())
	case 2:
		return fmt.Sprintf("%s wrote: “%s” is at (%s), and %s.", w(), w(), w(), w())
	case 3:
		return fmt.Sprintf("| name | id |\n|---|---|\n| %s | %s |\n| %s | %s |", w(), w(), w(), w())
	}
	return w() + "\n" + w() + ", " + w()
}

// Whether records are read at once, when somebody asks, or after they were packed in between, they are the same.
func TestPropertyRecordsThatAreReadLaterAreTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now, later, between := mandate.NewRecords(), mandate.NewLater(), mandate.NewLater()
		for step := range uint64(rapid.IntRange(1, 6).Draw(rt, "results")) {
			content := []byte(brought(rt))
			call := []string{rapid.SampledFrom([]string{"Petra", "n-41", ""}).Draw(rt, "asked for")}
			free, list, page := rapid.Bool().Draw(rt, "free"), rapid.Bool().Draw(rt, "list"), rapid.Bool().Draw(rt, "page")
			if page {
				now.AddPage(step, "find", call, content)
				later.AddPage(step, "find", call, content)
				between.AddPage(step, "find", call, content)
			} else {
				now.Add(step, "find", call, content, free, list)
				later.Add(step, "find", call, content, free, list)
				between.Add(step, "find", call, content, free, list)
			}
			if rapid.Bool().Draw(rt, "told") {
				now.Formal(step, call)
				later.Formal(step, call)
				between.Formal(step, call)
			}
			if rapid.Bool().Draw(rt, "asked") {
				later.All()
			}
			if rapid.Bool().Draw(rt, "packed") {
				var w pack.Writer
				between.Pack(&w)
				r := pack.NewReader(w.Out())
				between = mandate.NewLater()
				if between.Unpack(r); r.Done() != nil || !between.Packs() {
					rt.Fatal("it cannot be unpacked")
				}
			}
			clear(content) // nothing of it is kept but copies
		}
		want := mandate.Dump(now)
		for name, got := range map[string]string{"later": mandate.Dump(later.All()), "packed between": mandate.Dump(between.All())} {
			if got != want {
				rt.Fatalf("%s: got\n%s\nwant\n%s", name, got, want)
			}
		}
	})
}

func TestResultsThatAreTooManyAreReadAndLetGo(t *testing.T) {
	l := mandate.NewLater()
	long := `[{"text":"` + strings.Repeat("so it goes ", 100<<10) + `"}]`
	for step := range uint64(10) {
		l.Add(step, "find", nil, []byte(long), false, false)
	}
	if l.Packs() || l.Size() > 2<<20 {
		t.Errorf("they take %d bytes, and can be packed: %v", l.Size(), l.Packs())
	}
}
