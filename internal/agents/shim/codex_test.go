package shim_test

import (
	"strings"
	"testing"
)

// Codex shows the person the exit code of a hook that warns, and not what it wrote.
func TestCodexIsToldInAMessageWhatIsWrongAtTheStart(t *testing.T) {
	start := []byte(`{"hook_event_name":"SessionStart","session_id":"s-1","cwd":"/w","source":"startup"}`)
	for name, tt := range map[string]struct {
		w    *world
		want string
	}{
		"no server": {folder(t), "no server is running"},
		"it hangs":  {behind(t, hangs()), "no answer within 100ms"},
		"no disk":   {behind(t, answers(503, `{"detail":"the log cannot be written"}`)), "the log cannot be written"},
	} {
		for range 2 {
			p := tt.w.run("codex", "", start, "--timeout", "100ms")
			if p.code != 0 || !strings.HasPrefix(p.out, `{"systemMessage":"Tidemark: `) || !strings.Contains(p.out, tt.want) {
				t.Errorf("%s: got %+v, want a message with %q", name, p, tt.want)
			}
		}
	}
	if p := folder(t).run("codex", "", []byte(`{"hook_event_name":"UserPromptSubmit","session_id":"s-1","cwd":"/w","prompt":"go"}`)); !refuses("codex", p) || p.out != "" {
		t.Errorf("a prompt: got %+v, want it refused by the exit code alone", p)
	}
}
