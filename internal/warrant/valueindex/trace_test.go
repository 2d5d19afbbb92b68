package valueindex_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

var traceKey = []byte("0123456789abcdef0123456789abcdef")

func traced(said string, contents ...string) (live, kept *valueindex.Index, sizes []int) {
	live, kept = valueindex.New(0), valueindex.New(0)
	for _, x := range []*valueindex.Index{live, kept} {
		x.Trace(traceKey, "s")
	}
	kept.Recall()
	live.User(said)
	kept.User(said)
	for i, c := range contents {
		left := live.Result(valueindex.Result{Tool: "find", Step: uint64(i + 1), Content: []byte(c)})
		if left == nil {
			continue
		}
		b := left.Append(nil, 1<<20)
		t, err := valueindex.ReadTrace(b)
		if err != nil {
			panic(err)
		}
		kept.Restore("find", uint64(i+1), t)
		sizes = append(sizes, len(b))
	}
	return live, kept, sizes
}

// WAR-02: structure is known again by its hashes, text as text.
func TestATraceKnowsWhereAValueStood(t *testing.T) {
	const people = `[{"name":"Mira Kestrel","mail":"Mira Kestrel <mira@kontor.example>","born":"1990-05-26","tags":["a-1","b-2"]},
		{"name":"Tor Vik","mail":"tor@vik.example","from":"Mira Kestrel","note":"please write\nto eve@x.example"}]`
	live, kept, _ := traced("Tell Mira Kestrel", people, "A page about zander-77 and the harbour.", "NL91ABNA0417164300", "id,name\n4711-x,Mira Kestrel\n4712-x,Jon\n")
	for _, v := range []string{
		"mira@kontor.example", "tor@vik.example", "Mira Kestrel", "eve@x.example", "zander-77", "the harbour", "NL91 ABNA 0417 1643 00", "4711-x", "4712-x",
		"26 May 1990", "b-2", "nobody", "kestrel", "harbour zander-77", "Tell", "",
	} {
		was, is := live.Of(v), kept.Of(v)
		if was.Class != is.Class || was.Beside != is.Beside || was.Authored != is.Authored || was.Field != is.Field {
			t.Errorf("%q was %+v, is %+v", v, was, is)
		}
		if was.Class != valueindex.Text {
			continue
		}
		if kept.Mentions(v, func(valueindex.Mention) bool { return true }) {
			t.Errorf("%q: of a text that is gone, every sentence is known", v)
		}
	}
}

// Angle brackets with nothing in them are no address behind a name.
func TestEmptyBracketsMakeNoField(t *testing.T) {
	live, kept, _ := traced("Tell Mira", `name: Mira "mail":"mira@kontor.example"<>`)
	if was, is := live.Of("mira@kontor.example"), kept.Of("mira@kontor.example"); is.Class > was.Class {
		t.Errorf("was %s, is %s", was.Class, is.Class)
	}
}

// WAR-02: what is kept never makes a value more than it was.
func TestPropertyATraceNeverImprovesAnOrigin(t *testing.T) {
	piece := rapid.SampledFrom([]string{`"`, `{"name":`, `"Mira Kestrel"`, ",", `"mail":"mira@kontor.example"`, "}", "[", "]", "\n", "name: ", "Mira ", "a|b", "- id: ", "4711-x", " ", "2031-05-06", "|", "<", ">", "from: Tor"})
	rapid.Check(t, func(t *rapid.T) {
		var contents []string
		for range rapid.IntRange(1, 4).Draw(t, "results") {
			contents = append(contents, strings.Join(rapid.SliceOfN(piece, 1, 30).Draw(t, "content"), ""))
		}
		live, kept, _ := traced(rapid.SampledFrom([]string{"Tell Mira Kestrel", "4711-x", "a|b and Tor"}).Draw(t, "said"), contents...)
		for _, v := range []string{"mira@kontor.example", "Mira Kestrel", "mira", "4711-x", "a|b", "a b", "Tor", "2031-05-06", "id", strings.Join(contents, " ")} {
			was, is := live.Of(v), kept.Of(v)
			if is.Class > was.Class && !is.Perhaps {
				t.Fatalf("%q was %s, is %s in %q", v, was.Class, is.Class, contents)
			}
			if is.Class >= valueindex.Field && (was.Authored && !is.Authored || was.Beside && !is.Beside) {
				t.Fatalf("%q was %+v, is %+v in %q", v, was, is, contents)
			}
			said := 0
			live.Mentions(v, func(m valueindex.Mention) bool {
				if len(strings.FieldsFunc(m.Before+" "+m.After, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })) > 1 {
					said++
				}
				return true
			})
			if all := kept.Mentions(v, func(valueindex.Mention) bool { return true }); said > 0 && all {
				t.Fatalf("%q is mentioned %d times in %q, and nobody knows", v, said, contents)
			}
		}
	})
}

func TestATraceIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		content    string
		over       bool
		least, all int
	}{
		"a short page":  {prose(1, 4<<10), false, 100, 4 << 10},
		"a page":        {prose(1, 64<<10), false, 4 << 10, 16 << 10},
		"records":       {objects(1, 8<<10), false, 1 << 10, 8 << 10},
		"many records":  {objects(1, 256<<10), true, 0, 10},
		"words no end":  {ids(1, 256<<10), true, 0, 10},
		"larger by far": {strings.Repeat("word ", 4<<20), true, 0, 10},
	} {
		x := valueindex.New(0)
		x.Trace(traceKey, "s")
		b := x.Result(valueindex.Result{Content: []byte(c.content)}).Append(nil, 16<<10)
		tr, err := valueindex.ReadTrace(b)
		if err != nil || tr.Over() != c.over || len(b) < c.least || len(b) > c.all {
			t.Errorf("%s of %d bytes leaves %d, over %t: %v", name, len(c.content), len(b), tr.Over(), err)
		}
	}
}

// What a hash is of must not change unnoticed: a value of another spelling is found nowhere.
// Who changes this changes traceVersion in package warrant.
func TestATraceOfThisVersion(t *testing.T) {
	x := valueindex.New(0)
	x.Trace(traceKey, "s")
	x.User("Mira")
	b := x.Result(valueindex.Result{Content: []byte(`[{"name":"Mira Kestrel","mail":"Mira <mira@kontor.example>","due":"26 May 2031 at 3 pm","sum":"$1,200.50","iban":"NL91 ABNA 0417 1643 00",
		"link":"HTTPS://Kontor.example/Plan?x=1","path":"./a/../b.txt","phone":"+31 20 123 4567","who":"@mira","note":"a|b;c\nd"},{"from":"Tor Vik","tags":["ä","ﬁ"]}]`)}).Append(nil, 1<<20)
	sum := sha256.Sum256(b)
	if got, want := hex.EncodeToString(sum[:8]), "994e87c92d8b2af9"; got != want {
		t.Errorf("got %s, want %s: traces of before this change are no longer what they say", got, want)
	}
}

func TestBytesThatAreNoTrace(t *testing.T) {
	x := valueindex.New(0)
	x.Trace(traceKey, "s")
	whole := x.Result(valueindex.Result{Content: []byte(`[{"a":"b c","d":"e\nf"},{"a":"|x"}]`)}).Append(nil, 1<<20)
	for n := range whole {
		if _, err := valueindex.ReadTrace(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes are read", n, len(whole))
		}
	}
	if _, err := valueindex.ReadTrace(append(bytes.Clone(whole), 0)); err == nil {
		t.Error("bytes behind the end are read")
	}
}

func FuzzReadTrace(f *testing.F) {
	for _, content := range []string{`[{"a":"b c","d":"e\nf"},{"a":"|x"}]`, "a page of text", "x@y.example", "a,b\n1,2\n"} {
		x := valueindex.New(0)
		x.Trace(traceKey, "s")
		f.Add(x.Result(valueindex.Result{Content: []byte(content)}).Append(nil, 1<<20))
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		t, err := valueindex.ReadTrace(b)
		if err != nil {
			return
		}
		x := valueindex.New(0)
		x.Trace(traceKey, "s")
		x.Recall()
		x.User("b c")
		x.Restore("find", 1, t)
		for _, v := range []string{"b c", "x", "e f", "x@y.example"} {
			x.Of(v)
			x.Spoken(v)
			x.Mentions(v, func(valueindex.Mention) bool { return true })
		}
	})
}

// BenchmarkTrace is what a trace costs: compare on with off.
func BenchmarkTrace(b *testing.B) {
	for _, k := range kinds {
		for _, on := range []string{"off", "on"} {
			for _, size := range []int{8 << 10, megabyte / 4} {
				text := []byte(k.make(1, size))
				b.Run(k.name+"/"+on+"/"+map[bool]string{true: "large", false: "small"}[size > 10<<10], func(b *testing.B) {
					for b.Loop() {
						x := valueindex.New(0)
						if on == "on" {
							x.Trace(traceKey, "s")
							x.Result(valueindex.Result{Content: text}).Append(nil, 16<<10)
						} else {
							x.Result(valueindex.Result{Content: text})
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(text)), "ns/byte")
				})
			}
		}
	}
}
