package auditor_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/test/audittest"
)

func TestARecordingGivesTheSameAnswersAgain(t *testing.T) {
	s := audittest.New(t, audittest.Say("block: no"), audittest.Say("well, allow"), audittest.Say(`{"tools":[]}`), audittest.Fail(401, "no"))
	var file strings.Builder
	live := client(t, auditor.OpenAI, s, func(o *auditor.Options) {
		o.Record = &file
		o.Now = func() time.Time { return time.Unix(1767225600, 0) }
	})
	task := intent.Task{Words: []intent.Word{{Text: "x"}}}
	type result struct {
		Opinion intent.Opinion
		Rules   string
		Failed  bool
	}
	run := func(c *auditor.Client) (all []result) {
		for _, params := range []string{"a", "b"} {
			o, err := c.Audit(t.Context(), "s", question(params))
			all = append(all, result{Opinion: o, Failed: err != nil})
		}
		rules, _, err := c.Plan(t.Context(), "s", task)
		return append(all, result{Rules: rules, Failed: err != nil})
	}
	want := []result{{Opinion: intent.Opinion{Answer: intent.Inconsistent, Reason: "no", Model: "test-model"}}, {Failed: true}, {Rules: `{"tools":[]}`}}
	if diff := cmp.Diff(want, run(live)); diff != "" {
		t.Fatalf("live (-want +got):\n%s", diff)
	}
	if _, err := live.Audit(t.Context(), "s", question("c")); err == nil {
		t.Error("a refused key: no error")
	}
	lines := strings.Split(strings.TrimSpace(file.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("recorded %q, want three lines: what was no text is not recorded", lines)
	}
	var first map[string]any
	if err := strictjson.Unmarshal([]byte(lines[0]), &first); err != nil || first["kind"] != "caution" || first["answer"] != "block: no" || first["model"] != "test-model" || first["time"] != "2026-01-01T00:00:00Z" {
		t.Errorf("the first line is %s, %v", lines[0], err)
	}
	replay := build(t, auditor.Options{Model: "test-model", Replay: strings.NewReader(file.String() + "\n")})
	for range 2 {
		if diff := cmp.Diff(want, run(replay)); diff != "" {
			t.Errorf("replayed (-want +got):\n%s", diff)
		}
		if got, err := replay.Audit(t.Context(), "s", question("c")); got != (intent.Opinion{}) || !errors.Is(err, auditor.ErrUnrecorded) {
			t.Errorf("what was not recorded: got %+v, %v; want ErrUnrecorded", got, err)
		}
	}
	if err := replay.Check(t.Context()); err != nil || replay.Name() != "replay/test-model" || replay.Status().Requests != 0 {
		t.Errorf("Check = %v, Name = %q, Status = %+v", err, replay.Name(), replay.Status())
	}
	other := build(t, auditor.Options{Model: "another-model", Replay: strings.NewReader(file.String())})
	if _, err := other.Audit(t.Context(), "s", question("a")); !errors.Is(err, auditor.ErrUnrecorded) {
		t.Errorf("another model: got %v, want ErrUnrecorded", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestARecordingThatCannotBeWrittenIsTold(t *testing.T) {
	s := audittest.New(t, audittest.Say("allow"))
	c := client(t, auditor.OpenAI, s, func(o *auditor.Options) { o.Record = full{} })
	for range 2 {
		if got, err := c.Audit(t.Context(), "s", question("{}")); err != nil || got.Answer != intent.Consistent {
			t.Errorf("Audit = %+v, %v; want the answer", got, err)
		}
		if got := c.Status().LastError; got != "record answer: disk full" {
			t.Errorf("LastError = %q", got)
		}
	}
}

func TestABrokenRecordingIsRefused(t *testing.T) {
	line := `{"key":"k","kind":"caution","answer":"allow","model":"m","time":"2026-01-01T00:00:00Z"}`
	for name, tt := range map[string]struct{ in, want string }{
		"half a line":      {line + "\n" + line[:40], "line 2: "},
		"an unknown field": {`{"key":"k","extra":1}`, "line 1: "},
		"a key twice":      {`{"key":"k","key":"k"}`, "line 1: "},
		"no key":           {`{"answer":"allow"}`, "line 1: no key"},
		"a line too long":  {line + "\n" + strings.Repeat("x", 1<<20), "line 2: "},
	} {
		if _, err := auditor.New(auditor.Options{Model: "m", Replay: strings.NewReader(tt.in)}); err == nil || !strings.Contains(err.Error(), "configure auditor: read recorded answers: "+tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

// Whatever a recording holds, it opens with an error or answers as strictly as a model.
//
// CAU-05
func FuzzReplay(f *testing.F) {
	f.Add(`{"key":"k","kind":"caution","answer":"allow","model":"m","time":"2026-01-01T00:00:00Z"}`)
	f.Add("\n\n{}\n")
	f.Add("{\"key\":\"\xff\"}")
	f.Fuzz(func(t *testing.T, file string) {
		c, err := auditor.New(auditor.Options{Model: "m", Replay: strings.NewReader(file)})
		if err != nil {
			return
		}
		defer c.Close()
		if got, err := c.Audit(t.Context(), "s", question("{}")); err == nil {
			t.Fatalf("%q answers a question it cannot know: %+v", file, got)
		}
	})
}
