//go:build !windows

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What goreleaser makes of .goreleaser.yaml can be installed, and says what it is made of. scripts/snapshot makes it, publishes
// nothing, and runs this.
func TestASnapshotCanBeInstalledAndRun(t *testing.T) {
	dist := os.Getenv("SNAPSHOT")
	if dist == "" {
		t.Skip("SNAPSHOT names no folder: make snapshot")
	}
	here := runtime.GOOS + "_" + runtime.GOARCH
	archives := append(files(t, dist, "*.tar.gz"), files(t, dist, "*.zip")...)
	t.Run("checksums", func(t *testing.T) { wantSums(t, dist, archives) })
	t.Run("archives and their parts", func(t *testing.T) {
		for _, archive := range archives {
			wantParts(t, archive+".sbom.json", wantArchive(t, archive))
		}
	})
	t.Run("install script", func(t *testing.T) { installFrom(t, theOnly(t, dist, "*_"+here+".tar.gz")) })
	t.Run("deb", func(t *testing.T) {
		if _, err := exec.LookPath("dpkg"); err != nil {
			t.Skip("no dpkg here")
		}
		wantDeb(t, theOnly(t, dist, "*_"+here+".deb"))
	})
	t.Run("rpm", func(t *testing.T) {
		if _, err := exec.LookPath("rpm"); err != nil {
			t.Skip("no rpm here")
		}
		wantRPM(t, theOnly(t, dist, "*_"+here+".rpm"))
	})
	t.Run("cask", func(t *testing.T) { wantCask(t, theOnly(t, dist, "homebrew/Casks/tidemark.rb"), archives) })
}

// files are those of a folder that a pattern is for.
func files(t *testing.T, folder, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// wantSums holds every line of a release's checksums against its file; archives must be among them.
func wantSums(t *testing.T, dist string, archives []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		named[name] = true
		if got := digest(t, filepath.Join(dist, name)); got != sum {
			t.Errorf("%s has %s, the release says %s", name, got, sum)
		}
	}
	for _, archive := range archives {
		if !named[filepath.Base(archive)] || !named[filepath.Base(archive)+".sbom.json"] {
			t.Errorf("%s and its parts are not both in\n%s", filepath.Base(archive), text)
		}
	}
	if len(archives) == 0 {
		t.Error("there is no archive")
	}
}

func digest(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// wantArchive looks whether an archive has all it should, and returns its programs.
func wantArchive(t *testing.T, archive string) (programs [][]byte) {
	t.Helper()
	held, end := unpacked(t, archive), ""
	if strings.HasSuffix(archive, ".zip") {
		end = ".exe"
	}
	for _, name := range []string{"tidemark" + end, "tidemark-hook" + end, "LICENSE", "README.md", "CHANGELOG.md", "man/tidemark.1"} {
		if len(held[name]) == 0 {
			t.Errorf("%s is not in %s", name, filepath.Base(archive))
		}
	}
	return [][]byte{held["tidemark"+end], held["tidemark-hook"+end]}
}

// unpacked are the files of an archive.
func unpacked(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	held := map[string][]byte{}
	keep := func(name string, r io.Reader, err error) {
		if err == nil {
			held[name], err = io.ReadAll(r)
		}
		if err != nil {
			t.Fatalf("%s in %s: %v", name, archive, err)
		}
	}
	if strings.HasSuffix(archive, ".zip") {
		packed, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range packed.File {
			r, err := f.Open()
			keep(f.Name, r, err)
		}
		return held
	}
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for packed := tar.NewReader(plain); ; {
		head, err := packed.Next()
		if errors.Is(err, io.EOF) {
			return held
		}
		if err != nil {
			t.Fatal(err)
		}
		keep(head.Name, packed, nil)
	}
}

// wantParts holds a list of parts (an SBOM, in SPDX) against what the Go command wrote into the programs it is about: each module
// must be named, with its version.
func wantParts(t *testing.T, file string, programs [][]byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Packages []struct {
			Name    string `json:"name"`
			Version string `json:"versionInfo"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	named := map[string]bool{}
	for _, p := range list.Packages {
		named[p.Name+" "+p.Version] = true
	}
	modules := 0
	for _, program := range programs {
		built, err := buildinfo.Read(bytes.NewReader(program))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range built.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			modules++
			if !named[m.Path+" "+m.Version] {
				t.Errorf("%s does not name %s %s", filepath.Base(file), m.Path, m.Version)
			}
		}
		if want := "stdlib " + strings.TrimPrefix(built.GoVersion, "go"); !named[want] && !named["stdlib "+built.GoVersion] {
			t.Errorf("%s does not name Go's own library (%s)", filepath.Base(file), want)
		}
	}
	if modules == 0 {
		t.Error("the programs name no modules")
	}
}

// caskReader has Ruby run a cask as Homebrew does, and print what it says; what it would do after an installation is only read.
const caskReader = `
class Cask < BasicObject
  def version(v = nil) = v ? @v = v : @v
  def method_missing(name, *args, **more, &block)
    ::Kernel.puts "#{name} #{args.first}" unless args.empty?
    instance_eval(&block) if block && name != :postflight
  end
end
def cask(name, &block) = Cask.new.instance_eval(&block)
load ARGV[0]`

// wantCask looks whether what Homebrew is given leads to the archives.
func wantCask(t *testing.T, file string, archives []string) {
	t.Helper()
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Skip("no ruby here to read it")
	}
	out, err := sh(t, nil, "ruby", "-e", caskReader, file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := []string{"binary tidemark\n", "binary tidemark-hook\n", "manpage man/tidemark.1\n"}
	for _, archive := range archives {
		if strings.HasSuffix(archive, ".tar.gz") {
			want = append(want, "/"+filepath.Base(archive)+"\nsha256 "+digest(t, archive)+"\n")
		}
	}
	for _, part := range want {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not in\n%s", part, out)
		}
	}
}
