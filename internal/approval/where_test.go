package approval_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// fits holds a call's arguments against one constraint.
func fits(path, pattern, args string) bool {
	a := tool.NewArgs([]byte(args))
	return approval.Where{path: pattern}.Fits(&a)
}

// BEY-10
func TestWhatAConstraintLetsThrough(t *testing.T) {
	for _, tt := range []struct{ name, path, pattern, args string }{
		{"the exact value", "to", "bob@example.com", `{"to":"bob@example.com"}`},
		{"a value with more around it", "to", "bob@example.com", `{"body":"hi","to":"bob@example.com"}`},
		{"an exact value that a shell would act on", "c", "ls | wc -l", `{"c":"ls | wc -l"}`},
		{"an empty value", "c", "", `{"c":""}`},
		{"a star for some words", "c", "git log *", `{"c":"git log --oneline -5 README.md"}`},
		{"a star for nothing", "c", "git log *", `{"c":"git log "}`},
		{"a star at the front", "path", "*.md", `{"path":"docs/notes.md"}`},
		{"stars in the middle", "path", "docs/*/img/*.png", `{"path":"docs/a/img/b.png"}`},
		{"a star alone", "path", "*", `{"path":"anything at all, plainly"}`},
		{"text in any language", "c", "say *", `{"c":"say größer 世界"}`},
		{"operators that the pattern has itself", "c", "make * && echo *", `{"c":"make all && echo done"}`},
		{"a way up that the pattern has itself", "path", "../shared/*", `{"path":"../shared/a.txt"}`},
		{"single dots", "path", "./src/*", `{"path":"./src/.hidden/a.b.c"}`},
		{"a whole number", "n", "5", `{"n":5}`},
		{"a large whole number, as people write it", "n", "1000000", `{"n":1000000}`},
		{"a number written differently", "n", "100", `{"n":1e2}`},
		{"a fraction", "n", "0.25", `{"n":0.25}`},
		{"a number by a star", "n", "-*", `{"n":-3}`},
		{"true", "dry", "true", `{"dry":true}`},
		{"a value inside an object", "to.address", "bob@example.com", `{"to":{"address":"bob@example.com"}}`},
		{"a key with a dot of its own", "to.address", "bob@example.com", `{"to.address":"bob@example.com"}`},
		{"a key with dots inside an object", "a.b.c", "x", `{"a":{"b.c":"x"}}`},
		{"both readings, when both fit", "a.b", "x*", `{"a":{"b":"x1"},"a.b":"x2"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !fits(tt.path, tt.pattern, tt.args) {
				t.Errorf("%s=%q does not fit %s", tt.path, tt.pattern, tt.args)
			}
		})
	}
}

// BEY-10
func TestWhatDoesNotGetAroundAConstraint(t *testing.T) {
	for _, tt := range []struct{ name, path, pattern, args string }{
		{"another value", "to", "bob@example.com", `{"to":"eve@example.com"}`},
		{"more than the value", "to", "bob@example.com", `{"to":"bob@example.com,eve@example.com"}`},
		{"space around the value", "to", "bob@example.com", `{"to":" bob@example.com"}`},
		{"another case", "to", "bob@example.com", `{"to":"Bob@example.com"}`},
		{"no such argument", "to", "*", `{"body":"x"}`},
		{"no arguments", "to", "*", `{}`},
		{"no bytes at all", "to", "*", ``},
		{"arguments that are no object", "to", "*", `["bob"]`},
		{"arguments that are no JSON", "to", "*", `{"to":"bob"`},
		{"two values for one key", "to", "bob", `{"to":"bob","to":"eve"}`},
		{"two spellings of one key", "to", "bob", `{"to":"bob","TO":"eve"}`},
		{"another spelling of the key", "to", "bob", `{"To":"bob"}`},
		{"an array", "to", "bob", `{"to":["bob"]}`},
		{"an array by a star", "to", "*", `{"to":["bob","eve"]}`},
		{"an object", "to", "*", `{"to":{"address":"bob"}}`},
		{"null", "to", "*", `{"to":null}`},
		{"a number by its text", "n", "5", `{"n":5.5}`},
		{"a number too large to be kept", "n", "9007199254740992", `{"n":9007199254740993}`},
		{"a huge number by a star", "n", "1*", `{"n":1e300}`},
		{"the prefix alone", "c", "git log *", `{"c":"git log"}`},
		{"the end alone", "path", "a*a", `{"path":"a"}`},
		{"a part that is missing", "path", "docs/*/img/*", `{"path":"docs/a/b.png"}`},
		{"parts in another order", "c", "a*b*c*d", `{"c":"a c b d"}`},

		{"a second command", "c", "git log *", `{"c":"git log; rm -rf /"}`},
		{"a second command after and", "c", "git log *", `{"c":"git log x && rm y"}`},
		{"a pipe", "c", "git log *", `{"c":"git log x | sh"}`},
		{"the background", "c", "git log *", `{"c":"git log x & rm y"}`},
		{"a command inside backticks", "c", "echo *", "{\"c\":\"echo `id`\"}"},
		{"a command inside $()", "c", "echo *", `{"c":"echo $(id)"}`},
		{"a variable", "c", "echo *", `{"c":"echo $HOME"}`},
		{"a redirection out", "c", "echo *", `{"c":"echo x > /etc/passwd"}`},
		{"a redirection in", "c", "cat *", `{"c":"cat < /etc/passwd"}`},
		{"a process substitution", "c", "cat *", `{"c":"cat <(id)"}`},
		{"a brace expansion", "c", "rm *", `{"c":"rm {a,b}"}`},
		{"a quote that opens", "c", "echo *", `{"c":"echo \"x"}`},
		{"a single quote", "c", "echo *", `{"c":"echo 'x'"}`},
		{"a backslash", "c", "echo *", `{"c":"echo \\x"}`},
		{"a comment", "c", "rm * --dry-run", `{"c":"rm x # --dry-run"}`},
		{"a history expansion", "c", "echo *", `{"c":"echo !!"}`},
		{"a wildcard", "c", "rm build/*", `{"c":"rm build/*"}`},
		{"a wildcard that means the parent", "c", "cat build/*", `{"c":"cat build/.?/.?/etc/passwd"}`},
		{"a class that means the parent", "c", "cat build/*", `{"c":"cat build/.[.]/secret"}`},
		{"a home directory", "c", "cat *", `{"c":"cat ~root/.ssh/id_rsa"}`},
		{"a line break", "c", "git log *", `{"c":"git log\nrm -rf /"}`},
		{"a line break after the prefix", "c", "git log *", `{"c":"git log x\nrm -rf /"}`},
		{"a carriage return", "c", "git log *", `{"c":"git log x\rrm"}`},
		{"a line separator", "c", "git log *", `{"c":"git log x\u2028rm"}`},
		{"a next-line control", "c", "git log *", `{"c":"git log x\u0085rm"}`},
		{"a NUL", "c", "git log *", `{"c":"git log x\u0000rm"}`},
		{"an escape sequence", "c", "git log *", `{"c":"git log x\u001b[2J"}`},
		{"a delete character", "c", "git log *", `{"c":"git log x\u007f"}`},
		{"a replacement character", "c", "git log *", `{"c":"git log x\ufffd"}`},

		{"a way up", "path", "docs/*", `{"path":"docs/../etc/passwd"}`},
		{"a way up that grows together", "path", "docs/.*", `{"path":"docs/../etc/passwd"}`},
		{"a way up that grows together at the end", "path", "docs/*./x", `{"path":"docs/../x"}`},
		{"a way up around an empty star", "path", "docs/.*./x", `{"path":"docs/../x"}`},
		{"one more way up than the pattern has", "path", "../a/*", `{"path":"../a/../../x"}`},
		{"a way up behind a backslash", "path", "docs/*", `{"path":"docs\\..\\x"}`},
		{"a way up that is escaped", "url", "https://a.example/docs/*", `{"url":"https://a.example/docs/%2e%2e/admin"}`},
		{"a query of its own", "url", "https://a.example/*", `{"url":"https://a.example/x?to=evil"}`},

		{"a key with a dot that hides the object", "to.address", "bob", `{"to.address":"bob","to":{"address":"eve"}}`},
		{"a key with a dot that hides an array", "to.address", "bob", `{"to.address":"bob","to":[{"address":"eve"}]}`},
		{"a key with a dot that hides other members", "to.address", "bob", `{"to.address":"bob","to":{"addr":"eve"}}`},
		{"an object that hides a key with a dot", "to.address", "bob", `{"to":{"address":"bob"},"to.address":"eve"}`},
		{"a key with dots inside that hides an object", "a.b.c", "x", `{"a":{"b.c":"x","b":{"c":"y"}}}`},
		{"a path into text", "to.address", "bob", `{"to":"bob"}`},
		{"a path into an array", "to.0", "bob", `{"to":["bob"]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if fits(tt.path, tt.pattern, tt.args) {
				t.Errorf("%s=%q fits %s", tt.path, tt.pattern, tt.args)
			}
		})
	}
}

func TestAllConstraintsMustFit(t *testing.T) {
	w := approval.Where{"to": "bob", "dry": "true"}
	for args, want := range map[string]bool{
		`{"to":"bob","dry":true}`:  true,
		`{"to":"bob","dry":false}`: false,
		`{"to":"bob"}`:             false,
		`{"dry":true}`:             false,
	} {
		a := tool.NewArgs([]byte(args))
		if got := w.Fits(&a); got != want {
			t.Errorf("%s: got %t, want %t", args, got, want)
		}
	}
	if got, want := w.String(), `dry="true" to="bob"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if w.Fits(nil) {
		t.Error("a call whose arguments are not known fits")
	}
	if !(approval.Where{}).Fits(nil) || (approval.Where{}).String() != "" {
		t.Error("no constraint is one")
	}
}

func TestConstraintsAreChecked(t *testing.T) {
	many := approval.Where{}
	for i := range 32 {
		many[fmt.Sprint(i)] = "x"
	}
	if err := many.Check(); err != nil {
		t.Errorf("32 constraints: got %v, want none refused", err)
	}
	many["one more"] = "x"
	for name, w := range map[string]approval.Where{
		"more than 32":    many,
		"no name":         {"": "x"},
		"a long name":     {strings.Repeat("x", 1025): "x"},
		"a long pattern":  {"a": strings.Repeat("x", 1025)},
		"two stars":       {"a": "x**"},
		"more than two":   {"a": "***"},
		"one bad of many": {"a": "x", "b": "**"},
	} {
		if err := w.Check(); !errors.Is(err, approval.ErrUsage) {
			t.Errorf("%s: got %v, want ErrUsage", name, err)
		}
	}
	for _, w := range []approval.Where{nil, {}, {"a": ""}, {"a": "*"}, {"a": "*x*"}, {strings.Repeat("x", 1024): strings.Repeat("y", 1024)}} {
		if err := w.Check(); err != nil {
			t.Errorf("%v: got %v", w, err)
		}
	}
}

// meta are the characters a shell acts on.
const meta = ";&|`$<>(){}[]?~\\\"'#!\n\r\x00"

// What a pattern accepts holds each such character as often as the pattern itself, and
// goes up a path as often: a star stands for none of them.
//
// BEY-10
func FuzzWhereFits(f *testing.F) {
	for _, seed := range [][2]string{
		{"git log *", "git log; rm -rf /"}, {"git log *", "git log --oneline"}, {"*", "$(id)"}, {"a*;b*;c", "a;b;b;c"},
		{"docs/.*./x", "docs/../x"}, {"..*", "...."}, {"a*b*c", "abbbc"}, {"exact; value", "exact; value"}, {"*|*", "a|b"}, {"", ""},
		{"*\n*", "a\nb\nc"}, {"x*", "x\u2028y"}, {"cat *", "cat .?/x"}, {"*.*.*", "a..b"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, value string) {
		args, err := strictjson.Marshal(map[string]string{"v": value})
		if err != nil || (approval.Where{"v": pattern}).Check() != nil || !fits("v", pattern, string(args)) {
			return
		}
		if !strings.Contains(pattern, "*") {
			if value != pattern {
				t.Errorf("%q fits %q", value, pattern)
			}
			return
		}
		for _, c := range meta {
			if got, want := strings.Count(value, string(c)), strings.Count(pattern, string(c)); got != want {
				t.Errorf("%q fits %q: %q is there %d times, want %d", value, pattern, c, got, want)
			}
		}
		if strings.Contains(value, "*") {
			t.Errorf("%q fits %q: it holds a wildcard", value, pattern)
		}
		if strings.Count(value, "..") > strings.Count(pattern, "..") {
			t.Errorf("%q fits %q: it goes up", value, pattern)
		}
		if strings.ContainsFunc(value, unicode.IsControl) && !strings.ContainsFunc(pattern, unicode.IsControl) {
			t.Errorf("%q fits %q: it holds a control character", value, pattern)
		}
	})
}

// Whatever the arguments are, a constraint is held against them without harm.
func FuzzWhereArguments(f *testing.F) {
	for _, seed := range []string{`{"a":{"b":"x"}}`, `{"a.b":"x","a":{"b":"y"}}`, `[]`, `{"a":[{"b":"x"}]}`, `{"a":{"b":{"a":{"b":1}}}}`, `{`, ``, `{"a":1e999}`} {
		f.Add("a.b", "x", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, path, pattern string, raw []byte) {
		args := tool.NewArgs(raw)
		fit := approval.Where{path: pattern}.Fits(&args)
		fields, err := args.Fields()
		if fit && (err != nil || len(fields) == 0) {
			t.Errorf("%q=%q fits %q", path, pattern, raw)
		}
		if v, ok := fields[path].(string); fit && ok && !strings.Contains(pattern, "*") && v != pattern {
			t.Errorf("%q=%q fits %q", path, pattern, raw)
		}
	})
}
