package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/test/audittest"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/policy"
)

// SEQ-02: whatever a server calls its tools, what is printed is a policy file.
func FuzzAnnotate(f *testing.F) {
	for _, s := range []string{
		`[]`, `[{"name":"dig"}]`, `{"tools":["a: b","\n- x","'","\"*\"","# c"]}`, `{"result":{"tools":[{"name":"x","inputSchema":{"properties":{"to":{}}}}],"nextCursor":"1"}}`,
		`[{"type":"function","function":{"name":"y","description":"Sends\u2028 mail.","parameters":{"type":"object"}}}]`, `[{"name":"a","name":"b"}]`, `{"tools":{}}`, `[1]`, `{`, ``,
		`[{"name":"a","annotations":{"readOnlyHint":true,"destructiveHint":null}}]`, `[{"name":"\ufffd"},{"name":"Dig"},{"name":"dig"}]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		var out, errOut strings.Builder
		code := run(t.Context(), []string{"annotate", "-"}, strings.NewReader(src), &out, &errOut)
		if code != exitOK {
			if !strings.HasPrefix(errOut.String(), "tidemark: annotate: stdin") || out.Len() > 0 {
				t.Fatalf("exit %d, printed %q and %q", code, out.String(), errOut.String())
			}
			return
		}
		if len(out.String()) > 1<<19 {
			return // more than a policy file may have
		}
		if set, faults := policy.Parse("f.yaml", []byte(out.String())); set == nil {
			t.Fatalf("%v\n%s", faults, out.String())
		}
	})
}

// SEQ-02: a server's own hints are heard where they make a tool graver.
func TestDefinitionsAreReadWhole(t *testing.T) {
	d, err := definition([]byte(`{"name":"water","description":"Waters.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}}`))
	if err != nil || d.Name != "water" || d.Description != "Waters." || string(d.Schema) != `{"type":"object"}` {
		t.Errorf("got %+v, %v", d, err)
	}
	if d.ReadOnly == nil || *d.ReadOnly || d.Destructive == nil || !*d.Destructive || d.OpenWorld == nil || !*d.OpenWorld {
		t.Errorf("hints: got %v %v %v", d.ReadOnly, d.Destructive, d.OpenWorld)
	}
	if m := toolinfo.Of(d); m.Gravity != toolinfo.High {
		t.Errorf("a tool that can destroy is %s", m.Gravity)
	}
}

// SEQ-02: the configured model reads definitions; it makes tools graver and never milder, and
// what it read is known the next time.
func TestTheModelsReadingIsProposed(t *testing.T) {
	model := audittest.New(t, audittest.SayTo(func(r audittest.Request) string {
		if strings.Contains(r.User, "get_report") {
			return `{"act":"send","params":{"blurb":"target"},"leaves":true,"why":"it mails"}`
		}
		return `{"act":"read"}`
	}))
	data := t.TempDir()
	file := filepath.Join(data, "tidemark.yaml")
	if err := os.WriteFile(file, []byte("auditor: {provider: openai, baseUrl: '"+model.OpenAI()+"', model: test-model}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const tools = `[{"name":"get_report","parameters":{"properties":{"blurb":{"type":"string"}}}},{"name":"delete_bed"}]`
	annotate := func(want int, more ...string) string {
		t.Helper()
		var out, errOut strings.Builder
		code := run(t.Context(), append([]string{"annotate", "--data", data, "--explain", "-"}, more...), strings.NewReader(tools), &out, &errOut)
		if code != want {
			t.Fatalf("exit %d: %s", code, errOut.String())
		}
		return out.String() + errOut.String()
	}
	if got := annotate(0); strings.Contains(got, "send") || len(model.Requests()) != 0 {
		t.Errorf("nobody asked a model, and got:\n%s", got)
	}
	for range 2 {
		got := annotate(0, "--model")
		if !strings.Contains(got, "a model reads it as one that can send") || !strings.Contains(got, "a model reads it as a target") || !strings.Contains(got, "delete") {
			t.Errorf("got:\n%s", got)
		}
	}
	if got := annotate(0); !strings.Contains(got, "a model reads it as one that can send") || len(model.Requests()) != 2 {
		t.Errorf("%d requests; later:\n%s", len(model.Requests()), got)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := annotate(exitUsage, "--model"); !strings.Contains(got, "no auditor section") {
		t.Errorf("without a model: %s", got)
	}
}

func TestALongListIsRefused(t *testing.T) {
	var out, errOut strings.Builder
	code := run(t.Context(), []string{"annotate"}, strings.NewReader(strings.Repeat(" ", maxToolList+1)), &out, &errOut)
	if code != exitUsage || !strings.Contains(errOut.String(), "more than 16 MiB") {
		t.Errorf("exit %d, %q", code, errOut.String())
	}
}
