// Command typecheck says whether packages and their tests compile for a system, without
// compiling what they import: of that only declarations are read. "go vet" for another system
// compiles all of it first, which takes minutes where nothing is cached.
//
// Usage: [GOOS=...] typecheck FOLDER PACKAGES...
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: typecheck FOLDER PACKAGES...")
		os.Exit(2)
	}
	if err := check(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// check reads the packages in the order in which they need each other.
func check(folder string, patterns []string) error {
	packages, err := list(folder, patterns)
	if err != nil {
		return err
	}
	known := loaded{"unsafe": types.Unsafe}
	var bad []error
	for _, p := range packages {
		if p.ImportPath != "unsafe" && !strings.HasSuffix(p.ImportPath, ".test") { // the second is a main function the go command writes
			bad = append(bad, known.read(p)...)
		}
	}
	return errors.Join(bad...)
}

// listed is what "go list" says about a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	DepOnly         bool
	Module          *struct{ GoVersion string }
}

func list(folder string, patterns []string) (all []listed, err error) {
	flags := []string{"list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,DepOnly,Module", "--"}
	cmd := exec.Command("go", append(flags, patterns...)...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// loaded are the packages read so far.
type loaded map[string]*types.Package

// read reads one package: all of it if it was named, else what others see of it.
func (l loaded) read(p listed) (bad []error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return []error{err}
		}
		files = append(files, f)
	}
	config := types.Config{
		Importer:         imports{l, p.ImportMap},
		IgnoreFuncBodies: p.DepOnly,
		Sizes:            types.SizesFor("gc", build.Default.GOARCH),
		Error: func(err error) {
			if !p.DepOnly { // others' packages compile; what is unused in them without bodies is no news
				bad = append(bad, err)
			}
		},
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	l[p.ImportPath], _ = config.Check(path, fset, files, nil)
	return bad
}

// imports finds what a package imports among those read before it.
type imports struct {
	loaded
	renamed map[string]string
}

func (i imports) Import(path string) (*types.Package, error) {
	if to, ok := i.renamed[path]; ok {
		path = to
	}
	if p := i.loaded[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not read before it", path)
}
