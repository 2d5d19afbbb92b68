package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// PRV-23
func TestTheServerReadsItsPolicyFromAnOpenClawFile(t *testing.T) {
	const inside = `"taintPolicy": {"external": "restrict", "untrusted": "restrict"}, "approvalTtlSeconds": 90, "toolOverrides": {"gateway": {"*": "confirm"}}`
	file := filepath.Join(t.TempDir(), "openclaw.json")
	write := func(config string) {
		t.Helper()
		text := "// of the gateway\n{\n  \"plugins\": {\"entries\": {\"provenance\": {\"enabled\": true, \"config\": {\n    " + config + "\n  }}}},\n}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	matrix := func(s *server) (m struct {
		Policy string `json:"policy"`
		Tools  []any  `json:"tools"`
	}) {
		t.Helper()
		if err := s.call(t.Context(), http.MethodGet, "/v1/explain/matrix", nil, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	write(inside)
	if out, errOut, code := command(t, "check", file); code != exitOK || !strings.Contains(out, "ok "+file) {
		t.Errorf("check: exit %d, %q, %q", code, out, errOut)
	}
	theirs := startServer(t, t.TempDir(), "--config", file)
	native := t.TempDir()
	if err := os.WriteFile(filepath.Join(native, "tidemark.yaml"), []byte("{\"preset\": \"classic\", "+inside+"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := matrix(startServer(t, native))
	if diff := cmp.Diff(want, matrix(theirs)); diff != "" || len(want.Tools) < 20 {
		t.Errorf("the native file and the OpenClaw file differ (-native +openclaw)\n%s", diff)
	}

	write(`"taintPolicy": {"shared": "perhaps"}`)
	const place = "openclaw.json:4:31: plugins.entries.provenance.config.taintPolicy.shared must be allow, confirm, deny or restrict"
	if _, errOut, code := command(t, "check", file); code != exitFault || !strings.Contains(errOut, place) || !strings.Contains(errOut, "^") {
		t.Errorf("check of a file with a fault: exit %d, %q; want its place and a caret", code, errOut)
	}
	err := theirs.call(t.Context(), http.MethodPost, "/v1/policy/reload", map[string]any{}, nil)
	if err == nil || !strings.Contains(err.Error(), place) {
		t.Errorf("reload of a file with a fault: got %v, want its place", err)
	}
	if diff := cmp.Diff(want, matrix(theirs)); diff != "" {
		t.Errorf("a broken reload changed the policy\n%s", diff)
	}
}

func TestStatusShowsTheHostsThatWereHeard(t *testing.T) {
	s := startServer(t, t.TempDir())
	if out, _, code := command(t, "status", "--data", s.data); code != exitOK || !strings.Contains(out, "hosts: no plugin was heard since the server started") {
		t.Errorf("before any beat: exit %d, %q", code, out)
	}
	beat := map[string]any{"host": "openclaw", "version": "2026.9.6", "pluginVersion": "0.1.0", "hooks": []string{"before_tool_call"}}
	if err := s.call(t.Context(), http.MethodPost, "/v1/hosts/gateway/beat", beat, nil); err != nil {
		t.Fatal(err)
	}
	if out, _, code := command(t, "status", "--data", s.data); code != exitOK || !strings.Contains(out, "host gateway: alive (openclaw 2026.9.6, plugin 0.1.0, 1 hooks; heard ") {
		t.Errorf("after a beat: exit %d, %q", code, out)
	}
	if out, _, _ := command(t, "status", "--data", s.data, "--json"); !strings.Contains(out, `"id": "gateway"`) {
		t.Errorf("as JSON: %q", out)
	}
}
