package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// slowest is how many tests are named at the end.
const slowest = 5

// summary is what is told once all runs are over: what took longest, and what was left out, with why.
type summary struct {
	mu      sync.Mutex
	times   []timed             // guarded by mu
	skipped map[string][]string // guarded by mu; by reason
}

type timed struct {
	name    string
	seconds float64
}

func (s *summary) took(name string, seconds float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times = append(s.times, timed{name, seconds})
}

func (s *summary) skip(name, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.skipped == nil {
		s.skipped = map[string][]string{}
	}
	s.skipped[why] = append(s.skipped[why], name)
}

// print writes both lists.
func (s *summary) print(out io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.times, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	for i, t := range s.times[:min(slowest, len(s.times))] {
		if i == 0 {
			fmt.Fprintln(out, "\nslowest:")
		}
		fmt.Fprintf(out, "  %6.1fs %s\n", t.seconds, t.name)
	}
	for i, why := range slices.Sorted(maps.Keys(s.skipped)) {
		if i == 0 {
			fmt.Fprintln(out, "\nleft out, and why:")
		}
		fmt.Fprintf(out, "  %s\n", why)
		for _, name := range s.skipped[why] {
			fmt.Fprintf(out, "      %s\n", name)
		}
	}
	fmt.Fprintln(out)
}

// place is what go test writes before what a test says: "    x_test.go:12: ".
var place = regexp.MustCompile(`^\s+\w+\.go:\d+: `)

// reason is what a test that skips itself said last.
func reason(output []string) string {
	why := "no reason given"
	for _, line := range output {
		if place.MatchString(line) {
			why = strings.TrimSpace(place.ReplaceAllString(line, ""))
		}
	}
	return why
}

// short is a package's path without the module's.
func short(path string) string { return strings.TrimPrefix(path, "github.com/tidemark/tidemark/") }
