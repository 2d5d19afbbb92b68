package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// Every command has a manual page that names its flags. scripts/man has them written to MAN_FOLDER.
func TestManualPages(t *testing.T) {
	folder := os.Getenv("MAN_FOLDER")
	if folder == "" {
		folder = t.TempDir()
	}
	root := (&env{}).command()
	root.DisableAutoGenTag = true
	when := time.Unix(0, 0) // the same pages whenever they are made
	if err := doc.GenManTree(root, &doc.GenManHeader{Title: "TIDEMARK", Section: "1", Source: "Tidemark", Date: &when}, folder); err != nil {
		t.Fatal(err)
	}
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		if c.Hidden || !c.IsAvailableCommand() && c.HasParent() {
			return
		}
		page, err := os.ReadFile(filepath.Join(folder, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Errorf("%s has no page: %v", c.CommandPath(), err)
			return
		}
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(string(page), strings.ReplaceAll("--"+f.Name, "-", `\-`)) && !strings.Contains(string(page), "--"+f.Name) {
				t.Errorf("the page of %s does not name --%s", c.CommandPath(), f.Name)
			}
		})
		for _, below := range c.Commands() {
			look(below)
		}
	}
	look(root)
}
