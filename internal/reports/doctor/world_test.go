package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/reports/doctor"
	"github.com/tidemark/tidemark/internal/test/prooftest"
)

const (
	agentToken    = "agent-token-0123456789abcdef0123456789"
	readerToken   = "reader-token-0123456789abcdef01234567"
	approverToken = "approver-token-0123456789abcdef01234"
	adminToken    = "admin-token-0123456789abcdef0123456789"
)

var tokens = doctor.Tokens{Agent: agentToken, Reader: readerToken, Approver: "sha256:00", Admin: "sha256:11"}

// pretender answers as a server does, as far as its tables say; the rest is 404.
type pretender struct {
	answers map[string]string // path to body; a body that begins with a digit is a status
	anyone  bool              // takes every token
}

func (p *pretender) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	known := strings.Contains(agentToken+readerToken+approverToken+adminToken, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	body, ok := p.answers[r.URL.Path]
	status := http.StatusOK
	switch {
	case !ok:
		status, body = http.StatusNotFound, `{}`
	case strings.HasPrefix(r.URL.Path, "/v1/") && !known && !p.anyone:
		status, body = http.StatusUnauthorized, `{"detail":"nobody has this token"}`
	case strings.HasPrefix(body, "503"):
		status, body = http.StatusServiceUnavailable, `{"detail":"the log cannot be written"}`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// healthy is what a good server says.
func healthy() map[string]string {
	return map[string]string{
		"/healthz": `{"status":"ok"}`, "/readyz": `{"status":"ready"}`, "/v1/policy": `{}`, "/v1/approvals": `{}`,
		"/v1/status":                 `{"version":"1","started":"2026-03-01T09:00:00Z","parts":[{"name":"approvals: http","ok":true,"detail":"d"}],"hosts":[]}`,
		"/v1/hooks/before_tool_call": `{"block":true,"tidemark":{"verdict":"deny","rule":"canary"}}`,
	}
}

func serve(t *testing.T, p *pretender) doctor.Server {
	t.Helper()
	s := httptest.NewServer(prooftest.Handler(agentToken, p))
	t.Cleanup(s.Close)
	return doctor.Server{URL: s.URL, Tokens: tokens, Version: "1"}
}

func examine(t *testing.T, checks ...doctor.Check) doctor.Report {
	t.Helper()
	return doctor.Examine(t.Context(), checks, nil)
}

// grades is a report without its words.
func grades(r doctor.Report) map[string]string {
	out := map[string]string{}
	for _, f := range r.Findings {
		out[f.About+"/"+f.Name] = f.Grade.String()
	}
	return out
}

func wantGrades(t *testing.T, r doctor.Report, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, grades(r)); diff != "" {
		t.Errorf("findings (-want +got)\n%s\n%+v", diff, r.Findings)
	}
}

// text is the words of one finding.
func text(r doctor.Report, about, name string) string {
	for _, f := range r.Findings {
		if f.About == about && f.Name == name {
			return f.Text
		}
	}
	return ""
}

func trial(t doctor.Trial, err error) func(context.Context) (doctor.Trial, error) {
	return func(context.Context) (doctor.Trial, error) { return t, err }
}

var errTest = errors.New("the disk is on fire")

func TestAReportOfNothingIsNotGood(t *testing.T) {
	for name, r := range map[string]doctor.Report{
		"nothing":        {},
		"a zero finding": {Findings: []doctor.Finding{{}}},
		"one open":       {Findings: []doctor.Finding{{Grade: doctor.Good}, {Grade: doctor.Open}}},
		"no such grade":  {Findings: []doctor.Finding{{Grade: 99}, {}}},
	} {
		if r.OK() {
			t.Errorf("%s: got OK", name)
		}
	}
	if r := (doctor.Report{Findings: []doctor.Finding{{Grade: doctor.Good}, {Grade: doctor.Limit}, {Grade: doctor.Off}}}); !r.OK() {
		t.Error("limits and absent things count as faults")
	}
	raw, err := json.Marshal(doctor.Finding{Grade: 99})
	if err != nil || !strings.Contains(string(raw), `"broken"`) {
		t.Errorf("a grade nobody knows: got %s, %v; want broken", raw, err)
	}
}

func TestProgressNamesEveryCheckInOrder(t *testing.T) {
	var got []string
	doctor.Examine(t.Context(), []doctor.Check{doctor.Limits(), doctor.CheckDoors(nil)}, func(n string) { got = append(got, n) })
	if diff := cmp.Diff([]string{"limits", "doors"}, got); diff != "" {
		t.Error(diff)
	}
}
