package main

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestReport(t *testing.T) {
	tests := []struct {
		name   string
		events []string
		count  string
		shows  []string
		hides  []string
	}{
		{
			name: "a passing package shows one line and none of its output",
			events: []string{
				`{"Action":"start","Package":"a/b"}`,
				`{"Action":"run","Package":"a/b","Test":"TestX"}`,
				`{"Action":"output","Package":"a/b","Test":"TestX","Output":"chatter\n"}`,
				`{"Action":"pass","Package":"a/b","Test":"TestX"}`,
				`{"Action":"output","Package":"a/b","Output":"PASS\n"}`,
				`{"Action":"pass","Package":"a/b","Elapsed":1.5}`,
			},
			count: "1 passed, 0 failed, 0 skipped",
			shows: []string{"ok    a/b", "1 tests", "1.5s"},
			hides: []string{"chatter", "PASS"},
		},
		{
			name: "a failure is shown in full without the output of tests that passed",
			events: []string{
				`{"Action":"output","Package":"a","Test":"TestGood","Output":"quiet\n"}`,
				`{"Action":"pass","Package":"a","Test":"TestGood"}`,
				`{"Action":"output","Package":"a","Test":"TestBad","Output":"x_test.go:1: got 1, want 2\n"}`,
				`{"Action":"fail","Package":"a","Test":"TestBad"}`,
				`{"Action":"fail","Package":"a","Elapsed":0.1}`,
			},
			count: "1 passed, 1 failed, 0 skipped",
			shows: []string{"FAIL  a", "got 1, want 2"},
			hides: []string{"quiet"},
		},
		{
			name: "a package that does not build is one failure with the compiler's words",
			events: []string{
				`{"Action":"build-output","ImportPath":"a [a.test]","Output":"a.go:1: undefined: x\n"}`,
				`{"Action":"build-fail","ImportPath":"a [a.test]"}`,
				`{"Action":"fail","Package":"a","FailedBuild":"a [a.test]"}`,
			},
			count: "0 passed, 1 failed, 0 skipped",
			shows: []string{"undefined: x"},
		},
		{
			name: "a test that panics takes its package down and is shown",
			events: []string{
				`{"Action":"run","Package":"a","Test":"TestBoom"}`,
				`{"Action":"output","Package":"a","Test":"TestBoom","Output":"panic: boom\n"}`,
				`{"Action":"fail","Package":"a","Elapsed":0.1}`,
			},
			count: "0 passed, 1 failed, 0 skipped",
			shows: []string{"panic: boom"},
		},
		{
			name:   "a skipped test is named and a package without tests is not a skip",
			events: []string{`{"Action":"skip","Package":"a","Test":"TestLater"}`, `{"Action":"pass","Package":"a"}`, `{"Action":"skip","Package":"b"}`},
			count:  "0 passed, 0 failed, 1 skipped",
			shows:  []string{"skip  a TestLater", "no tests"},
		},
		{
			name:   "a package that never ended is a failure",
			events: []string{`{"Action":"output","Package":"a","Test":"TestHang","Output":"working\n"}`},
			count:  "0 passed, 1 failed, 0 skipped",
			shows:  []string{"working", "did not end"},
		},
		{
			name:   "what is not an event is passed on",
			events: []string{"go: downloading x"},
			count:  "0 passed, 0 failed, 0 skipped",
			shows:  []string{"go: downloading x"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			count, err := report(&out, strings.NewReader(strings.Join(test.events, "\n")+"\n"), &summary{})
			if err != nil {
				t.Fatalf("report: %v", err)
			}
			if got := count.String(); got != test.count {
				t.Errorf("count: got %q, want %q", got, test.count)
			}
			for _, text := range test.shows {
				if !strings.Contains(out.String(), text) {
					t.Errorf("output: got %q, want it to contain %q", out.String(), text)
				}
			}
			for _, text := range test.hides {
				if strings.Contains(out.String(), text) {
					t.Errorf("output: got %q, want it without %q", out.String(), text)
				}
			}
		})
	}
}

func TestSeveralRunsAreCountedTogether(t *testing.T) {
	got := runs([]string{"-race", "./a", "--", "CGO_ENABLED=0", "-trimpath", "./b"})
	want := [][]string{{"-race", "./a"}, {"CGO_ENABLED=0", "-trimpath", "./b"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (tally{1, 2, 3}).plus(tally{10, 20, 30}); got != (tally{11, 22, 33}) {
		t.Errorf("got %v", got)
	}
}

func TestAQuietRunSaysThatItGoesOn(t *testing.T) {
	var b strings.Builder
	begun := time.Now()
	p := newPulse(&b, begun)
	p.beat(begun.Add(silence - time.Second))
	if b.Len() > 0 {
		t.Errorf("too early: %q", b.String())
	}
	p.beat(begun.Add(silence))
	p.beat(begun.Add(silence + time.Second))
	if got, want := b.String(), "...   building or testing, 25s so far\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheEndSaysWhatTookLongestAndWhatWasLeftOut(t *testing.T) {
	events := []string{
		`{"Action":"output","Package":"a","Test":"TestLater","Output":"=== RUN   TestLater\n"}`,
		`{"Action":"output","Package":"a","Test":"TestLater","Output":"    a_test.go:7: no browser here: setup installs it\n"}`,
		`{"Action":"output","Package":"a","Test":"TestLater","Output":"--- SKIP: TestLater (0.00s)\n"}`,
		`{"Action":"skip","Package":"a","Test":"TestLater"}`,
	}
	for i := range 7 {
		events = append(events, fmt.Sprintf(`{"Action":"pass","Package":"a","Test":"Test%d","Elapsed":%d}`, i, i))
	}
	events = append(events, `{"Action":"pass","Package":"a","Test":"Test6/within","Elapsed":6}`)
	kept := &summary{}
	kept.skip("check lint", "not built here")
	if _, err := report(io.Discard, strings.NewReader(strings.Join(events, "\n")+"\n"), kept); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	kept.print(&out)
	want := `
slowest:
     6.0s a Test6
     5.0s a Test5
     4.0s a Test4
     3.0s a Test3
     2.0s a Test2

left out, and why:
  no browser here: setup installs it
      a TestLater
  not built here
      check lint

`
	if out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}
