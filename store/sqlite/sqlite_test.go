package sqlite_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/store/sqlite"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func TestAProgramFindsItsLogAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.db")
	at := tidemark.Ref{Session: "desk", Turn: "1"}
	steps := func(judge bool) int64 {
		log, err := sqlite.Open(t.Context(), file, sqlite.Options{Key: []byte("a key of the program's")})
		if err != nil {
			t.Fatal(err)
		}
		m, err := tidemark.New(tidemark.Options{Store: log})
		if err != nil {
			t.Fatal(err)
		}
		if judge {
			ada := trust.Sender{Provider: "chat", ID: "ada", IsOwner: true}
			if _, err := m.Begin(t.Context(), tidemark.Turn{Ref: at, Sender: ada, Message: "List my files."}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Decide(t.Context(), at, tool.Call{Name: "exec", Args: []byte(`{"command":"ls"}`)}); err != nil {
				t.Fatal(err)
			}
		}
		v, err := m.View(t.Context(), at.Session)
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		if err := errors.Join(log.Close(), log.Close()); err != nil {
			t.Error(err)
		}
		return v.Steps
	}
	if n := steps(true); n != 1 {
		t.Errorf("%d steps, want 1", n)
	}
	if n := steps(false); n != 1 {
		t.Errorf("after a restart %d steps, want 1", n)
	}
}

// Two monitors of one log would each know half of what happened.
func TestALogIsOneMonitors(t *testing.T) {
	log, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := tidemark.New(tidemark.Options{Store: log}); err != nil {
		t.Fatal(err)
	}
	if _, err := tidemark.New(tidemark.Options{Store: log}); !errors.Is(err, tidemark.ErrTaken) {
		t.Errorf("got %v, want ErrTaken", err)
	}
}
