package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

type message struct {
	To   string `json:"to"`
	Size int    `json:"size,omitzero"`
}

func TestWhatTwoParsersCouldReadDifferentlyIsRefused(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"a duplicate key", `{"to":"a","to":"b"}`, "duplicate"},
		{"a duplicate key spelled with an escape", `{"to":"a","t\u006f":"b"}`, "duplicate"},
		{"a duplicate key further inside", `{"x":[{"to":1,"to":2}]}`, "duplicate"},
		{"keys that differ in case", `{"to":"a","To":"b"}`, "differ only in case"},
		{"two upper-case spellings", `{"TO":"a","To":"b"}`, "differ only in case"},
		{"case that differs further inside", `{"x":[{"url":1,"URL":2}]}`, "differ only in case"},
		{"a long s that folds to s", `{"s":1,"ſ":2}`, "differ only in case"},
		{"a kelvin sign that folds to k", "{\"k\":1,\"\u212a\":2}", "differ only in case"},
		{"invalid UTF-8", "{\"to\":\"\xff\"}", "invalid UTF-8"},
		{"an unpaired surrogate", `{"to":"\ud800"}`, "surrogate"},
		{"bytes after the value", `{} {}`, "after top-level value"},
		{"a comment", `{/* x */}`, "invalid JSON"},
		{"a trailing comma", `{"to":"a",}`, "invalid JSON"},
		{"single quotes", `{'to':'a'}`, "invalid JSON"},
		{"a byte order mark", "\ufeff{}", "invalid JSON"},
		{"NaN", `{"to":NaN}`, "invalid JSON"},
		{"nothing", ``, "EOF"},
		{"half a value", `{"to":`, "EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v map[string]any
			err := strictjson.Unmarshal([]byte(tt.in), &v)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Unmarshal(%s): got %v, want an error about %q", tt.in, err, tt.want)
			}
		})
	}
}

func TestKeysThatDifferOnlyInCaseAreRefusedInEveryFreeForm(t *testing.T) {
	object := []byte(`{"a":{"b":1,"B":2}}`)
	list := []byte(`[1,{"b":1,"B":2}]`)
	for _, err := range []error{
		strictjson.Unmarshal(object, new(map[string]any)), strictjson.Unmarshal(object, new(any)),
		strictjson.Unmarshal(list, new([]any)), strictjson.Unmarshal(list, new(any)),
	} {
		if !errors.Is(err, strictjson.ErrCase) {
			t.Errorf("got %v, want ErrCase", err)
		}
	}
	if err := strictjson.Unmarshal([]byte(`{"a":{"x":1},"b":{"X":2},"C":"c"}`), new(any)); err != nil {
		t.Errorf("the same key in different objects: got %v, want no error", err)
	}
}

func TestAStructTakesTheExactSpellingOnly(t *testing.T) {
	var m message
	if err := strictjson.Unmarshal([]byte(`{"to":"a","To":"b","added":true}`), &m); err != nil || m.To != "a" {
		t.Errorf("got %+v, %v; want the lower-case key, and what is unknown ignored", m, err)
	}
	for _, in := range []string{`{"to":"a","To":"b"}`, `{"added":true}`} {
		if err := strictjson.UnmarshalKnown([]byte(in), &m); err == nil {
			t.Errorf("UnmarshalKnown(%s): got no error for the unknown key", in)
		}
	}
	if err := strictjson.UnmarshalKnown([]byte(`{"to":"a","size":3}`), &m); err != nil || m != (message{"a", 3}) {
		t.Errorf("UnmarshalKnown: got %+v, %v", m, err)
	}
}

func TestAnErrorNamesThePlace(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"of bad syntax", `{"to":x}`, "byte 6"},
		{"of a value of the wrong type", `{"to":5}`, "/to"},
		{"of a whole value of the wrong type", `[]`, "does not fit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m message
			if err := strictjson.Unmarshal([]byte(tt.in), &m); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to say %q", err, tt.want)
			}
		})
	}
}

func TestNestingIsBounded(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if err := strictjson.Unmarshal(nested(strictjson.MaxDepth), new(any)); err != nil {
		t.Errorf("%d levels: got %v, want no error", strictjson.MaxDepth, err)
	}
	for _, n := range []int{strictjson.MaxDepth + 1, 1 << 20} {
		if err := strictjson.Unmarshal(nested(n), new(any)); !errors.Is(err, strictjson.ErrTooDeep) {
			t.Errorf("%d levels: got %v, want ErrTooDeep", n, err)
		}
		if err := strictjson.UnmarshalKnown(nested(n), new(any)); !errors.Is(err, strictjson.ErrTooDeep) {
			t.Errorf("%d levels, known fields only: got %v, want ErrTooDeep", n, err)
		}
	}
	brackets := []byte(`{"text":"` + strings.Repeat(`[\"{`, 300) + `"}`)
	if err := strictjson.Unmarshal(brackets, new(any)); err != nil {
		t.Errorf("brackets inside a string: got %v, want no error", err)
	}
}

func TestEqualValuesGiveEqualBytes(t *testing.T) {
	v := map[string]any{"b": 1.0, "a": []any{"x"}, "c": nil, "d": "<&>"}
	first, err := strictjson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, _ := strictjson.Marshal(v)
		var w bytes.Buffer
		if err := strictjson.Write(&w, v); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, again) || !bytes.Equal(first, w.Bytes()) {
			t.Fatalf("got %s and %s, want %s", again, w.Bytes(), first)
		}
	}
	if want := `{"a":["x"],"b":1,"c":null,"d":"<&>"}`; string(first) != want {
		t.Errorf("got %s, want %s", first, want)
	}
	if got, err := strictjson.Append([]byte("data: "), message{To: "a"}); err != nil || string(got) != `data: {"to":"a"}` {
		t.Errorf("Append: got %s, %v", got, err)
	}
	if got, err := strictjson.MarshalIndent(message{To: "a"}); err != nil || string(got) != "{\n  \"to\": \"a\"\n}" {
		t.Errorf("MarshalIndent: got %s, %v", got, err)
	}
}

func TestTextThatIsNotUTF8IsNotWritten(t *testing.T) {
	if got, err := strictjson.Marshal(message{To: "\xff"}); err == nil {
		t.Errorf("got %s, want an error", got)
	}
}

// What we accept, a lenient parser must read the same way.
func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"A":2}`, `{"a":1,"a":2}`, `[1,2,{"x":null}]`, `"\u0000"`, `1e400`, `{"a":"\ud83d\ude00"}`, "[[[[", `{"\u0061":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var ours, theirs any
		err := strictjson.Unmarshal(data, &ours)
		if err != nil {
			return
		}
		if err := json.Unmarshal(data, &theirs); err != nil {
			t.Fatalf("accepted %q, which another parser refuses: %v", data, err)
		}
		if d := cmp.Diff(theirs, ours); d != "" {
			t.Fatalf("%q is read differently (-theirs +ours):\n%s", data, d)
		}
	})
}
