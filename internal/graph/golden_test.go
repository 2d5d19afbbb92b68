package graph_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateGraphs = flag.Bool("update", false, "rewrite the golden files in testdata")

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	got = append(got, '\n')
	file := filepath.Join("testdata", name)
	if *updateGraphs {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
