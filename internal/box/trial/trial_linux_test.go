package trial_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/trial"
	"github.com/tidemark/tidemark/internal/test/boxtest"
)

func TestMain(m *testing.M) {
	box.Become()
	trial.Become()
	if os.Getenv("TRIAL_REDUCED") != "" {
		if err := boxtest.NoNamespaces(); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// BOX-05: Without namespaces every promise that a reduced box makes holds, and the first row says what is lost.
func TestEveryReducedPromiseHolds(t *testing.T) {
	if v, err := box.Landlock(); err != nil || v < 6 {
		t.Skipf("a reduced box needs a Landlock of version 6: %d %v", v, err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestEveryReduced")
	if os.Getenv("TRIAL_REDUCED") == "" {
		cmd.Env = append(os.Environ(), "TRIAL_REDUCED=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	rows, err := trial.Run(trial.Around{Data: t.TempDir(), Reduced: true})
	if err != nil {
		t.Fatal(err)
	}
	if !rows[0].Reduced || !strings.Contains(rows[0].Text, "reduced: ") || len(rows) < 9 {
		t.Errorf("%+v", rows)
	}
	for _, r := range rows {
		if !r.Held || r.Text == "" {
			t.Errorf("%+v", r)
		}
	}
	if rows, err := trial.Run(trial.Around{}); err != nil || rows[0].Held {
		t.Errorf("without asking for it: %+v %v", rows, err)
	}
}

// BOX-05: Every promise holds where a box can be made, and the data folder is tried as it is.
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
