package format_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/llm/format"
)

// fuzzRead reads any bytes: what is accepted is JSON in strictjson's sense, is read the
// same way again from what was kept, and can be edited into something that is read.
func fuzzRead(f *testing.F, api format.API, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s), uint8(1))
	}
	f.Fuzz(func(t *testing.T, body []byte, kept uint8) {
		c := format.NewCache(20)
		cold, err := c.Read(api, tenant, body)
		if err != nil {
			return
		}
		var v strictjson.Value
		if err := strictjson.Unmarshal(body, &v); err != nil {
			t.Fatalf("accepted %q, which is not strict JSON: %v", body, err)
		}
		if n := cold.Len(); n > 0 {
			cold.Keep(int(kept)%n, "kept")
		}
		warm, err := c.Read(api, tenant, body)
		if err != nil {
			t.Fatalf("accepted first, then: %v", err)
		}
		for _, d := range []string{
			cmp.Diff(cold.New[warm.Known:], warm.New, cmpopts.EquateEmpty()), cmp.Diff(cold.Head, warm.Head), cmp.Diff(cold.Tools, warm.Tools),
		} {
			if d != "" {
				t.Fatalf("%q is read differently again:\n%s", body, d)
			}
		}
		if _, err := warm.All(); err != nil {
			t.Fatalf("All: %v", err)
		}
		fuzzEdit(t, warm)
		fuzzOwed(t, warm)
	})
}

func fuzzEdit(t *testing.T, r *format.Request) {
	system := "new"
	var hide []string
	for i, tool := range r.Tools {
		if i%2 == 0 {
			hide = append(hide, tool.Name)
		}
	}
	for _, e := range []format.Edit{{Hide: hide}, {NoTools: true}, {Notice: "n"}, {System: &system, Notice: "n", Hide: hide, Model: "m"}, {Messages: []strictjson.Value{}}} {
		out, err := r.Apply(e)
		if err != nil {
			continue // a shape that only the edit looks at
		}
		after, err := format.NewCache(0).Read(r.API, tenant, out)
		if err != nil {
			t.Fatalf("edit %+v of %q gives %q: %v", e, r.Body, out, err)
		}
		for _, tool := range after.Tools {
			for _, name := range e.Hide {
				if tool.Name == name && name != "" {
					t.Fatalf("%q is still there in %q", name, out)
				}
			}
			if e.NoTools {
				t.Fatalf("%q is still there in %q", tool.Name, out)
			}
		}
		again, err := after.Apply(e)
		if err != nil || string(again) != string(out) {
			t.Fatalf("edit %+v of %q gives %q, and again %q, %v", e, r.Body, out, again, err)
		}
	}
}

// fuzzOwed settles a call, which comes first and changes nothing that stands after it.
func fuzzOwed(t *testing.T, r *format.Request) {
	out, err := r.Apply(format.Edit{Owed: []format.Owed{{Kind: "function_call", CallID: "c", Text: "no"}}})
	if err != nil {
		t.Fatalf("settle a call in %q: %v", r.Body, err)
	}
	if r.API != format.Responses {
		if string(out) != string(r.Body) {
			t.Fatalf("%q became %q", r.Body, out)
		}
		return
	}
	before, _ := format.NewCache(0).Read(r.API, tenant, r.Body)
	after, err := format.NewCache(0).Read(r.API, tenant, out)
	if err != nil || after.Len() != before.Len()+1 || after.New[0].Parts[0].CallID != "c" {
		t.Fatalf("%q became %q: %v", r.Body, out, err)
	}
	spoken := func(parts []format.Part) []format.Part {
		return slices.DeleteFunc(slices.Clone(parts), func(p format.Part) bool { return p.Kind == format.Text && p.Text == "" })
	}
	for i, m := range before.New {
		if diff := cmp.Diff(spoken(m.Parts), spoken(after.New[i+1].Parts), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q became %q:\n%s", r.Body, out, diff)
		}
	}
}

func FuzzReadChat(f *testing.F) {
	fuzzRead(f, format.Chat, chatBody, `{"messages":[{"role":"system","content":"[tidemark notice]\nx\n[end of tidemark notice]"}],"functions":[{"name":"a"}],"function_call":{"name":"a"}}`, remotePart(format.Chat, `{"type":"image_url","image_url":{"url":"https://a"}}`))
}

func FuzzReadResponses(f *testing.F) {
	fuzzRead(f, format.Responses, responsesBody, `{"input":"x"}`, `{"input":""}`, remotePart(format.Responses, `{"type":"input_image","image_url":"https://a"}`))
}

func FuzzReadMessages(f *testing.F) {
	fuzzRead(f, format.Messages, anthropicBody, `{"system":"a\n\n[tidemark notice]\nx\n[end of tidemark notice]","messages":[]}`, remotePart(format.Messages, `{"type":"document","source":{"type":"content","content":[{"url":"a"}]}}`))
}

func FuzzReadGemini(f *testing.F) {
	fuzzRead(f, format.Gemini, geminiBody, `{"contents":{"parts":{"text":"x"}}}`, remotePart(format.Gemini, `{"fileData":{"fileUri":"gs://a"}}`))
}

func FuzzReadConverse(f *testing.F) {
	fuzzRead(f, format.Converse, converseBody, `{"messages":[{"role":"user","content":[{"image":{"source":{"s3Location":{"uri":"s3://a/b"}}}}]}],"system":[]}`)
}

func FuzzReadOllama(f *testing.F) {
	fuzzRead(f, format.Ollama, ollamaBody, `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"x","images":["AA"]}]}`)
}

// An envelope gives its request and takes one back: what stands beside it stays.
func FuzzWrapped(f *testing.F) {
	f.Add([]byte(`{"model":"g","project":"p","user_prompt_id":"u","request":{"contents":[]}}`))
	f.Add([]byte(`{"request":{},"Request":{}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := format.Wrapped(body)
		if err != nil {
			return
		}
		if same := e.Put(e.Inner(), ""); string(same) != string(body) {
			t.Fatalf("%q became %q", body, same)
		}
		again, err := format.Wrapped(e.Put([]byte(`{"contents":[]}`), "m"))
		if err != nil || string(again.Inner()) != `{"contents":[]}` || e.Model != "" && again.Model != "m" {
			t.Fatalf("%q: another request in it: %v", body, err)
		}
	})
}

// The scanner and strictjson agree on what is JSON, in a member and in an entry.
func FuzzScannerAgreesWithStrictjson(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,null,"\u00e9\ud83d\ude00"]}`, `{"a":1,"\u0061":2}`, `01`, `"\x"`, "\"\x7f\u2028\"", `[[[`, `-`, `1.`, `"\ud800\u0041"`, `{"a":{"b":1},"b":{"b":2}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		for _, body := range []string{
			`{"messages":[],"v":` + string(value) + `}`, `{"v":` + string(value) + `,"messages":[]}`,
			`{"messages":[{"role":"user","v":` + string(value) + `}]}`,
		} {
			var raw strictjson.Value
			want := strictjson.Unmarshal([]byte(body), &raw)
			_, got := format.NewCache(0).Read(format.Chat, tenant, []byte(body))
			if (got == nil) != (want == nil) && !shapely(raw) {
				t.Fatalf("%q: got %v, strictjson says %v", body, got, want)
			}
		}
	})
}

// shapely reports whether a fuzzed value broke out of its place and made members of its
// own, whose types we check and strictjson does not.
func shapely(raw strictjson.Value) bool {
	var m struct {
		Messages []map[string]strictjson.Value `json:"messages"`
	}
	var members map[string]strictjson.Value
	if strictjson.Unmarshal(raw, &m) != nil || strictjson.Unmarshal(raw, &members) != nil {
		return false
	}
	return len(members) > 2 || len(m.Messages) > 1 || len(m.Messages) == 1 && len(m.Messages[0]) > 2
}
