// Command trial measures judgement by warrant before anything decides by it: it reads runs
// on stdin as "tidemark replay --format trace" does, one to a line, and prints a decision
// for each call as the shipped table would have it. There is no monitor in it, no policy and
// no session, so it measures the package and nothing else. It goes when the presets stand on
// warrants and replay says the same.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

func main() {
	if err := trial(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "trial:", err)
		os.Exit(2)
	}
}

// answer is what came of one line.
type answer struct {
	text []byte
	err  error
}

// trial judges every run, several at a time, and prints decisions in the order of the runs.
// It stops at the first line it cannot read.
func trial(in io.Reader, out io.Writer) error {
	table := vocabulary.Load()
	queue := make(chan chan answer, runtime.NumCPU())
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(queue)
		r := bufio.NewReaderSize(in, 1<<20)
		for n := 1; ; n++ {
			line, end := r.ReadBytes('\n')
			if len(bytes.TrimSpace(line)) > 0 {
				done := make(chan answer, 1)
				select {
				case queue <- done:
				case <-stop:
					return
				}
				go func() { done <- judge(table, n, line) }()
			}
			if end != nil {
				if !errors.Is(end, io.EOF) {
					done := make(chan answer, 1)
					done <- answer{err: end}
					queue <- done
				}
				return
			}
		}
	}()
	w := bufio.NewWriter(out)
	for done := range queue {
		a := <-done
		if a.err != nil {
			return errors.Join(a.err, w.Flush())
		}
		if _, err := w.Write(a.text); err != nil {
			return err
		}
	}
	return w.Flush()
}

func judge(table *vocabulary.Table, n int, line []byte) answer {
	text, err := decisions(table, line)
	if err != nil {
		err = fmt.Errorf("line %d: %w", n, err)
	}
	return answer{text, err}
}
