// Command testcount runs go test, shows one line per package and every failure in full,
// and ends with one line that counts: "N passed, N failed, N skipped".
//
// Usage: testcount [-failed name,name] -- [go test flags] packages
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
	"strings"
)

func main() {
	failed := flag.String("failed", "", "checks that failed before, to be counted, separated by commas")
	flag.Parse()
	count, err := run(os.Stdout, flag.Args())
	if err != nil {
		fmt.Fprintf(os.Stderr, "testcount: %v\n", err)
		count.failed++
	}
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

// run starts go test and reports what it says. A go test that fails although every test
// passed is an error.
func run(out io.Writer, args []string) (tally, error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return tally{}, fmt.Errorf("open pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return tally{}, fmt.Errorf("start go test: %w", err)
	}
	count, readErr := report(out, stdout)
	if err := cmd.Wait(); err != nil && count.failed == 0 {
		return count, fmt.Errorf("go test: %w", err)
	}
	return count, readErr
}
