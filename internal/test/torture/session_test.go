package torture_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// busy is how long processors worked for the server, in ticks of the kernel.
func (s *server) busy() (int, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	parts := strings.Fields(rest)
	if len(parts) < 13 {
		return 0, fmt.Errorf("the kernel says %q", raw)
	}
	user, err1 := strconv.Atoi(parts[11])
	system, err2 := strconv.Atoi(parts[12])
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("the kernel says %q", raw)
	}
	return user + system, nil
}

// One session goes on for as many calls as anybody ever made in one: the last ones take no more than the early ones did, and after a start
// in the middle and at the end it is what it was.
func TestALongSession(t *testing.T) {
	calls := many("TORTURE_CALLS", 200, 50_000)
	h := newHouse(t, "")
	s := h.must(t)
	const name, parts = "long", 10
	begin(t, s, name)
	var rows [][]string
	var took []int
	for part := range parts {
		before, err := s.busy()
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now()
		for i := range calls / parts {
			path := fmt.Sprintf("notes/%d.txt", (part*calls/parts+i)%997)
			call := fields{"toolName": "read", "params": fields{"path": path}}
			if a, err := s.hook(t.Context(), name, "before_tool_call", call, nil); err != nil || a.Block {
				t.Fatalf("call %d: %+v, %v", part*calls/parts+i, a, err)
			}
			call["result"] = fmt.Sprintf("note %d: call %s-%d, 10:%02d", i, "Ola", i, i%60)
			if _, err := s.hook(t.Context(), name, "after_tool_call", call, nil); err != nil {
				t.Fatal(err)
			}
		}
		after, err := s.busy()
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.figures(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, after-before)
		rows = append(rows, []string{
			strconv.Itoa((part + 1) * calls / parts), strconv.Itoa(10 * (after - before)), time.Since(at).Round(time.Millisecond).String(), strconv.Itoa(f.resident >> 10),
		})
		say("%v", rows[len(rows)-1])
		if part == parts/2 {
			s.kill()
			s = h.must(t)
		}
	}
	s.kill()
	s = h.must(t)
	var v struct {
		Steps int `json:"steps"`
	}
	at := time.Now()
	if err := s.call(t.Context(), "GET", "/v1/sessions/"+name, nil, &v); err != nil || v.Steps != calls/parts*parts {
		t.Errorf("after a start it has %d steps, %v; want %d", v.Steps, err, calls/parts*parts)
	}
	rows = append(rows, []string{"read again", "", time.Since(at).Round(time.Millisecond).String(), ""})
	table(t, "one session", []string{"calls", "CPU ms", "took", "RSS MB"}, rows)
	if early, late := took[1]+took[2], took[8]+took[9]; long() && late > 2*early {
		t.Errorf("the last calls took %d ticks of the processor, early ones %d", late, early)
	}
}
