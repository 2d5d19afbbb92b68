package doctor_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/reports/doctor"
)

func TestAgents(t *testing.T) {
	blocked, ran := doctor.Trial{Ran: true, Blocked: true}, doctor.Trial{Ran: true}
	guarded := doctor.State{Version: "2.1", Found: true, Hooked: true, Intact: true, Files: []string{"settings.json"}}
	with := func(change func(*doctor.State)) doctor.State {
		s := guarded
		change(&s)
		return s
	}
	tests := map[string]struct {
		state doctor.State
		err   error
		asked bool
		hook  doctor.Trial
		real  *doctor.Trial
		want  map[string]string
		ok    bool
	}{
		"guarded":      {guarded, nil, false, blocked, nil, map[string]string{"a/program": "good", "a/hooks": "good", "a/fails closed": "good", "a/hook": "good"}, true},
		"guarded deep": {guarded, nil, false, blocked, &blocked, map[string]string{"a/program": "good", "a/hooks": "good", "a/fails closed": "good", "a/hook": "good", "a/agent": "good"}, true},
		"the real agent runs it": {guarded, nil, false, blocked, &ran, map[string]string{
			"a/program": "good", "a/hooks": "good", "a/fails closed": "good", "a/hook": "good", "a/agent": "broken"}, false},
		"the real agent cannot be run": {guarded, nil, false, blocked, &doctor.Trial{}, map[string]string{
			"a/program": "good", "a/hooks": "good", "a/fails closed": "good", "a/hook": "good", "a/agent": "limit"}, true},
		"the hook lets it through": {guarded, nil, false, ran, nil, map[string]string{"a/program": "good", "a/hooks": "good", "a/fails closed": "good", "a/hook": "broken"}, false},
		"the hook cannot be tried": {guarded, nil, false, doctor.Trial{}, nil, map[string]string{"a/program": "good", "a/hooks": "good", "a/fails closed": "good", "a/hook": "broken"}, false},
		"tampered with": {with(func(s *doctor.State) { s.Intact, s.Problems = false, []string{"disableAllHooks is set"} }), nil, false, blocked, nil,
			map[string]string{"a/program": "good", "a/settings": "broken", "a/fails closed": "good", "a/hook": "good"}, false},
		"tampered with, nobody knows how": {with(func(s *doctor.State) { s.Intact = false }), nil, false, blocked, nil,
			map[string]string{"a/program": "good", "a/settings": "broken", "a/fails closed": "good", "a/hook": "good"}, false},
		"fails open": {with(func(s *doctor.State) { s.FailsOpen = []doctor.Case{{Name: "fails open", Text: "the hook crashes"}} }), nil, false, blocked, nil,
			map[string]string{"a/program": "good", "a/hooks": "good", "a/fails open": "open", "a/hook": "good"}, false},
		"not there":                 {doctor.State{}, nil, false, blocked, nil, map[string]string{"a/program": "off"}, true},
		"not there but asked for":   {doctor.State{}, nil, true, blocked, nil, map[string]string{"a/program": "broken"}, false},
		"unguarded":                 {doctor.State{Found: true}, nil, false, blocked, nil, map[string]string{"a/hooks": "off"}, true},
		"unguarded but asked for":   {doctor.State{Found: true}, nil, true, blocked, nil, map[string]string{"a/hooks": "broken"}, false},
		"hooks were removed":        {doctor.State{Found: true, Problems: []string{"hooks removed"}}, nil, false, blocked, nil, map[string]string{"a/hooks": "broken", "a/settings": "broken"}, false},
		"settings nobody can read":  {doctor.State{}, errTest, false, blocked, nil, map[string]string{"a/settings": "broken"}, false},
		"hooked, program elsewhere": {with(func(s *doctor.State) { s.Found, s.Version = false, "" }), nil, false, blocked, nil, map[string]string{"a/program": "limit", "a/hooks": "good", "a/fails closed": "good", "a/hook": "good"}, true},
		"hooked, version unknown":   {with(func(s *doctor.State) { s.Version = "" }), nil, false, blocked, nil, map[string]string{"a/program": "limit", "a/hooks": "good", "a/fails closed": "good", "a/hook": "good"}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := doctor.Agent{
				Name: "a", Asked: tt.asked, Hook: &doctor.Door{Name: "hook", Try: trial(tt.hook, nil)},
				Inspect: func(context.Context) (doctor.State, error) { return tt.state, tt.err },
			}
			if tt.real != nil {
				a.Real = &doctor.Door{Name: "agent", Try: trial(*tt.real, nil)}
			}
			r := examine(t, doctor.CheckAgent(a))
			wantGrades(t, r, tt.want)
			if r.OK() != tt.ok {
				t.Errorf("got OK %v, want %v", r.OK(), tt.ok)
			}
		})
	}
}

func TestHolesCloseOnlyWhenEveryModelIsAskedThroughUs(t *testing.T) {
	const server = "http://127.0.0.1:8417"
	tests := map[string]struct {
		models doctor.Models
		server string
		closed bool
	}{
		"through us":            {doctor.Models{Providers: []doctor.Provider{{"a", server + "/openai/v1"}, {"b", "http://localhost:8417/anthropic"}}, Replaces: true}, server, true},
		"a listening wildcard":  {doctor.Models{Providers: []doctor.Provider{{"a", server + "/openai"}}, Replaces: true}, "http://[::]:8417", true},
		"one past us":           {doctor.Models{Providers: []doctor.Provider{{"a", server + "/openai"}, {"b", "https://models.example/v1"}}, Replaces: true}, server, false},
		"one of its own":        {doctor.Models{Providers: []doctor.Provider{{"a", server + "/openai"}, {"b", ""}}, Replaces: true}, server, false},
		"another port":          {doctor.Models{Providers: []doctor.Provider{{"a", "http://127.0.0.1:1/openai"}}, Replaces: true}, server, false},
		"another path":          {doctor.Models{Providers: []doctor.Provider{{"a", server + "/openaix/v1"}}, Replaces: true}, server, false},
		"another machine":       {doctor.Models{Providers: []doctor.Provider{{"a", "http://10.0.0.1:8417/openai"}}, Replaces: true}, server, false},
		"others beside them":    {doctor.Models{Providers: []doctor.Provider{{"a", server + "/openai"}}}, server, false},
		"no provider":           {doctor.Models{}, server, false},
		"parts in other files":  {doctor.Models{Providers: []doctor.Provider{{"a", server + "/openai"}}, Replaces: true, Included: true}, server, false},
		"no server":             {doctor.Models{Providers: []doctor.Provider{{"a", server + "/openai"}}, Replaces: true}, "", false},
		"something that is not": {doctor.Models{Providers: []doctor.Provider{{"a", "::"}}, Replaces: true}, server, false},
	}
	holes := []doctor.Hole{
		{Name: "plugin not loaded", Text: "a"}, {Name: "agent exec", Text: "b"}, {Name: "other harnesses", Text: "c"}, {Name: "model calls", Text: "d"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := examine(t, doctor.CheckAgent(doctor.Agent{
				Name: "openclaw", Holes: holes, Models: &tt.models, Server: tt.server,
				Inspect: func(context.Context) (doctor.State, error) {
					return doctor.State{Version: "1", Found: true, Hooked: true, Intact: true}, nil
				},
			}))
			if r.OK() != tt.closed {
				t.Errorf("got OK %v, want %v\n%+v", r.OK(), tt.closed, r.Findings)
			}
			for _, hole := range []string{"plugin not loaded", "agent exec", "other harnesses", "model calls"} {
				if got := text(r, "openclaw", hole); got == "" || strings.HasPrefix(got, "closed") != tt.closed {
					t.Errorf("%s: got %q, want closed %v", hole, got, tt.closed)
				}
			}
		})
	}
}

func TestTheLimitsAreSaidPlainly(t *testing.T) {
	r := examine(t, doctor.Limits())
	if !r.OK() || !strings.Contains(text(r, "limits", "same user"), "same user can edit its own settings") {
		t.Errorf("got %+v", r.Findings)
	}
}

// What installing again does not mend is not said to be mended by it.
func TestTheFixOfAProblemMendsIt(t *testing.T) {
	for problem, want := range map[string]string{
		"settings.json is gone": "tidemark install a",
		"/p/.claude/settings.json: disableAllHooks is true, which turns the hooks off":     "take it out of that file",
		"/p/.agents/plugins/tidemark: in this folder Goose takes it in place of our hooks": "look at it, and remove it",
	} {
		r := examine(t, doctor.CheckAgent(doctor.Agent{Name: "a", Inspect: func(context.Context) (doctor.State, error) {
			return doctor.State{Found: true, Version: "1", Hooked: true, Problems: []string{problem}}, nil
		}}))
		i := slices.IndexFunc(r.Findings, func(f doctor.Finding) bool { return f.Text == problem })
		if i < 0 || !strings.HasPrefix(r.Findings[i].Fix, want) {
			t.Errorf("%s: got %+v, want the fix %q", problem, r.Findings, want)
		}
	}
}
