package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/reports/report"
)

// BEY-04
func TestTheLogOfAnInstallationIsReplayed(t *testing.T) {
	data := policyFile(t, "preset: classic\n")
	s := startServer(t, data)
	steps := []struct {
		name  string
		event map[string]any
	}{
		{"message_received", map[string]any{"content": "read the page"}},
		{"after_tool_call", map[string]any{"toolName": "web_fetch", "params": map[string]any{"url": "https://x.example"}, "result": "page"}},
		{"before_tool_call", map[string]any{"toolName": "exec", "params": map[string]any{"command": "brew tea"}}},
	}
	for _, st := range steps {
		if err := s.hook(t.Context(), "agent:tea:main", st.name, st.event, nil); err != nil {
			t.Fatal(err)
		}
	}
	out, errOut, code := command(t, "replay", "--format", "log", "--data", data, "--json")
	for _, want := range []string{`"id":"agent:tea:main","step":0,"decision":"ask"`, "command: brew tea", "web_fetch", `"taint":"untrusted"`} {
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("exit %d, printed %q and %q, want %q", code, out, errOut, want)
		}
	}
	loose := filepath.Join(t.TempDir(), "loose.yaml")
	if err := os.WriteFile(loose, []byte("preset: classic\ntoolOverrides: {exec: {\"*\": allow}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errOut, code = command(t, "replay", "--format", "log", "--data", data, "--diff", loose)
	if code != exitOK || !strings.Contains(out, "0 calls stricter, 1 looser") {
		t.Errorf("exit %d, printed %q and %q, want one call looser", code, out, errOut)
	}
}

func TestNamesOfRecordingsStayOnTheirLine(t *testing.T) {
	if got := report.Line("a\x1b[31m\nb\u202ec\u2028d\xff"); got != "a [31m bc d\uFFFD" {
		t.Errorf("got %q", got)
	}
}
