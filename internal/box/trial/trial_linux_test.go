package trial_test

import (
	"os"
	"testing"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/trial"
)

func TestMain(m *testing.M) {
	box.Become()
	trial.Become()
	os.Exit(m.Run())
}

// Every promise holds where a box can be made, and the data folder is tried as it is.
func TestEveryPromiseHolds(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(data+"/tokens.json", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := trial.Run(trial.Around{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	if !rows[0].Held {
		t.Skip(rows[0].Text, rows[0].Help)
	}
	if len(rows) < 11 {
		t.Errorf("only %d things were tried", len(rows))
	}
	for _, r := range rows {
		if !r.Held || r.Text == "" {
			t.Errorf("%+v", r)
		}
	}
}
