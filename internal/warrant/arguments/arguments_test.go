package arguments_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/tool"
)

func of(t testing.TB, args string) []arguments.Leaf {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(args), &v); err != nil {
		t.Fatal(err)
	}
	return arguments.Of(v)
}

func TestArgumentsAreTakenApartInOneOrder(t *testing.T) {
	var got []string
	for _, l := range of(t, `{"b":7.0,"a":"x","c":[{"d":true},{"d":null}],"e":{"f":2.5}}`) {
		got = append(got, l.Path+"="+l.Text)
	}
	if want := []string{"a=x", "b=7", "c[].d=true", "e.f=2.5"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestACommandIsReadInEveryWayAHostCouldRunIt(t *testing.T) {
	for args, want := range map[string][]string{
		`{"command":"ls"}`:                                {"ls"},
		`{"command":"ls","args":["-l","my boats"]}`:       {"ls", "ls '-l' 'my boats'"},
		`{"command":"ls","args":"-l boats"}`:              {"ls", "ls '-l boats'", "ls -l boats"},
		`{"command":"ls","cwd":"~/.config"}`:              {"ls", "cd ~'/.config' && ls"},
		`{"command":"ls","cwd":"src"}`:                    {"ls"},
		`{"command":"ls","env":{"LANG":"C"}}`:             {"ls", "export LANG='C'; ls"},
		`{"commands":["ls -l","pwd"]}`:                    {"ls -l pwd", "ls -l", "pwd"},
		`{"command":["ls","-l"]}`:                         {"ls -l"},
		`{"command":"[\"ls -l\",\"pwd\"]"}`:               {`["ls -l","pwd"]`, "ls -l pwd", "ls -l", "pwd", "pwd"},
		`{"program":"ls","cmd_args":["-l"],"cwd":"/etc"}`: nil,
	} {
		var got []string
		first := of(t, args)[0]
		if first.Path == "args" || first.Path == "cmd_args" || first.Path == "cwd" {
			first = *find(of(t, args), "command", "program")
		}
		for _, c := range first.Commands() {
			got = append(got, c.Command())
		}
		if want == nil {
			if !first.Worded() || len(got) < 2 {
				t.Errorf("%s: the words beside a program are lost: %q", args, got)
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}

func find(list []arguments.Leaf, names ...string) *arguments.Leaf {
	for i := range list {
		if slices.Contains(names, list[i].Path) {
			return &list[i]
		}
	}
	return &arguments.Leaf{}
}

func TestNamesAreTakenApart(t *testing.T) {
	if got := strings.Join(arguments.NameWords("fields[].parcelId2_URL"), " "); got != "fields parcel id2 url" {
		t.Errorf("got %q", got)
	}
}

// Whatever stands in arguments is among the values.
func TestPropertyNoTextIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		var v any = text
		for range rapid.IntRange(0, 4).Draw(t, "depth") {
			if rapid.Bool().Draw(t, "list") {
				v = []any{"x", v, 1.0}
			} else {
				v = map[string]any{rapid.String().Draw(t, "key"): v, "args": "y"}
			}
		}
		if !slices.ContainsFunc(arguments.Of(v), func(l arguments.Leaf) bool { return l.Text == text && l.Quoted }) {
			t.Fatalf("%q is not among the values", text)
		}
	})
}

// What is read the short way is what is read the long way, or it is left to that.
func TestPlainArgumentsAreReadAlikeBothWays(t *testing.T) {
	for name, test := range map[string]struct {
		args  string
		plain bool
	}{
		"texts, in any order":           {`{"url":"https://a.example/x","format":"markdown"}`, true},
		"numbers, flags and nothing":    {`{"n":7,"big":123456789012345,"zero":0,"yes":true,"no":false,"none":null}`, true},
		"an empty text":                 {`{"a":""}`, true},
		"no field":                      {`{}`, true},
		"a text that says null":         {`{"a":"null","b":"true"}`, true},
		"words beside a command":        {`{"command":"rm","args":"-rf x"}`, false},
		"a folder that matters":         {`{"command":"ls","cwd":"/etc"}`, false},
		"an address for a name":         {`{"ann@a.example":1}`, false},
		"a list":                        {`{"a":["x"]}`, false},
		"an object":                     {`{"a":{"b":1}}`, false},
		"capitals in a name":            {`{"filePath":"x"}`, false},
		"an escape":                     {`{"a":"x\ny"}`, false},
		"more fields than a few":        {`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}`, false},
		"a number that is not whole":    {`{"a":1.5}`, false},
		"what cannot be read as object": {`[1]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			args := tool.NewArgs([]byte(test.args))
			got, plain := arguments.Plain(nil, &args)
			if plain != test.plain {
				t.Fatalf("got plain %v, want %v", plain, test.plain)
			}
			fields, err := args.Fields()
			if want := arguments.Of(fields); plain && (err != nil || !slices.EqualFunc(got, want, same)) {
				t.Errorf("got %+v, want %+v, %v", got, want, err)
			}
		})
	}
}

func same(a, b arguments.Leaf) bool {
	return a.Path == b.Path && a.Text == b.Text && a.Quoted == b.Quoted && a.Flag == b.Flag && a.Worded() == b.Worded()
}
