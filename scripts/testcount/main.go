// Command testcount runs go test, shows one line per package and every failure in full,
// and ends with one line that counts: "N passed, N failed, N skipped".
//
// Usage: testcount [-failed name,name] [-left "name: why"]... -- [NAME=VALUE] [go test flags] packages [-- ...]
//
// Several runs are separated by "--"; they run side by side, because one compiles while another
// waits, and are counted together. Before the count it says what took longest and what was left
// out; -left adds to that what was left out before.
// Words like NAME=VALUE before a run's flags are for its environment.
//
// Each test and subtest counts once. A package that fails without a failing test (it
// does not build, panics or runs out of time) counts as one failure, and so does each
// check named by -failed. The exit code is 0 only if nothing failed.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

func main() {
	failed := flag.String("failed", "", "checks that failed before, to be counted, separated by commas")
	kept := &summary{}
	flag.Func("left", "a check that was left out, and why", func(s string) error {
		name, why, _ := strings.Cut(s, ": ")
		kept.skip("check "+name, why)
		return nil
	})
	flag.Parse()
	out, stop := newPulse(os.Stdout, time.Now()), make(chan struct{})
	go out.keep(stop)
	count := all(out, runs(flag.Args()), kept)
	close(stop)
	kept.print(os.Stdout)
	for name := range strings.SplitSeq(*failed, ",") {
		if name != "" {
			fmt.Printf("FAIL  check %s (its output is above)\n", name)
			count.failed++
		}
	}
	fmt.Println(count)
	if count.failed > 0 {
		os.Exit(1)
	}
}

// all runs them side by side, and counts.
func all(out io.Writer, runs [][]string, kept *summary) (count tally) {
	type result struct {
		tally
		err error
	}
	results := make(chan result)
	for _, args := range runs {
		go func() {
			n, err := run(out, args, kept)
			results <- result{n, err}
		}()
	}
	for range runs {
		r := <-results
		count = count.plus(r.tally)
		if r.err != nil {
			fmt.Fprintf(os.Stderr, "testcount: %v\n", r.err)
			count.failed++
		}
	}
	return count
}

// runs are the arguments of each run.
func runs(args []string) [][]string {
	var out [][]string
	for {
		end := slices.Index(args, "--")
		if end < 0 {
			return append(out, args)
		}
		out, args = append(out, args[:end]), args[end+1:]
	}
}

// run starts go test and reports what it says. A go test that fails although every test
// passed is an error.
func run(out io.Writer, args []string, kept *summary) (tally, error) {
	flags := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") || !strings.Contains(a, "=") })
	flags = max(flags, 0)
	cmd := exec.Command("go", append([]string{"test", "-json"}, args[flags:]...)...)
	cmd.Env = append(os.Environ(), args[:flags]...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return tally{}, fmt.Errorf("open pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return tally{}, fmt.Errorf("start go test: %w", err)
	}
	count, readErr := report(out, stdout, kept)
	if err := cmd.Wait(); err != nil && count.failed == 0 {
		return count, fmt.Errorf("go test: %w", err)
	}
	return count, readErr
}
