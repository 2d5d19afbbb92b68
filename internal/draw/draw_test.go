package draw_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/draw"
	"github.com/tidemark/tidemark/internal/graph"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
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

// PRV-09 SEQ-04 BEY-07
func TestPicturesOfTurns(t *testing.T) {
	turns := []struct {
		name  string
		graph *graph.Graph
	}{
		{"seed", seedTurn(t)}, {"rich", richTurn(t)}, {"hook", hookTurn(t)}, {"reset", resetTurn(t)}, {"empty", &graph.Graph{}},
	}
	kinds := map[string]func(io.Writer, *graph.Graph) error{
		"txt": func(w io.Writer, g *graph.Graph) error { return draw.Tree(w, g, nil) },
		"dot": draw.DOT, "svg": draw.SVG,
	}
	for _, turn := range turns {
		for kind, render := range kinds {
			t.Run(turn.name+"."+kind, func(t *testing.T) {
				var out bytes.Buffer
				if err := render(&out, turn.graph); err != nil {
					t.Fatal(err)
				}
				golden(t, turn.name+"."+kind, out.Bytes())
			})
		}
	}
}
