package pulse_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/agents/pulse"
)

func grows(t *testing.T, file, line string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(line); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

const (
	calls  = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c1","name":"Bash"}]}}` + "\n"
	result = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}}` + "\n"
	fails  = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"no such tool"}]}}` + "\n"
	says   = `{"type":"assistant","message":{"content":[{"type":"text","text":"tool_result"}]}}` + "\n"
)

func TestAHostThatStopsAskingIsNoticed(t *testing.T) {
	grace := 10 * time.Second
	for name, tt := range map[string]struct {
		record string
		asked  bool
		want   int
	}{
		"it ran a call unasked":             {calls + result, false, 1},
		"it asked":                          {calls + result, true, 0},
		"the call has not ended":            {calls, false, 0},
		"the host refused it itself":        {calls + fails, false, 0},
		"it only talks":                     {says, false, 0},
		"a line that is not whole":          {calls + result[:len(result)-1], false, 0},
		"something unreadable":              {"tool_result{\n" + calls + result, false, 1},
		"a message whose content is a text": {`{"message":{"content":"tool_result c1"}}` + "\n", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "record.jsonl")
			grows(t, file, calls+`{"message":{"content":[{"type":"tool_result","tool_use_id":"before"}]}}`+"\n")
			now := time.Unix(1000, 0)
			var b pulse.Book
			b.Heard("s", file, "", now)
			grows(t, file, tt.record)
			if got := b.Look(now, grace); len(got) != 0 {
				t.Fatalf("at once: %v", got)
			}
			if tt.asked {
				b.Heard("s", file, "c1", now)
			}
			if got := b.Look(now.Add(grace), grace); len(got) != tt.want {
				t.Errorf("got %v, want %d", got, tt.want)
			}
			if got := b.Look(now.Add(2*grace), grace); len(got) != 0 {
				t.Errorf("told twice: %v", got)
			}
		})
	}
}

// Lines as Codex 0.166.0 writes them.
func TestAHostThatStopsAskingIsNoticedByCodexsRecord(t *testing.T) {
	item := func(rest string) string {
		return `{"timestamp":"t","type":"event_msg","payload":{"type":"item_completed","thread_id":"s","item":{"id":"c1",` + rest + `}}}` + "\n"
	}
	for name, tt := range map[string]struct {
		line  string
		asked bool
		want  int
	}{
		"a command":                  {item(`"type":"CommandExecution","source":"unified_exec_startup","status":"completed"`), false, 1},
		"a command that failed":      {item(`"type":"CommandExecution","source":"agent","status":"failed"`), false, 1},
		"a patch":                    {item(`"type":"FileChange","status":"completed"`), false, 1},
		"it asked":                   {item(`"type":"FileChange","status":"completed"`), true, 0},
		"declined by Codex itself":   {item(`"type":"CommandExecution","source":"agent","status":"declined"`), false, 0},
		"what a person typed":        {item(`"type":"CommandExecution","source":"user_shell","status":"completed"`), false, 0},
		"typed into what runs":       {item(`"type":"CommandExecution","source":"unified_exec_interaction","status":"completed"`), false, 0},
		"a word of the model's":      {item(`"type":"AgentMessage","status":"completed"`), false, 0},
		"the same words in a prompt": {`{"type":"response_item","payload":{"type":"item_completed","item":{"id":"c1","type":"FileChange","status":"completed"}}}` + "\n", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			file, now := filepath.Join(t.TempDir(), "rollout.jsonl"), time.Unix(1000, 0)
			var b pulse.Book
			b.Heard("s", file, "", now)
			grows(t, file, tt.line)
			b.Look(now, time.Second)
			if tt.asked {
				b.Heard("s", file, "c1", now)
			}
			if got := b.Look(now.Add(time.Minute), time.Second); len(got) != tt.want {
				t.Errorf("got %v, want %d", got, tt.want)
			}
		})
	}
}
