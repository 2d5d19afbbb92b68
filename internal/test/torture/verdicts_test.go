package torture_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/internal/store/postgres"
	"github.com/tidemark/tidemark/internal/test/pgtest"
	"github.com/tidemark/tidemark/policy"
)

// WAR-02 SEQ-09: recorded runs get the same verdicts from one monitor, from one that is started again before every step, and from three on
// one PostgreSQL of which any takes the next step. TORTURE_RECORDINGS names files or folders; without it they are those of the repository.
func TestVerdictsAreAlike(t *testing.T) {
	files := recordings(t)
	cluster := pgtest.Start(t)
	ways := []struct {
		name   string
		person replay.Person
	}{
		{"one monitor", replay.Person{}},
		{"started before every step", replay.Person{Restarts: true}},
		{"three servers, whichever", replay.Person{Logs: threeLogs(t, cluster.New(t))}},
	}
	var rows [][]string
	for _, file := range files {
		var first []replay.Decision
		row := []string{filepath.Base(file)}
		for i, way := range ways {
			start := time.Now()
			got := verdicts(t, file, way.person)
			if i == 0 {
				first = got
				row = append(row, strconv.Itoa(len(got)))
				continue
			}
			n := differences(t, way.name, first, got)
			row = append(row, strconv.Itoa(n))
			say("%s, %s: %d calls, %d differ, %v", filepath.Base(file), way.name, len(got), n, time.Since(start).Round(time.Second))
		}
		rows = append(rows, row)
	}
	table(t, "verdicts that differ from those of one monitor", []string{"recordings", "calls", ways[1].name, ways[2].name}, rows)
}

// recordings are the files to play.
func recordings(t *testing.T) (files []string) {
	t.Helper()
	roots := strings.Fields(os.Getenv("TORTURE_RECORDINGS"))
	if len(roots) == 0 {
		roots = []string{filepath.Join("..", "..", "reports", "replay", "testdata")}
	}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); ext == ".jsonl" || ext == ".json" {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// threeLogs is one log, as three servers have it open.
func threeLogs(t *testing.T, address string) (logs []replay.Log) {
	t.Helper()
	for range 3 {
		log, err := postgres.Open(t.Context(), address, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		})
		logs = append(logs, log)
	}
	return logs
}

// verdicts are those of all calls of a file, by the shipped policy.
func verdicts(t *testing.T, file string, person replay.Person) (out []replay.Decision) {
	t.Helper()
	o := replay.Options{Policy: policy.Default(), Person: person}
	if person.Logs != nil {
		o.Workers = 16 // they wait for the disk
	}
	err := replay.Each(t.Context(), units(file), o, func(one replay.Outcome) error {
		for _, d := range one.Calls {
			d.Args = nil // they are as recorded
			out = append(out, d)
		}
		return one.Err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func units(file string) iter.Seq2[replay.Unit, error] {
	return func(yield func(replay.Unit, error) bool) {
		raw, err := os.ReadFile(file)
		if err != nil {
			yield(replay.Unit{}, err)
			return
		}
		for u, err := range replay.Units(file, bytes.NewReader(raw), "") {
			if !yield(u, err) {
				return
			}
		}
	}
}

// differences counts the calls about which two lists differ, in anything that is told of them, and shows the first few.
func differences(t *testing.T, way string, want, got []replay.Decision) (n int) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: %d calls, want %d", way, len(got), len(want))
		return max(len(want), len(got))
	}
	for i := range want {
		a, b := written(t, want[i]), written(t, got[i])
		if a == b {
			continue
		}
		if n++; n <= 5 {
			t.Errorf("%s:\n%s\nis by one monitor\n%s", way, b, a)
		}
	}
	return n
}

// written is a decision as replay prints it: what its pointers point to, and not where that lies.
func written(t *testing.T, d replay.Decision) string {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %s %s", b, d.Tool, d.Args)
}
