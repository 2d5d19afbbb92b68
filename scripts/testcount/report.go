package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// tally counts outcomes.
type tally struct{ passed, failed, skipped int }

func (t tally) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
}

func (t tally) plus(o tally) tally {
	return tally{t.passed + o.passed, t.failed + o.failed, t.skipped + o.skipped}
}

// event is one line of go test -json.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of a package that does not build
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// pkg is what is known of a package that is still running. Output of a test is dropped
// when it passes, so that what is left at the end is what went wrong.
type pkg struct {
	tests  int
	failed int
	order  []string            // tests in the order they first spoke
	output map[string][]string // by test, "" for the package itself
}

func newPkg() *pkg { return &pkg{output: map[string][]string{}} }

func (p *pkg) say(test, text string) {
	if _, ok := p.output[test]; !ok {
		p.order = append(p.order, test)
	}
	p.output[test] = append(p.output[test], text)
}

// reporter turns events into lines for people.
type reporter struct {
	out    io.Writer
	count  tally
	kept   *summary
	pkgs   map[string]*pkg
	builds map[string][]string // compiler output by import path
}

// report reads the events of go test -json until they end.
func report(out io.Writer, in io.Reader, kept *summary) (tally, error) {
	r := &reporter{out: out, kept: kept, pkgs: map[string]*pkg{}, builds: map[string][]string{}}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return r.count, fmt.Errorf("read go test output: %w", err)
		}
	}
	r.unfinished()
	return r.count, nil
}

func (r *reporter) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		_, _ = r.out.Write(line) // not ours to understand, but not to hide either
		return
	}
	switch {
	case e.Action == "build-output":
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
	case e.Package == "":
	case e.Test == "":
		r.pkgEvent(e)
	default:
		r.testEvent(e)
	}
}

func (r *reporter) pkg(name string) *pkg {
	p := r.pkgs[name]
	if p == nil {
		p = newPkg()
		r.pkgs[name] = p
	}
	return p
}

func (r *reporter) testEvent(e event) {
	p := r.pkg(e.Package)
	if e.Action == "pass" && !strings.Contains(e.Test, "/") { // those within others are part of their time
		r.kept.took(short(e.Package)+" "+e.Test, e.Elapsed)
	}
	switch e.Action {
	case "output":
		p.say(e.Test, e.Output)
	case "pass":
		r.count.passed++
		p.tests++
		delete(p.output, e.Test)
	case "skip":
		r.count.skipped++
		p.tests++
		fmt.Fprintf(r.out, "skip  %s %s\n", e.Package, e.Test)
		r.kept.skip(short(e.Package)+" "+e.Test, reason(p.output[e.Test]))
		delete(p.output, e.Test)
	case "fail":
		r.count.failed++
		p.tests++
		p.failed++
	}
}

func (r *reporter) pkgEvent(e event) {
	p := r.pkg(e.Package)
	switch e.Action {
	case "output":
		p.say("", e.Output)
	case "pass":
		fmt.Fprintf(r.out, "ok    %-60s %5d tests %6.1fs\n", e.Package, p.tests, e.Elapsed)
		delete(r.pkgs, e.Package)
	case "skip":
		fmt.Fprintf(r.out, "-     %-60s no tests\n", e.Package)
		delete(r.pkgs, e.Package)
	case "fail":
		r.fail(e, p)
		delete(r.pkgs, e.Package)
	}
}

// fail prints all that is left of a package: failed tests, tests that never ended, and
// what the compiler said.
func (r *reporter) fail(e event, p *pkg) {
	if p.failed == 0 {
		r.count.failed++
	}
	var b strings.Builder // in one piece: another run may be writing
	fmt.Fprintf(&b, "FAIL  %-60s %5d tests %6.1fs\n", e.Package, p.tests, e.Elapsed)
	for _, text := range r.builds[e.FailedBuild] {
		fmt.Fprintf(&b, "      %s", text)
	}
	for _, test := range p.order {
		for _, text := range p.output[test] {
			fmt.Fprintf(&b, "      %s", text)
		}
	}
	_, _ = io.WriteString(r.out, b.String())
}

// unfinished counts packages whose end was never reported: go test itself was stopped.
func (r *reporter) unfinished() {
	for _, name := range slices.Sorted(maps.Keys(r.pkgs)) {
		p := r.pkgs[name]
		if len(p.order) == 0 && p.tests == 0 {
			continue // announced only
		}
		p.say("", "the package did not end\n")
		r.fail(event{Package: name}, p)
	}
}
