package headless_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/internal/external/headless"
)

// programsFolder names a folder with the real programs, as npm installs them (node_modules/.bin).
const programsFolder = "HEADLESS_PROGRAMS"

// MAN-12: the real programs, by their recipes, send nothing but what they are given.
func TestTheRealProgramsDoNothingButAnswer(t *testing.T) {
	folder := os.Getenv(programsFolder)
	if folder == "" {
		t.Skip(programsFolder + " names no folder with claude, codex and gemini")
	}
	for _, name := range headless.Names() {
		t.Run(name, func(t *testing.T) {
			r, _ := headless.Find(name)
			path := filepath.Join(folder, r.Binary)
			if _, err := os.Stat(path); err != nil {
				t.Skipf("%s is not in %s", r.Binary, folder)
			}
			p, err := headless.New(headless.Options{Recipe: r, Path: path, Home: t.TempDir(), Folder: t.TempDir(), Getenv: os.Getenv})
			if err != nil {
				t.Fatal(err)
			}
			proof, err := p.Try(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !proof.Good() {
				t.Errorf("version %s: %q", proof.Version, proof.Faults)
			}
		})
	}
}
