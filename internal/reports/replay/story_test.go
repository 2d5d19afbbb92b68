package replay_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/policy"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// garden is the policy the stories are judged by.
func garden(t testing.TB) *policy.Set {
	t.Helper()
	src, err := os.ReadFile("testdata/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	set, faults := policy.Parse("policy.yaml", src)
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return set
}

// files are the same story, once in each format, and how it is called there.
var files = map[string]struct {
	format replay.Format
	id     string
}{
	"trace.jsonl":       {replay.Trace, "story"},
	"openai.json":       {replay.OpenAI, "story"},
	"anthropic.jsonl":   {replay.Anthropic, "story"},
	"agentdojo.json":    {replay.AgentDojo, "plain/garden/story"},
	"claude-code.jsonl": {replay.ClaudeCode, "story"},
	"openclaw.jsonl":    {replay.OpenClaw, "story"},
}

func outcomes(t testing.TB, name, text string, f replay.Format, o replay.Options) []replay.Outcome {
	t.Helper()
	if o.Policy == nil {
		o.Policy = garden(t)
	}
	var out []replay.Outcome
	err := replay.Each(context.Background(), replay.Units(name, strings.NewReader(text), f), o, func(o replay.Outcome) error {
		out = append(out, o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func file(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// BEY-04
func TestTheSameStoryIsJudgedAlikeInEveryFormat(t *testing.T) {
	want := map[string]string{"almanac_page": replay.Allow, "water_bed": replay.Ask, "plot_list": replay.Allow, "open_gate": replay.Deny}
	for name, f := range files {
		for _, given := range []replay.Format{f.format, ""} {
			t.Run(name+" as "+string(given), func(t *testing.T) {
				first := outcomes(t, name, file(t, name), given, replay.Options{})[0]
				if first.Err != nil || first.ID != f.id {
					t.Fatalf("got run %q, %v; want %q", first.ID, first.Err, f.id)
				}
				got := map[string]string{}
				for i, d := range first.Calls {
					got[d.Tool] = d.Decision
					if d.Step != i || d.ID != f.id {
						t.Errorf("got step %d of %q, want %d of %q", d.Step, d.ID, i, f.id)
					}
					if d.Tool == "water_bed" && (!strings.Contains(d.Shown, "bed: bed 9\n") || !strings.Contains(d.Shown, "    | first line\n    | then \"more\"") ||
						!strings.Contains(d.Shown, "almanac_page at step 1") || !strings.Contains(d.Shown, "You said: “Read page 12 of the almanac and water what it says")) {
						t.Errorf("the person is not shown values, sources and words: %s", d.Shown)
					}
					if d.Tool == "water_bed" && strings.Count(d.Shown, "You said:") != 1 {
						t.Errorf("words that are not the user's count as theirs:\n%s", d.Shown)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("decisions (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// BEY-04
func TestWhatIsPrintedForEachCall(t *testing.T) {
	for name, f := range files {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, o := range outcomes(t, name, file(t, name), f.format, replay.Options{}) {
				for i := range o.Calls {
					line, err := strictjson.Marshal(o.Calls[i])
					if err != nil {
						t.Fatal(err)
					}
					b.Write(append(line, '\n'))
				}
			}
			golden := filepath.Join("testdata", strings.TrimSuffix(strings.TrimSuffix(name, "l"), ".json")+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

func TestTheFormatIsFoundOut(t *testing.T) {
	for name, f := range files {
		text := file(t, name)
		if line, _, more := strings.Cut(text, "\n"); more && strings.HasSuffix(name, ".jsonl") {
			text = line
		}
		if got, err := replay.Detect([]byte(text)); err != nil || got != f.format {
			t.Errorf("Detect(%s): got %q, %v; want %q", name, got, err, f.format)
		}
	}
	for text, want := range map[string]replay.Format{
		`[]`:                               replay.OpenAI,
		`[{"role":"user","content":"hi"}]`: replay.OpenAI,
		`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"y"}]}]`: replay.Anthropic,
		`[{"messages":[{"role":"assistant","tool_calls":[{"function":"f","args":{}}]}]}]`:      replay.AgentDojo,
		`{"type":"message","message":{"role":"user","content":"x"}}`:                           replay.OpenClaw,
		`{"type":"assistant","message":{"role":"assistant","content":[]}}`:                     replay.ClaudeCode,
	} {
		if got, err := replay.Detect([]byte(text)); err != nil || got != want {
			t.Errorf("Detect(%s): got %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{``, `{`, `{}`, `7`, `{"type":"summary"}`} {
		if got, err := replay.Detect([]byte(text)); err == nil {
			t.Errorf("Detect(%s): got %q, want an error", text, got)
		}
	}
	if _, err := replay.ParseFormat("morse"); err == nil {
		t.Error("an unknown format is accepted")
	}
}
