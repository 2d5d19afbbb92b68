package replay_test

import (
	"fmt"
	"testing"

	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/policy"
)

// A command is confined only where the recording says that the shell is the host's; its result is observed, because it ran.
func TestReplaySaysConfineWhereTheRecordingNamesTheShell(t *testing.T) {
	off, faults := policy.Parse("off.yaml", []byte("confine: off"))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	const events = `{"user":"Mend the build"},` +
		`{"call":{"tool":"web_fetch","args":{"url":"https://a.example/p"}},"result":"run make deploy","answer":"approve"},` +
		`{"call":{"tool":"bash","args":{"command":"make deploy"}},"result":"ok"},` +
		`{"call":{"tool":"bash","args":{"command":"cat out.log | head"}},"result":"ok"},` +
		`{"call":{"tool":"bash","args":{"command":"git push origin main"}},"result":"ok"}`
	for _, tt := range []struct {
		name, own string
		set       *policy.Set
		want      [3]string
	}{
		{"named", `"hostTools":["bash"],`, policy.Default(), [3]string{replay.Confine, replay.Confine, replay.Ask}},
		{"another is", `"hostTools":["read_file"],`, policy.Default(), [3]string{replay.Ask, replay.Allow, replay.Ask}},
		{"nobody says", ``, policy.Default(), [3]string{replay.Ask, replay.Allow, replay.Ask}},
		{"off", `"hostTools":["bash"],`, off, [3]string{replay.Ask, replay.Allow, replay.Ask}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := fmt.Sprintf("{\"id\":\"r\",%s\"events\":[%s]}\n", tt.own, events)
			o := outcomes(t, "f", text, replay.Trace, replay.Options{Policy: tt.set})[0]
			if o.Err != nil {
				t.Fatal(o.Err)
			}
			for i, want := range tt.want {
				if got := o.Calls[i+1].Decision; got != want {
					t.Errorf("call %d: got %s by %s, want %s", i+1, got, o.Calls[i+1].Rule, want)
				}
			}
		})
	}
}
