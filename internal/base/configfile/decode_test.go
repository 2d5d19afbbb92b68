package configfile_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

type decoded struct {
	Text  string
	Flag  bool
	Count int64
	Pick  int
	List  []string
	Free  map[string]string
}

// decode reads a file with one field of every kind.
func decode(t *testing.T, src string) (decoded, configfile.Faults) {
	t.Helper()
	root, faults := configfile.Parse("f.yaml", []byte(src))
	if faults != nil {
		t.Fatal(faults)
	}
	var d configfile.Decoder
	var out decoded
	d.Fields(root, map[string]func(*configfile.Node){
		"text":  func(n *configfile.Node) { out.Text, _ = d.Text(n) },
		"flag":  func(n *configfile.Node) { out.Flag, _ = d.Bool(n) },
		"count": func(n *configfile.Node) { out.Count, _ = d.Int(n, 1, 10) },
		"pick":  func(n *configfile.Node) { out.Pick, _ = d.Choice(n, "red", "green", "blue") },
		"list": func(n *configfile.Node) {
			for _, item := range d.Texts(n) {
				out.List = append(out.List, item.Text)
			}
		},
		"free": func(n *configfile.Node) {
			out.Free = map[string]string{}
			for _, k := range d.Entries(n) {
				out.Free[k.Name], _ = d.Text(k.Value)
			}
		},
		"wholly_other": func(n *configfile.Node) { d.Fields(n, nil) },
	})
	d.Faults.Sort()
	return out, d.Faults
}

func TestDecoderReadsEveryKind(t *testing.T) {
	got, faults := decode(t, "text: hi\nflag: true\ncount: 7\npick: blue\nlist: [a, b]\nfree: {x: y}\n")
	want := decoded{"hi", true, 7, 2, []string{"a", "b"}, map[string]string{"x": "y"}}
	if diff := cmp.Diff(want, got); diff != "" || faults != nil {
		t.Errorf("(-want +got):\n%s\nfaults: %v", diff, faults)
	}
	got, faults = decode(t, "list: a\nfree:\n")
	if diff := cmp.Diff(decoded{List: []string{"a"}, Free: map[string]string{}}, got); diff != "" || faults != nil {
		t.Errorf("one text as a list, a map left out (-want +got):\n%s\nfaults: %v", diff, faults)
	}
}

func TestDecoderReportsEverythingAtOnce(t *testing.T) {
	src := "txt: hi\nflag: 1\ncount: 11\npick: gren\nlist: [a, 2, '']\nfree: [x]\nwholly-other: {zzz: 1}\nwholly_other: {zzz: 1}\ntext:\n" +
		strings.Repeat("x", 70) + ": 1\n"
	want := `f.yaml:1:1: unknown key "txt"
    txt: hi
    ^
  hint: did you mean text?
f.yaml:2:7: flag must be true or false, not a whole number
    flag: 1
          ^
f.yaml:3:8: count must be from 1 to 10, not 11
    count: 11
           ^
f.yaml:4:7: pick must be red, green or blue, not "gren"
    pick: gren
          ^
  hint: did you mean green?
f.yaml:5:11: list[1] must be text, not a whole number
    list: [a, 2, '']
              ^
f.yaml:5:14: list[2] must not be empty
    list: [a, 2, '']
                 ^
f.yaml:6:7: free must be a map, not a list
    free: [x]
          ^
f.yaml:7:1: unknown key "wholly-other"
    wholly-other: {zzz: 1}
    ^
  hint: did you mean wholly_other?
f.yaml:8:16: unknown key "zzz" in wholly_other
    wholly_other: {zzz: 1}
                   ^
f.yaml:9:6: text must be text, not nothing
    text:
         ^
f.yaml:10:1: unknown key "` + strings.Repeat("x", 70) + `"
    ` + strings.Repeat("x", 70) + `: 1
    ^
`
	_, faults := decode(t, src)
	if diff := cmp.Diff(want, faults.Render([]byte(src))); diff != "" {
		t.Errorf("rendered (-want +got):\n%s", diff)
	}
}

func TestDecoderReadsNumbers(t *testing.T) {
	root, faults := configfile.Parse("f.yaml", []byte("whole: 3\npart: 0.25\nlarge: 101.5\nnone: .nan\ntext: many\n"))
	if faults != nil {
		t.Fatal(faults)
	}
	var d configfile.Decoder
	for key, want := range map[string]float64{"whole": 3, "part": 0.25} {
		if got, ok := d.Number(root.Get(key), 0, 100); !ok || got != want {
			t.Errorf("%s: got %v, %v", key, got, d.Faults)
		}
	}
	for _, key := range []string{"large", "none", "text"} {
		if got, ok := d.Number(root.Get(key), 0, 100); ok {
			t.Errorf("%s: got %v, want a fault", key, got)
		}
	}
	d.Faults.Sort()
	want := "f.yaml:3:8: large must be from 0 to 100, not 101.5\nf.yaml:4:7: none must be from 0 to 100, not .nan\nf.yaml:5:7: text must be a number, not text"
	if got := d.Faults.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDecoderReportsTheKindsItWants(t *testing.T) {
	src := "count: many\npick: 1\nlist: {a: b}\n"
	_, faults := decode(t, src)
	want := "f.yaml:1:8: count must be a whole number, not text\nf.yaml:2:7: pick must be text, not a whole number\nf.yaml:3:7: list must be a list, not a map"
	if got := faults.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var d configfile.Decoder
	root, _ := configfile.Parse("f.yaml", []byte("a: x"))
	if _, ok := d.Choice(root.Get("a"), "only"); ok || d.Faults[0].Message != `a must be only, not "x"` || root.Get("b") != nil || d.Items(nil) != nil {
		t.Errorf("got %v", d.Faults)
	}
}

func TestDecoderReportsAFileThatIsNoMap(t *testing.T) {
	_, faults := decode(t, "- a\n")
	if got, want := faults.Error(), "f.yaml:1:1: the file must be a map, not a list"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFaultsTellErrorsFromWarnings(t *testing.T) {
	var d configfile.Decoder
	at := configfile.Pos{File: "f.yaml", Line: 2, Col: 1}
	d.Warnf(at, "corrected to %s", "confirm")
	if d.Faults.Err() != nil {
		t.Errorf("got error %v of a warning, want none", d.Faults.Err())
	}
	d.Errorf(configfile.Pos{File: "f.yaml", Line: 1, Col: 1}, "broken")
	d.Faults.Sort()
	var errs configfile.Faults
	if !errors.As(d.Faults.Err(), &errs) || len(errs) != 1 || errs[0].Message != "broken" {
		t.Errorf("got %v, want the one error", d.Faults.Err())
	}
	if got, want := d.Faults.Error(), "f.yaml:1:1: broken\nf.yaml:2:1: warning: corrected to confirm"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := d.Faults.Only(configfile.Warning); len(got) != 1 || got[0].Severity.String() != "warning" {
		t.Errorf("got warnings %v, want one", got)
	}
	if got, want := configfile.Error.String()+" "+configfile.Kind(99).String(), "error nothing"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRenderShowsAWindowOfALongLine(t *testing.T) {
	line := make([]byte, 400)
	for i := range line {
		line[i] = 'a' + byte(i%26)
	}
	for _, tt := range []struct{ col, begins int }{{1, 0}, {200, 139}, {400, 280}} {
		faults := configfile.Faults{{Pos: configfile.Pos{File: "f", Line: 1, Col: tt.col}, Message: "m"}}
		got := faults.Render(line)
		want := "f:1:" + strconv.Itoa(tt.col) + ": m\n    " + string(line[tt.begins:tt.begins+120]) + "\n    " + strings.Repeat(" ", tt.col-1-tt.begins) + "^\n"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("column %d (-want +got):\n%s", tt.col, diff)
		}
	}
}

func TestRenderBearsPlacesOutsideTheFile(t *testing.T) {
	faults := configfile.Faults{
		{Pos: configfile.Pos{File: "f", Line: 9, Col: 9}, Message: "no such line", Hint: "h"},
		{Pos: configfile.Pos{File: "f", Line: 1, Col: 99}, Message: "no such column"},
		{Pos: configfile.Pos{File: "f", Line: 1, Col: 2}, Message: "after a tab"},
	}
	if got, want := faults.Render([]byte("\tb")), "f:9:9: no such line\n  hint: h\nf:1:99: no such column\n    \tb\n    \t ^\nf:1:2: after a tab\n    \tb\n    \t^\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestANilNodeHoldsNothing(t *testing.T) {
	var n *configfile.Node
	if n.Get("x") != nil || !n.Empty() {
		t.Errorf("a nil node holds something")
	}
}
