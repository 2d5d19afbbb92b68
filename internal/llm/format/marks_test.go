package format_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/llm/format"
)

var marks = format.Marks{Open: "[[ours ", Close: "]]", Most: 10, Ours: func(text string) bool {
	return !strings.Contains(text, "not") && !strings.Contains(text[2:], "[[")
}}

func TestTextsOfOursAreCutOutHoweverTheyAreSpelled(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"none", `{"a":"b \u003c [ours x]]"}`, `{"a":"b \u003c [ours x]]"}`},
		{"plain", `{"a":"b [[ours x]] c"}`, `{"a":"b  c"}`},
		{"two, and an escape between", `{"a":"\ud83d\ude00[[ours x]]\n[[ours y]]\u00e9"}`, `{"a":"\ud83d\ude00\n\u00e9"}`},
		{"escaped at its start", `{"a":"\u005b[ours x]]"}`, `{"a":""}`},
		{"escaped in capitals", `{"a":"[[ours x\u005D]z"}`, `{"a":"z"}`},
		{"escaped inside", `{"a":"[[o\u0075rs \u0078]]z"}`, `{"a":"z"}`},
		{"in a key", `{"[[ours k]]a":1}`, `{"a":1}`},
		{"after a quote that is escaped", `{"a":"\"[[ours x]]\\","b":"[[ours y]]"}`, `{"a":"\"\\","b":""}`},
		{"too long", `{"a":"[[ours 01234567890]]"}`, `{"a":"[[ours 01234567890]]"}`},
		{"never closed, then one that is", `{"a":"[[ours [[ours x]]"}`, `{"a":"[[ours "}`},
		{"somebody else's", `{"a":"[[ours not]][[ours x]]"}`, `{"a":"[[ours not]]"}`},
		{"across two strings", `{"a":"[[ours ","b":"x]]"}`, `{"a":"[[ours ","b":"x]]"}`},
		{"no JSON", `{"a":"\q[[ours x]]","b":"[[ours y]]`, `{"a":"\q[[ours x]]","b":"[[ours y]]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, frames := marks.Cut([]byte(tt.body), 0)
			if d := cmp.Diff(tt.want, string(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if (len(frames) > 0) != (tt.body != tt.want) {
				t.Errorf("got frames %v", frames)
			}
		})
	}
}

func TestItIsKnownWhichTextAFrameStoodIn(t *testing.T) {
	cache := format.NewCache(100)
	for api, body := range map[format.API]string{
		format.Chat:      `{"messages":[{"role":"system","content":"a [[ours s]]"},{"role":"user","content":"[[ours u]] b"},{"role":"developer","content":[{"type":"text","text":"[[ours s]]"}]}]}`,
		format.Responses: `{"instructions":"[[ours s]]","input":[{"role":"user","content":"[[ours u]]"}],"metadata":{"x":"[[ours u]]"}}`,
		format.Messages:  `{"messages":[{"role":"user","content":"[[ours u]]"}],"system":[{"type":"text","text":"[[ours s]]"}]}`,
		format.Gemini:    `{"contents":[{"role":"user","parts":[{"text":"[[ours u]]"}]}],"systemInstruction":{"parts":[{"text":"[[ours s]]"}]}}`,
	} {
		for range 2 { // the second time the list is known
			left, frames := marks.Cut([]byte(body), 0)
			r, err := cache.Read(api, tenant, left)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range frames {
				if got, want := r.Instructs(f.At), strings.Contains(f.Text, " s]"); got != want {
					t.Errorf("format %d, frame %d %s: got %t, want %t", api, i, f.Text, got, want)
				}
			}
			if len(frames) < 2 {
				t.Errorf("format %d: got %d frames", api, len(frames))
			}
			r.Keep(r.Len()-1, nil)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add(`"\u005b[ours x]]"`)
	f.Add(`{"a":"[[ours x]]\\","b":["\ud83d\ude00[[ours \u0078]]"]}`)
	f.Fuzz(func(t *testing.T, body string) {
		left, frames := marks.Cut([]byte(body), 0)
		if len(frames) == 0 && string(left) != body {
			t.Errorf("nothing was cut out of %q and %q is left", body, left)
		}
		var before, after string
		if strictjson.Unmarshal([]byte(body), &before) != nil {
			return
		}
		if err := strictjson.Unmarshal(left, &after); err != nil {
			t.Fatalf("%q is a text, %q is none: %v", body, left, err)
		}
		want := before
		for _, frame := range frames {
			want = strings.Replace(want, frame.Text, "", 1)
		}
		if len(after) != len(want) {
			t.Errorf("%q: got %q, want %q", before, after, want)
		}
	})
}
