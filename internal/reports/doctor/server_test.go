package doctor_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/reports/doctor"
)

func TestServerAndTokens(t *testing.T) {
	good := map[string]string{
		"server/running": "good", "server/ready": "good", "server/version": "good",
		"tokens/file": "good", "tokens/agent": "good", "tokens/reader": "good", "tokens/others": "good",
	}
	tests := map[string]struct {
		change func(p *pretender, s *doctor.Server)
		want   map[string]string // what differs from good; "" is absent
	}{
		"healthy": {func(*pretender, *doctor.Server) {}, nil},
		"no server": {func(_ *pretender, s *doctor.Server) { s.URL = "" }, map[string]string{
			"server/running": "broken", "server/ready": "", "server/version": "", "tokens/agent": "", "tokens/reader": "", "tokens/others": "",
		}},
		"a server that was killed": {func(_ *pretender, s *doctor.Server) { s.URL = "http://127.0.0.1:1" }, map[string]string{
			"server/running": "broken", "server/ready": "", "server/version": "", "tokens/agent": "broken", "tokens/reader": "broken", "tokens/others": "broken",
		}},
		"an announcement nobody can read": {func(_ *pretender, s *doctor.Server) { s.Fault = errTest }, map[string]string{
			"server/running": "broken", "server/ready": "", "server/version": "",
		}},
		"a log that cannot be written": {func(p *pretender, _ *doctor.Server) { p.answers["/readyz"] = "503" }, map[string]string{"server/ready": "broken"}},
		"another version":              {func(_ *pretender, s *doctor.Server) { s.Version = "2" }, map[string]string{"server/version": "broken"}},
		"tokens of another server": {func(_ *pretender, s *doctor.Server) {
			s.Tokens = doctor.Tokens{Agent: "a", Reader: "b!"}
		}, map[string]string{
			"server/running": "broken", "server/ready": "", "server/version": "",
			"tokens/agent": "broken", "tokens/reader": "broken", "tokens/others": "broken",
		}},
		"tokens of people that anybody can use who reads them": {func(_ *pretender, s *doctor.Server) {
			s.Tokens.Approver, s.Tokens.Admin = approverToken, adminToken
		}, map[string]string{"tokens/approver": "broken", "tokens/admin": "broken"}},
		"tokens that are open to others": {func(_ *pretender, s *doctor.Server) { s.TokenErr = errTest }, map[string]string{
			"server/version": "broken", "tokens/file": "broken", "tokens/agent": "", "tokens/reader": "", "tokens/others": "",
		}},
		"what sessions may take is known": {func(_ *pretender, s *doctor.Server) { s.Memory = "much" }, map[string]string{"server/memory": "good"}},
		"a server that takes any token":   {func(p *pretender, _ *doctor.Server) { p.anyone = true }, map[string]string{"tokens/others": "broken"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := &pretender{answers: healthy()}
			s := serve(t, p)
			tt.change(p, &s)
			want := map[string]string{}
			for k, v := range good {
				want[k] = v
			}
			for k, v := range tt.want {
				want[k] = v
				if v == "" {
					delete(want, k)
				}
			}
			for range 2 {
				r := examine(t, doctor.CheckServer(s), doctor.CheckTokens(s, "tokens.json"))
				wantGrades(t, r, want)
				for _, f := range r.Findings {
					for _, secret := range []string{agentToken, approverToken, adminToken} {
						if strings.Contains(f.Text+f.Fix, secret) {
							t.Errorf("a token is in the report: %s", f.Text)
						}
					}
				}
			}
		})
	}
}

func TestApprovalsAreCheckedWithAndWithoutAServer(t *testing.T) {
	here := func(context.Context) ([]doctor.Part, error) {
		return []doctor.Part{{Name: "approvals: telegram", Fault: "no route"}, {Name: "approvals: chat", OK: true, Detail: "codes"}}, nil
	}
	wantGrades(t, examine(t, doctor.CheckApprovals(serve(t, &pretender{answers: healthy()}), here)), map[string]string{"approvals/approvals: http": "good", "approvals/proof": "limit"})
	for proof, grade := range map[string]string{"passkey": "good", "typed": "limit"} {
		p := &pretender{answers: healthy()}
		p.answers["/v1/status"] = `{"version":"1","started":"2026-03-01T09:00:00Z","parts":[],"hosts":[],"proof":"` + proof + `"}`
		wantGrades(t, examine(t, doctor.CheckApprovals(serve(t, p), here)), map[string]string{"approvals/proof": grade})
	}
	r := examine(t, doctor.CheckApprovals(doctor.Server{}, here))
	wantGrades(t, r, map[string]string{"approvals/approvals: telegram": "broken", "approvals/approvals: chat": "good"})
	broken := func(context.Context) ([]doctor.Part, error) { return nil, errTest }
	wantGrades(t, examine(t, doctor.CheckApprovals(doctor.Server{}, broken)), map[string]string{"approvals/policy file": "broken"})
}

func TestHostsThatAreSilentAreFound(t *testing.T) {
	p := &pretender{answers: healthy()}
	p.answers["/v1/status"] = `{"version":"1","started":"2026-03-01T09:00:00Z","parts":[],"hosts":[
		{"id":"a","host":"openclaw","version":"1","pluginVersion":"1","hooks":["before_tool_call"],"ageSeconds":3,"silent":false},
		{"id":"b","host":"openclaw","hooks":["before_tool_call"],"ageSeconds":300,"silent":true},
		{"id":"c","host":"openclaw","hooks":["agent_end"],"ageSeconds":3,"silent":false}]}`
	s := serve(t, p)
	expects := func(names ...string) func(context.Context) []string {
		return func(context.Context) []string { return names }
	}
	r := examine(t, doctor.CheckHosts(s, expects("openclaw", "other")))
	wantGrades(t, r, map[string]string{"hosts/a": "good", "hosts/b": "broken", "hosts/c": "broken", "hosts/other": "open"})
	if got := text(r, "hosts", "b"); !strings.Contains(got, "silent for 5m0s") {
		t.Errorf("got %q", got)
	}
	if got := text(r, "hosts", "other"); !strings.Contains(got, "not heard since the server started") {
		t.Errorf("got %q", got)
	}
	wantGrades(t, examine(t, doctor.CheckHosts(doctor.Server{}, expects("openclaw"))), map[string]string{})
}

// How sessions came back that were not in memory is told, and where most of them cost more than they need, what to do.
func TestConversationsThatComeBackFromTheLogAreTold(t *testing.T) {
	for name, tc := range map[string]struct{ memory, grade, words string }{
		"few":                    {`{"held":5242880,"resumed":0,"rebuilt":12}`, "good", "sessions take 5 MB; 0 conversations came back from checkpoints, 12 were"},
		"many, from checkpoints": {`{"held":5242880,"resumed":90000,"rebuilt":2000}`, "good", "90000 conversations"},
		"many, from the log":     {`{"held":5242880,"resumed":10,"rebuilt":2000}`, "open", "which makes calls slow"},
		"a server of before":     {`null`, "", ""},
	} {
		p := &pretender{answers: healthy()}
		p.answers["/v1/status"] = `{"version":"1","parts":[],"hosts":[],"memory":` + tc.memory + `}`
		grade, words := "", ""
		for _, f := range examine(t, doctor.CheckServer(serve(t, p))).Findings {
			if f.Name == "memory" {
				grade, words = f.Grade.String(), f.Text
			}
		}
		if grade != tc.grade || !strings.Contains(words, tc.words) {
			t.Errorf("%s: got %s %q, want %s with %q", name, grade, words, tc.grade, tc.words)
		}
	}
}

// What is in force is held against the file: a server that reads another one, or none, is
// not what the person who wrote it thinks.
func TestThePolicyInForceIsThatOfTheFile(t *testing.T) {
	said := `{"version":"1","policy":{"version":"aa","file":"/d/tidemark.yaml","sections":"s"},"parts":[],"hosts":[]}`
	for name, tc := range map[string]struct {
		now   doctor.Policy
		err   error
		grade string
		words string
	}{
		"the same":                     {now: doctor.Policy{Version: "aa", File: "/d/tidemark.yaml", Sections: "s"}, grade: "good", words: "/d/tidemark.yaml"},
		"the file says something else": {now: doctor.Policy{Version: "bb", File: "/d/tidemark.yaml", Sections: "s"}, grade: "broken", words: "bb"},
		"a section needs a restart":    {now: doctor.Policy{Version: "aa", File: "/d/tidemark.yaml", Sections: "x"}, grade: "broken", words: "take effect at a start"},
		"the file has faults":          {err: errors.New("tidemark.yaml:1:1: unknown key"), grade: "broken", words: "unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &pretender{answers: healthy()}
			p.answers["/v1/status"] = said
			s := serve(t, p)
			s.OnDisk = func() (doctor.Policy, error) { return tc.now, tc.err }
			for _, f := range examine(t, doctor.CheckServer(s)).Findings {
				if f.Name == "policy" {
					if f.Grade.String() != tc.grade || !strings.Contains(f.Text, tc.words) {
						t.Errorf("got %v %q, want %s with %q", f.Grade, f.Text, tc.grade, tc.words)
					}
					return
				}
			}
			t.Error("the policy was not examined")
		})
	}
}
