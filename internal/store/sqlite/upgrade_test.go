package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

// A log of an older program finds its questions when it is opened, and says that it was one.
func TestALogOfAnOlderProgramIsUpgraded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := open(t, path)
	asked := storetest.Event("turn", 1)
	asked.Time = time.Now().UnixNano()
	asked.Decided.Ask = &event.Ask{ID: "ask-1", Expires: asked.Time + int64(time.Hour)}
	for i, events := range [][]*event.Event{storetest.Events("turn", 0, 3), {asked}} {
		if err := s.Append(t.Context(), []string{"a", "b"}[i], 0, events); err != nil {
			t.Fatal(err)
		}
	}
	if s.Upgraded() {
		t.Error("a new log counts as an older one")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	mustExec(t, db, `DROP TABLE asks`)
	mustExec(t, db, `DROP TABLE heads`)
	mustExec(t, db, `DELETE FROM schema_version WHERE version_id > 1`)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	if !s.Upgraded() {
		t.Error("it does not say that it was of an older program")
	}
	if names, err := s.Asking(t.Context(), asked.Time); err != nil || len(names) != 1 || names[0] != "b" {
		t.Errorf("questions are in %v, %v; want them in b", names, err)
	}
	if session, err := s.Asked(t.Context(), "ask-1"); err != nil || session != "b" {
		t.Errorf("the question is in %q, %v", session, err)
	}
}
