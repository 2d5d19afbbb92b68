package jsonspan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

func TestTextThatCanBeReadInTwoWaysIsRefused(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%d":1`, i)
	}
	for _, c := range []struct{ name, text string }{
		{"nothing", ""},
		{"two values", "1 2"},
		{"a key twice", `{"a":1,"a":2}`},
		{"a key twice, once with an escape", `{"a":1,"\u0061":2}`},
		{"a key twice among many", "{" + strings.Join(many, ",") + `,"k7":2}`},
		{"invalid UTF-8", "\"\xff\""},
		{"half of a surrogate pair", `"\ud83d"`},
		{"half of a surrogate pair in a key", `{"\ud83d":1}`},
		{"a control character in a text", "\"\x01\""},
		{"a bad escape", `"\x"`},
		{"a number with a zero before it", "01"},
		{"a list that ends with a comma", "[1,]"},
		{"an object that ends with a comma", `{"a":1,}`},
		{"a list that is not closed", "[1"},
		{"a key that is no text", "{1:1}"},
		{"a level too many", strings.Repeat("[", strictjson.MaxDepth+1) + strings.Repeat("]", strictjson.MaxDepth+1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d jsonspan.Doc
			if err := d.Read([]byte(c.text)); err == nil {
				t.Errorf("read %.60q, want an error", c.text)
			}
		})
	}
}

func TestTheDeepestNestingThatIsAllowedIsRead(t *testing.T) {
	var d jsonspan.Doc
	if err := d.Read([]byte(strings.Repeat("[", strictjson.MaxDepth) + strings.Repeat("]", strictjson.MaxDepth))); err != nil {
		t.Errorf("got %v, want none", err)
	}
	d.Start([]byte("[]"), 0, strictjson.MaxDepth)
	if err := d.Value(); !errors.Is(err, strictjson.ErrTooDeep) {
		t.Errorf("a list inside the deepest: got %v, want %v", err, strictjson.ErrTooDeep)
	}
}

func TestHalfASurrogatePairIsMarkedWhereItIsAllowed(t *testing.T) {
	d := jsonspan.Doc{Halves: true}
	if err := d.Read([]byte(`{"a":"x\ud83d","b":"y"}`)); err != nil {
		t.Fatal(err)
	}
	if !d.Half(1) || d.Half(2) || d.Text(1) != "x\ufffd" {
		t.Errorf("got %v, %v and %q", d.Half(1), d.Half(2), d.Text(1))
	}
	if err := d.Read([]byte(`{"\ud83d":1}`)); err == nil {
		t.Error("half a pair in a key was read, want an error")
	}
}

func TestEveryValueStandsWhereTheDocSays(t *testing.T) {
	var d jsonspan.Doc
	text := ` {"a" : [1, "x"], "\u0062":{"c":null}} `
	if err := d.Read([]byte(text)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range d.Each(0) {
		at := d.Member(i)
		got = append(got, fmt.Sprintf("%s=%s in %s", d.Key(i), d.Raw(i), text[at.Start:at.End]))
		for k := range d.Each(i) {
			got = append(got, string(d.Raw(k)))
		}
	}
	want := []string{`a=[1, "x"] in "a" : [1, "x"]`, `1`, `"x"`, `b={"c":null} in "\u0062":{"c":null}`, `null`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnElementOfAListHasNoKey(t *testing.T) {
	d := new(jsonspan.Doc)
	if err := d.Read([]byte(`[{}]`)); err != nil {
		t.Fatal(err)
	}
	for i := range d.Each(0) {
		if d.Keyed(i) || d.Key(i) != nil || d.RawKey(i) != nil {
			t.Errorf("got %q and %q, want no key", d.Key(i), d.RawKey(i))
		}
	}
}

func TestReadingMayBeginInTheMiddleOfAList(t *testing.T) {
	var d jsonspan.Doc
	text := []byte(`[{"a":1}, {"b":2} ]`)
	d.Start(text, 8, 1)
	if err := d.Expect(','); err != nil {
		t.Fatal(err)
	}
	at, err := d.Skip()
	if err != nil || string(d.Cut(at)) != `{"b":2}` || d.Peek() != ']' {
		t.Errorf("got %q, %v and then %q", d.Cut(at), err, d.Peek())
	}
	if err := errors.Join(d.Leave(']'), d.Finish()); err != nil {
		t.Error(err)
	}
}

// The reader and strictjson agree on what is JSON, and every value it finds is JSON.
func FuzzReadAgreesWithStrictjson(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,null,"\u00e9\ud83d\ude00"]}`, `{"a":1,"\u0061":2}`, `01`, "\"\x7f\u2028\"", `[[[`, `-`, `1.`, `"\ud800\u0041"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var raw strictjson.Value
		want := strictjson.Unmarshal(text, &raw)
		var d jsonspan.Doc
		got := d.Read(text)
		if (got == nil) != (want == nil) {
			t.Fatalf("%q: got %v, strictjson says %v", text, got, want)
		}
		for i := 0; got == nil && i < d.Next(0); i++ {
			if !strictjson.Value(d.Raw(i)).IsValid() {
				t.Fatalf("%q: value %d is %q", text, i, d.Raw(i))
			}
		}
	})
}
