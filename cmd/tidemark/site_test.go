//go:build !windows

package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every page for people who use it is in the site's list. What is for those who work on it lies in docs/dev.
func TestEveryPageIsOnTheSite(t *testing.T) {
	listed := regexp.MustCompile(`(?m): (\S+\.md)$`).FindAllStringSubmatch(document(t, "mkdocs.yml"), -1)
	var names []string
	for _, m := range listed {
		names = append(names, m[1])
	}
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %v, %v", files, err)
	}
	for _, file := range files {
		if name := filepath.Base(file); !slices.Contains(names, name) {
			t.Errorf("%s is not in mkdocs.yml", name)
		}
	}
}

// The site is built from the files as they are, with every link leading somewhere, where mkdocs is installed.
func TestTheSiteIsBuilt(t *testing.T) {
	mkdocs, err := exec.LookPath(cmp.Or(os.Getenv("MKDOCS"), "mkdocs"))
	if err != nil {
		t.Skip("no mkdocs here: scripts/setup installs it (MKDOCS names another)")
	}
	site := t.TempDir()
	if out, err := sh(t, []string{"MKDOCS=" + mkdocs}, "../../scripts/site", site); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for file, want := range map[string]string{"index.html": `href="deploy.html"`, "deploy.html": `href="operations.html"`, "CHANGELOG.html": "Unreleased"} {
		if raw, err := os.ReadFile(filepath.Join(site, file)); err != nil || !strings.Contains(string(raw), want) {
			t.Errorf("%s: %v, want %q in it", file, err, want)
		}
	}
}
