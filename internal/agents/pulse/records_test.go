package pulse_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/pulse"
	_ "github.com/tidemark/tidemark/internal/store/sqlite" // the driver
)

const lists = `{"command":"ls","description":"as asked"}`

// Lines as Gemini CLI 0.61.0 writes them; the call's own id is in no payload of its hooks.
func geminiLine(id, name, args, status string) string {
	return fmt.Sprintf(`{"id":"m","type":"gemini","content":"","toolCalls":[{"id":%q,"name":%q,"args":%s,"status":%q}]}`+"\n", id, name, args, status)
}

// Lines as Copilot CLI 1.0.102 writes them.
func copilotLines(id, name, args, rest string, success bool) string {
	return fmt.Sprintf(`{"type":"tool.execution_start","data":{"toolCallId":%q,"toolName":%q,"arguments":%s%s},"id":"e"}`+"\n"+
		`{"type":"tool.execution_complete","data":{"toolCallId":%q,"success":%v},"id":"f"}`+"\n", id, name, args, rest, id, success)
}

func TestAHostWhoseHooksHaveNoIdsIsNoticedByWhatItsCallsSay(t *testing.T) {
	shell, bash := catalogue.Sum("run_shell_command", []byte(lists)), catalogue.Sum("bash", []byte(lists))
	for name, tt := range map[string]struct {
		record string
		let    []string
		want   int
	}{
		"gemini, unasked":                      {geminiLine("1", "run_shell_command", lists, "success"), nil, 1},
		"gemini, let run":                      {geminiLine("1", "run_shell_command", lists, "success"), []string{shell}, 0},
		"gemini, its members in another order": {geminiLine("1", "run_shell_command", `{"description":"as asked", "command":"ls"}`, "success"), []string{shell}, 0},
		"gemini, let run once, ran twice":      {geminiLine("1", "run_shell_command", lists, "success") + geminiLine("2", "run_shell_command", lists, "success"), []string{shell}, 1},
		"gemini, one call, written twice":      {geminiLine("1", "run_shell_command", lists, "success") + geminiLine("1", "run_shell_command", lists, "success"), []string{shell}, 0},
		"gemini, another command was let run":  {geminiLine("1", "run_shell_command", `{"command":"rm"}`, "success"), []string{shell}, 1},
		"gemini, refused":                      {geminiLine("1", "run_shell_command", lists, "error"), nil, 0},
		"gemini, a tool of the program's own":  {geminiLine("1", "update_topic", `{}`, "success"), nil, 0},
		"gemini, a history that is set anew":   {`{"$set":{"messages":[` + geminiLine("1", "run_shell_command", lists, "success")[:20] + `"toolCalls":[]}]}}` + "\n", nil, 0},
		"copilot, unasked":                     {copilotLines("1", "bash", lists, "", true), nil, 1},
		"copilot, let run":                     {copilotLines("1", "bash", lists, "", true), []string{bash}, 0},
		"copilot, let run under another name":  {copilotLines("1", "bash", lists, "", true), []string{shell}, 1},
		"copilot, refused":                     {copilotLines("1", "bash", lists, "", false), nil, 0},
		"copilot, of a sub-agent":              {copilotLines("1", "bash", lists, `,"parentToolCallId":"0"`, true), nil, 0},
		"copilot, the person typed it": {
			`{"type":"tool.user_requested","data":{"toolCallId":"1","toolName":"bash"}}` + "\n" + copilotLines("1", "bash", lists, "", true), nil, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			file, now := filepath.Join(t.TempDir(), "record.jsonl"), time.Unix(1000, 0)
			var b pulse.Book
			b.Let("s", shell) // of a session that nobody has heard of
			b.Heard("s", file, "", now)
			grows(t, file, tt.record)
			b.Look(now, time.Minute)
			for _, sum := range tt.let {
				b.Heard("s", file, "", now)
				b.Let("s", sum)
			}
			if got := b.Look(now.Add(time.Minute), time.Minute); len(got) != tt.want {
				t.Errorf("got %v, want %d", got, tt.want)
			}
		})
	}
}

// A command that went into a box is in some records as the line that sends it there. It was let run as what the model wrote, once; a line
// that only looks like one of ours is what it is.
func TestACommandInABoxIsTheOneThatTheModelWrote(t *testing.T) {
	unbox := func(line string) (string, bool) { return strings.CutPrefix(line, "ours ") }
	shell, bash := catalogue.Sum("run_shell_command", []byte(lists)), catalogue.Sum("bash", []byte(lists))
	ours, theirs := strings.Replace(lists, "ls", "ours ls", 1), strings.Replace(lists, "ls", "theirs ls", 1)
	for name, tt := range map[string]struct {
		record string
		let    []string
		want   int
	}{
		"gemini, boxed":                     {geminiLine("1", "run_shell_command", ours, "success"), []string{shell}, 0},
		"gemini, as the model wrote it":     {geminiLine("1", "run_shell_command", lists, "success"), []string{shell}, 0},
		"gemini, boxed and unasked":         {geminiLine("1", "run_shell_command", ours, "success"), nil, 1},
		"gemini, boxed twice, let run once": {geminiLine("1", "run_shell_command", ours, "success") + geminiLine("2", "run_shell_command", ours, "success"), []string{shell}, 1},
		"gemini, another program's":         {geminiLine("1", "run_shell_command", theirs, "success"), []string{shell}, 1},
		"copilot, boxed":                    {copilotLines("1", "bash", ours, "", true), []string{bash}, 0},
		"copilot, another program's":        {copilotLines("1", "bash", theirs, "", true), []string{bash}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			file, now := filepath.Join(t.TempDir(), "record.jsonl"), time.Unix(1000, 0)
			b := pulse.Book{Unbox: unbox}
			b.Heard("s", file, "", now)
			grows(t, file, tt.record)
			for _, sum := range tt.let {
				b.Let("s", sum)
			}
			b.Look(now, time.Minute)
			if got := b.Look(now.Add(time.Minute), time.Minute); len(got) != tt.want {
				t.Errorf("got %v, want %d", got, tt.want)
			}
		})
	}
}

// A call that was refused is no licence: nothing was let run, so the same call in the record was not asked about.
func TestWhatWasRefusedStandsForNoCall(t *testing.T) {
	file, now := filepath.Join(t.TempDir(), "record.jsonl"), time.Unix(1000, 0)
	var b pulse.Book
	b.Heard("s", file, "", now)
	grows(t, file, geminiLine("1", "run_shell_command", lists, "error"))
	b.Look(now, time.Second)
	grows(t, file, geminiLine("2", "run_shell_command", lists, "success"))
	b.Look(now, time.Second)
	if got := b.Look(now.Add(time.Second), time.Second); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

// Rows as OpenCode 1.18.33 keeps them.
func TestAHostThatStopsAskingIsNoticedByItsDatabase(t *testing.T) {
	for name, tt := range map[string]struct {
		session, tool, status, beside string
		at                            int64 // before the session was heard of, or after
		asked                         bool
		want                          int
	}{
		"unasked":                     {"ses_1", "bash", "completed", "step-start", 1, false, 1},
		"asked":                       {"ses_1", "bash", "completed", "step-start", 1, true, 0},
		"running":                     {"ses_1", "bash", "running", "step-start", 1, false, 0},
		"refused":                     {"ses_1", "bash", "error", "step-start", 1, false, 0},
		"of another session":          {"ses_2", "bash", "completed", "step-start", 1, false, 0},
		"from before":                 {"ses_1", "bash", "completed", "step-start", -1, false, 0},
		"typed by the person":         {"ses_1", "bash", "completed", "text", 1, false, 0},
		"a tool that runs no hook":    {"ses_1", "invalid", "completed", "step-start", 1, false, 0},
		"a write that nobody allowed": {"ses_1", "write", "completed", "step-start", 1, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			file, now := filepath.Join(t.TempDir(), "open code.db"), time.Unix(1000, 0)
			db, err := sql.Open("sqlite", file)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			add := func(id, data string) {
				t.Helper()
				if _, err := db.Exec("insert into part values (?, 'msg', ?, 0, ?, ?)", id, tt.session, now.UnixMilli()+tt.at, data); err != nil {
					t.Fatal(err)
				}
			}
			for _, s := range []string{"pragma journal_mode = wal", "create table part (id text primary key, message_id text, session_id text, time_created integer, time_updated integer, data text)"} {
				if _, err := db.Exec(s); err != nil {
					t.Fatal(err)
				}
			}
			record := catalogue.StoredPrefix + file + "#ses_1"
			var b pulse.Book
			b.Heard("s", record, "", now)
			add("prt_0", `{"type":"`+tt.beside+`"}`)
			add("prt_1", `{"type":"tool","tool":"`+tt.tool+`","callID":"c1","state":{"status":"`+tt.status+`"}}`)
			b.Look(now, time.Minute)
			if tt.asked {
				b.Heard("s", record, "c1", now)
			}
			if got := b.Look(now.Add(time.Minute), time.Minute); len(got) != tt.want {
				t.Errorf("got %v, want %d", got, tt.want)
			}
		})
	}
}

func TestADatabaseThatIsNotThereSaysNothing(t *testing.T) {
	var b pulse.Book
	b.Heard("s", catalogue.StoredPrefix+filepath.Join(t.TempDir(), "none.db")+"#ses_1", "", time.Unix(1, 0))
	if got := b.Look(time.Unix(1000, 0), time.Second); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
