package alarm_test

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/alarm"
)

func TestAlarmsAreToldOnceAndStandUntilAPersonHasSeenThem(t *testing.T) {
	var a alarm.Book
	now := time.Unix(1000, 0)
	if !a.Raise("s", "deaf", now) || a.Raise("s", "deaf", now) || !a.Raise("t", "deaf", now) {
		t.Fatal("news is told once")
	}
	open := a.Open()
	if len(open) != 2 || !alarm.Is(open[0].ID) || open[0].About != "s" {
		t.Fatalf("got %v", open)
	}
	if !a.Seen(open[0].ID) || a.Seen(open[0].ID) || a.Raise("s", "deaf", now) {
		t.Error("what was seen is told again")
	}
	if a.Still("t", []string{"deaf"}) || !a.Still("t", nil) || !a.Raise("t", "deaf", now) {
		t.Error("what is so again is no news")
	}
	if a.Still("s", nil); !a.Raise("s", "deaf", now) {
		t.Error("what was seen, mended, and is so again is no news")
	}
	for i := range 1000 {
		a.Raise("s", string(rune('a'+i)), now)
	}
	if n := len(a.Open()); n > 64 {
		t.Errorf("%d are kept", n)
	}
}
