package doctor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/reports/doctor"
)

// BEY-13
func TestADoorThatLetsTheCanaryThroughIsBroken(t *testing.T) {
	tests := map[string]struct {
		trial doctor.Trial
		err   error
		want  string
	}{
		"blocked":               {doctor.Trial{Ran: true, Blocked: true, How: "refused"}, nil, "good"},
		"ran":                   {doctor.Trial{Ran: true, How: "it ran"}, nil, "broken"},
		"not tried":             {doctor.Trial{How: "not there"}, nil, "broken"},
		"nothing known":         {doctor.Trial{}, nil, "broken"},
		"blocked but not tried": {doctor.Trial{Blocked: true}, nil, "broken"},
		"an error":              {doctor.Trial{Ran: true, Blocked: true}, errTest, "broken"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				r := examine(t, doctor.CheckDoors([]doctor.Door{{Name: "d", Try: trial(tt.trial, tt.err)}}))
				wantGrades(t, r, map[string]string{"doors/d": tt.want})
				if ran := strings.Contains(text(r, "doors", "d"), "THE CANARY WAS NOT BLOCKED"); ran != (name == "ran") {
					t.Errorf("got %q", text(r, "doors", "d"))
				}
			}
		})
	}
}

// BEY-13
func TestTheHTTPDoor(t *testing.T) {
	tests := map[string]struct{ answer, want, words string }{
		"a server that blocks":              {`{"block":true,"tidemark":{"verdict":"deny","rule":"canary"}}`, "good", "refused by rule canary"},
		"a server that allows everything":   {`{"tidemark":{"verdict":"allow"}}`, "broken", "THE CANARY WAS NOT BLOCKED"},
		"a server that says no and lets it": {`{"block":false,"tidemark":{"verdict":"deny"}}`, "broken", "THE CANARY WAS NOT BLOCKED"},
		"an empty answer":                   {`{}`, "broken", "THE CANARY WAS NOT BLOCKED"},
		"a server that cannot decide":       {`503`, "broken", "could not be tried"},
		"an answer that is no JSON":         {`<html>`, "broken", "could not be tried"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := &pretender{answers: healthy()}
			p.answers["/v1/hooks/before_tool_call"] = tt.answer
			s := serve(t, p)
			r := examine(t, doctor.CheckDoors([]doctor.Door{doctor.HTTPDoor(s.URL, agentToken)}))
			wantGrades(t, r, map[string]string{"doors/HTTP hook API": tt.want})
			if got := text(r, "doors", "HTTP hook API"); !strings.Contains(got, tt.words) {
				t.Errorf("got %q, want %q", got, tt.words)
			}
		})
	}
	wantGrades(t, examine(t, doctor.CheckDoors([]doctor.Door{doctor.HTTPDoor("", "")})), map[string]string{"doors/HTTP hook API": "broken"})
	wantGrades(t, examine(t, doctor.CheckDoors([]doctor.Door{doctor.HTTPDoor("http://127.0.0.1:1", "x")})), map[string]string{"doors/HTTP hook API": "broken"})
}

// BEY-13
func TestTheHookDoorTakesOnlyARefusalForOne(t *testing.T) {
	tests := map[string]struct{ script, want, words string }{
		"refuses":        {"cat >/dev/null; echo 'Tidemark: no' >&2; exit 2", "good", "Tidemark: no"},
		"says nothing":   {"cat >/dev/null; exit 0", "broken", "THE CANARY WAS NOT BLOCKED"},
		"fails":          {"echo oops >&2; exit 1", "broken", "ended with code 1 instead of 2: oops"},
		"was killed":     {"kill -9 $$", "broken", "THE CANARY WAS NOT BLOCKED"},
		"speaks in tons": {"cat >/dev/null; head -c 5000 /dev/zero | tr '\\0' x >&2; exit 2", "good", "…"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "tidemark-hook")
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			r := examine(t, doctor.CheckDoors([]doctor.Door{doctor.HookDoor(program, t.TempDir())}))
			wantGrades(t, r, map[string]string{"doors/hook program": tt.want})
			if got := text(r, "doors", "hook program"); !strings.Contains(got, tt.words) || len(got) > 500 {
				t.Errorf("got %q, want %q", got, tt.words)
			}
		})
	}
	r := examine(t, doctor.CheckDoors([]doctor.Door{doctor.HookDoor(filepath.Join(t.TempDir(), "none"), "")}))
	wantGrades(t, r, map[string]string{"doors/hook program": "broken"})
	r = examine(t, doctor.CheckDoors([]doctor.Door{doctor.HookDoor(t.TempDir(), "")}))
	wantGrades(t, r, map[string]string{"doors/hook program": "broken"})
}
