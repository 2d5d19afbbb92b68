package sqlite_test

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

// A server under load is killed at random moments. Whatever it acknowledged is there
// afterwards, in whole steps, on an unbroken chain; and the next server goes on from there.
//
// SEQ-09
// BEY-12
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	acks := map[int]int{}
	for round := range 15 {
		steps := random.IntN(300)
		if round%3 == 0 {
			steps = random.IntN(3) // while it opens the log, or just after
		}
		runAndKill(t, path, acks, steps, round%3 == 1)
		checkLog(t, path, acks)
	}
	if len(acks) != appenders {
		t.Errorf("%d of %d appenders had a step acknowledged", len(acks), appenders)
	}
}

// runAndKill lets the append program run until it acknowledged some steps, and may read
// the log beside it before the end.
func runAndKill(t *testing.T, path string, acks map[int]int, steps int, beside bool) {
	t.Helper()
	cmd := command(t, appendVariable, path)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	acknowledged(t, out, acks, steps)
	if beside && steps > 0 {
		readBeside(t, path, acks)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	acknowledged(t, out, acks, -1)
	if err := cmd.Wait(); err == nil {
		t.Fatal("the killed process ended well")
	}
}

// readBeside reads the log while another process writes it.
func readBeside(t *testing.T, path string, acks map[int]int) {
	t.Helper()
	r, err := sqlite.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for appender, seq := range acks {
		n := 0
		for _, err := range r.Load(t.Context(), crashSession(appender), 0) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n < seq {
			t.Errorf("another process reads %d records of appender %d, %d are acknowledged", n, appender, seq)
		}
	}
	if report, err := r.Verify(t.Context(), nil); err != nil || !report.OK() {
		t.Errorf("verify beside the writer: error %v, breaks %v", err, report.Breaks)
	}
}

func checkLog(t *testing.T, path string, acks map[int]int) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return // killed before it came that far
	}
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for appender := range appenders {
		session, n := crashSession(appender), 0
		for rec, err := range s.Load(t.Context(), session, 0) {
			if err != nil {
				t.Fatal(err)
			}
			want, err := storetest.Event(session, n).Record(session)
			if err != nil || rec.Kind != want.Kind || !bytes.Equal(rec.Body, want.Body) {
				t.Fatalf("record %d of appender %d is %s, want %s", rec.Seq, appender, rec.Body, want.Body)
			}
			n++
		}
		if n < acks[appender] || n%stepSize != 0 {
			t.Errorf("appender %d has %d records; %d are acknowledged, in steps of %d", appender, n, acks[appender], stepSize)
		}
	}
	report, err := s.Verify(t.Context(), nil)
	if err != nil || !report.OK() {
		t.Errorf("verify: error %v, breaks %v", err, report.Breaks)
	}
}
