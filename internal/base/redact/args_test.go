package redact_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/redact"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// VER-09
func TestArgsKeepTheirShapeWithoutSecrets(t *testing.T) {
	token := "ghp_" + letters[:30]
	tests := []struct{ name, tool, in, want string }{
		{"what is written is counted", "write", `{"path":"a.txt","content":"héllo"}`, `{"path":"a.txt","content":"[REDACTED: 5 chars]"}`},
		{"nothing written is counted too", "write", `{"content":""}`, `{"content":"[REDACTED: 0 chars]"}`},
		{"escapes count as what they stand for", "write", `{"content":"a\n\u00e9\ud83d\ude00"}`, `{"content":"[REDACTED: 4 chars]"}`},
		{"both sides of an edit", "edit", `{"old_string":"ab","newText":"abc","path":"p"}`, `{"old_string":"[REDACTED: 2 chars]","newText":"[REDACTED: 3 chars]","path":"p"}`},
		{"a list of edits goes whole", "multi_edit", `{"edits":[{"a":1}],"path":"p"}`, `{"edits":"[REDACTED: 9 chars]","path":"p"}`},
		{"a patch", "apply_patch", `{"input":"*** Begin"}`, `{"input":"[REDACTED: 9 chars]"}`},
		{"a host's own spelling", "Apply-Patch", `{"Patch":"*** Begin"}`, `{"Patch":"[REDACTED: 9 chars]"}`},
		{"a tool of a server", "mcp__fs__write_file", `{"content":"x"}`, `{"content":"[REDACTED: 1 chars]"}`},
		{"a bare patch goes whole", "apply_patch", `*** Begin Patch`, `"[REDACTED: 15 chars]"`},
		{"a patch as a string goes whole", "apply_patch", `"*** Begin"`, `"[REDACTED: 11 chars]"`},
		{"half a write goes whole", "write", `{"content":"the secret plan`, `"[REDACTED: 27 chars]"`},
		{"a key twice hides neither", "write", `{"content":"a","content":"b"}`, `{"content":"[REDACTED: 1 chars]","content~2":"[REDACTED: 1 chars]"}`},
		{"content of other tools stays", "message", `{"content":"hello"}`, `{"content":"hello"}`},
		{"secret names of every tool", "http", `{"headers":{"Authorization":"x","X-Api-Key":"y","Accept":"z"}}`, `{"headers":{"Authorization":"[REDACTED]","X-Api-Key":"[REDACTED]","Accept":"z"}}`},
		{"numbers and lists under a secret name", "login", `{"pin":1234,"cookies":[{"a":"b"}],"token":null,"secret":true}`, `{"pin":"[REDACTED]","cookies":"[REDACTED]","token":null,"secret":true}`},
		{"an escaped name", "login", `{"pass\u0077ord":"abc"}`, `{"password":"[REDACTED]"}`},
		{"a name with an invisible character", "login", "{\"pass\u200bword\":\"abc\"}", "{\"pass\u200bword\":\"[REDACTED]\"}"},
		{"a name that only ends so", "login", `{"stripeSecretLive":"abcdef1"}`, `{"stripeSecretLive":"[REDACTED]"}`},
		{"a secret by its form", "exec", `{"command":"echo ` + token + `"}`, `{"command":"echo [REDACTED]"}`},
		{"a secret in a name", "exec", `{"` + token + `":1}`, `{"[REDACTED]":1}`},
		{"two secrets in names", "exec", `{"` + token + `":1,"x` + `":2,"` + token + `1":3}`, `{"[REDACTED]":1,"x":2,"[REDACTED]~2":3}`},
		{"JSON inside a string is text", "exec", `{"body":"{\"password\":\"hunter22\"}"}`, `{"body":"{\"password\":\"[REDACTED]\"}"}`},
		{"a card as a number", "pay", `{"card":4111111111111111,"n":4111111111111112,"t":1700000000000}`, `{"card":"[REDACTED]","n":4111111111111112,"t":1700000000000}`},
		{"a card as another number", "pay", `[4111111111111111.0,4.111111111111111e15,-4111111111111111]`, `["[REDACTED]","[REDACTED]","[REDACTED]"]`},
		{"numbers keep their spelling", "pay", `[1.50,1e3,-0,12345678901234567890123]`, `[1.50,1e3,-0,12345678901234567890123]`},
		{"a variable by name and value", "deploy", `{"env":[{"name":"DB_PASSWORD","value":"x1"},{"name":"MODE","value":"x1"}]}`, `{"env":[{"name":"DB_PASSWORD","value":"[REDACTED]"},{"name":"MODE","value":"x1"}]}`},
		{"a list of arguments", "exec", `["run","--password","abc","--mode","abc"]`, `["run","--password","[REDACTED]","--mode","abc"]`},
		{"an id with something else beside it", "x", `{"a":"AKIA` + "ABCDEFGHIJKLMNOP" + ` 3f786850e387550fdab836ed7e6dc881de23001b"}`, `{"a":"[REDACTED] 3f786850e387550fdab836ed7e6dc881de23001b"}`},
		{"an object that is cut", "x", `{"a":{"b":"c"`, `"{\"a\":{\"b\":\"c\""`},
		{"a list that is cut", "x", `{"a":[{"b":`, `"{\"a\":[{\"b\":"`},
		{"a text that is cut", "x", `{"a":["b`, `"{\"a\":[\"b"`},
		{"a member that is cut", "x", `{"a":"b`, `"{\"a\":\"b"`},
		{"a long path", "x", `{"` + strings.Repeat("a", 2000) + `":{"b":"c"}}`, `{"` + strings.Repeat("a", 2000) + `":{"b":"c"}}`},
		{"blanks go", "x", " { \"a\" : [ 1 , true ] } ", `{"a":[1,true]}`},
		{"a string", "x", `"a"`, `"a"`},
		{"nothing", "x", ` `, `{}`},
		{"what is not JSON is text", "x", `password=hunter22`, `"password=[REDACTED]"`},
		{"two values are text", "x", `{} {}`, `"{} {}"`},
		{"bad UTF-8 is replaced", "x", "{\"a\":\"\xff\"}", "{\"a\":\"\uFFFD\"}"},
		{"bad UTF-8 outside a string", "x", "{\xff}", "\"{\uFFFD}\""},
	}
	r := redact.New()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(r.Args(tt.tool, []byte(tt.in))); got != tt.want {
				t.Errorf("Args(%s, %s):\n got %s\nwant %s", tt.tool, tt.in, got, tt.want)
			}
		})
	}
}

// VER-09
func TestConfiguredRulesAddToWhatIsBuiltIn(t *testing.T) {
	r, err := redact.Compile(redact.Rules{
		Fields: []redact.FieldRule{
			{Tools: []string{"crm_*"}, Fields: []string{"customer_name"}},
			{Fields: []string{"Address.Street", "notes.*"}, Sized: true},
		},
		Patterns: []redact.Pattern{{Name: "project", Expr: `PROJ-\d+`}},
	})
	if err != nil {
		t.Fatal(err)
	}
	in := `{"customerName":"Bob","address":{"street":"Elm","town":"X"},"street":"Oak","list":[{"address":{"street":"no"}}],"notes":{"a":"b"},"content":"PROJ-12","password":"x"}`
	tests := []struct{ tool, want string }{
		{"crm_add", `{"customerName":"[REDACTED]","address":{"street":"[REDACTED: 3 chars]","town":"X"},"street":"Oak","list":[{"address":{"street":"no"}}],"notes":{"a":"[REDACTED: 1 chars]"},"content":"[REDACTED]","password":"[REDACTED]"}`},
		{"write", `{"customerName":"Bob","address":{"street":"[REDACTED: 3 chars]","town":"X"},"street":"Oak","list":[{"address":{"street":"no"}}],"notes":{"a":"[REDACTED: 1 chars]"},"content":"[REDACTED: 7 chars]","password":"[REDACTED]"}`},
	}
	for _, tt := range tests {
		if got := string(r.Args(tt.tool, []byte(in))); got != tt.want {
			t.Errorf("Args(%s):\n got %s\nwant %s", tt.tool, got, tt.want)
		}
	}
	if got := r.Text("PROJ-12 and ghp_" + letters[:30]); got != "[REDACTED] and [REDACTED]" {
		t.Errorf("Text: got %q", got)
	}
}

func TestAPatternThatCannotWorkIsRefused(t *testing.T) {
	tests := []struct{ expr, want string }{
		{`(`, `compile pattern "mine": error parsing regexp: missing closing ): ` + "`(`"},
		{`a*`, `compile pattern "mine": it matches the empty string`},
		{`(?i)redacted`, `compile pattern "mine": it matches [REDACTED]`},
		{`(a)\1`, `compile pattern "mine": error parsing regexp: invalid escape sequence: ` + "`\\1`"},
	}
	for _, tt := range tests {
		r, err := redact.Compile(redact.Rules{Patterns: []redact.Pattern{{Name: "fine", Expr: "x"}, {Name: "mine", Expr: tt.expr}}})
		if err == nil || err.Error() != tt.want || r != nil {
			t.Errorf("Compile(%s): got %v, %v; want %s", tt.expr, r, err, tt.want)
		}
	}
	if _, err := redact.Compile(redact.Rules{Fields: []redact.FieldRule{{Tools: []string{"a", "b"}}}}); err == nil || err.Error() != "compile fields of a, b: a rule without fields" {
		t.Errorf("Compile of a rule without fields: got %v", err)
	}
}

func TestARedactorNobodyCompiledRemovesEverything(t *testing.T) {
	for _, r := range []*redact.Redactor{nil, {}} {
		if got := r.Text("hello"); got != redact.Mark {
			t.Errorf("Text: got %q", got)
		}
		if got := r.Text(""); got != "" {
			t.Errorf("Text of nothing: got %q", got)
		}
		if got := string(r.Args("write", []byte(`{"a":1}`))); got != `"[REDACTED]"` {
			t.Errorf("Args: got %s", got)
		}
		if got := r.Preview([]byte("hello"), 20); got != redact.Mark {
			t.Errorf("Preview: got %q", got)
		}
	}
}

func TestDeepArgumentsAreCutAndCounted(t *testing.T) {
	r := redact.New()
	for _, depth := range []int{99, 100, 101, 5000, 20000} {
		in := strings.Repeat(`{"a":[`, depth/2) + strings.Repeat(`]}`, depth/2)
		got := r.Args("x", []byte(in))
		var v any
		if err := strictjson.Unmarshal(got, &v); err != nil {
			t.Errorf("%d levels: got %.100s, which is not JSON: %v", depth, got, err)
		}
		if cut := strings.Contains(string(got), "[REDACTED: "); cut != (depth > 101 && depth < 10000) {
			t.Errorf("%d levels: got %.100s", depth, got)
		}
	}
}

// A text that never settles was made to: nothing of it is shown.
func TestTextThatNeverSettlesIsRemovedWhole(t *testing.T) {
	r, err := redact.Compile(redact.Rules{Patterns: []redact.Pattern{{Name: "mine", Expr: `\]x`}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"]x and so on", "]" + strings.Repeat("x", 20)} {
		once := r.Text(s)
		if twice := r.Text(once); twice != once || strings.Contains(once, "xxx") {
			t.Errorf("Text(%q): got %q, and of that %q", s, once, twice)
		}
	}
}

// VER-09
func TestNoPlantedSecretComesOut(t *testing.T) {
	r := redact.New()
	list := slices.Sorted(maps.Keys(secrets()))
	rapid.Check(t, func(t *rapid.T) {
		planted := secrets()[rapid.SampledFrom(list).Draw(t, "secret")]
		value := genValue(3).Draw(t, "value")
		key := rapid.StringMatching(`[a-z ]{0,8}`).Draw(t, "key")
		in, err := strictjson.Marshal(map[string]any{"x": value, key + "_": []any{planted[0], map[string]any{"k": planted[0]}}})
		if err != nil {
			t.Skip("keys that differ only in case")
		}
		tool := rapid.SampledFrom([]string{"exec", "write", "message"}).Draw(t, "tool")
		got := r.Args(tool, in)
		text := planted[1]
		if b, err := strictjson.Marshal(text); err == nil {
			text = strings.Trim(string(b), `"`)
		}
		if strings.Contains(string(got), text) {
			t.Fatalf("Args(%s): got %s, which holds %s", in, got, text)
		}
		checkArgs(t, in, got)
	})
}

// genValue draws JSON values of bounded depth.
func genValue(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(rapid.Just[any](nil), rapid.Just[any](true), rapid.Float64Range(-1e20, 1e20).AsAny(), rapid.String().AsAny())
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf, rapid.SliceOfN(genValue(depth-1), 0, 3).AsAny(), rapid.MapOfN(rapid.String(), genValue(depth-1), 0, 3).AsAny())
}

// checkArgs is what holds whatever goes in.
func checkArgs(t interface {
	Helper()
	Fatalf(string, ...any)
}, in, got []byte) {
	t.Helper()
	var v any
	if err := strictjson.Unmarshal(got, &v); err != nil && !strings.Contains(err.Error(), strictjson.ErrCase.Error()) {
		t.Fatalf("Args(%q): got %s, which is not JSON: %v", in, got, err)
	}
	if len(got) > 7*len(in)+64 {
		t.Fatalf("Args(%q): got %d bytes of %d", in, len(got), len(in))
	}
}

// VER-09
func TestTheSizeIsThatOfTheValue(t *testing.T) {
	r := redact.New()
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.String().Draw(t, "content")
		in, err := strictjson.Marshal(map[string]string{"content": content})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`{"content":"[REDACTED: %d chars]"}`, utf8.RuneCountInString(content))
		if diff := cmp.Diff(want, string(r.Args("write", in))); diff != "" {
			t.Fatalf("Args(%s) (-want +got):\n%s", in, diff)
		}
	})
}

func FuzzArgs(f *testing.F) {
	for _, s := range []string{`{}`, `{"content":"x"}`, `{"a":[1,"b",null]}`, `4111111111111111`, "\xff", `{"a":1,"a":2}`, `"`, `["--token","x"]`, `{"name":"password","value":"v"}`, strings.Repeat("[", 300)} {
		f.Add("write", []byte(s))
		f.Add("exec", []byte(s))
	}
	for _, s := range secrets() {
		f.Add("exec", []byte(s[0]))
	}
	r := redact.New()
	f.Fuzz(func(t *testing.T, tool string, args []byte) {
		got := r.Args(tool, args)
		checkArgs(t, args, got)
		if again := r.Args(tool, args); string(again) != string(got) {
			t.Fatalf("Args(%q): got %s, then %s", args, got, again)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, s := range secrets() {
		f.Add(s[0])
	}
	for _, s := range survivors() {
		f.Add(s)
	}
	r := redact.New()
	f.Fuzz(func(t *testing.T, s string) {
		once := r.Text(s)
		if twice := r.Text(once); twice != once {
			t.Fatalf("Text(%q): got %q, and of that %q", s, once, twice)
		}
		if len(once) > 4*len(s) {
			t.Fatalf("Text(%q): got %d bytes of %d", s, len(once), len(s))
		}
	})
}

func BenchmarkText(b *testing.B) {
	plain := strings.Repeat("Yesterday we walked along the river, and in the evening it rained; nobody minded. ", 130)[:10240]
	prose := strings.Repeat("The quick task-based review of the basic key points was held at 10:30; the token machine was not a secret. ", 100)[:10240]
	code := strings.Repeat("func (t *Token) next(key string) (int, error) { x := t.keys[key]; if x == nil { return 0, errNoKey } }\n", 110)[:10240]
	found := strings.Repeat("plain words here, nothing else to see at all. ", 220) + "password=hunter22 ghp_" + letters[:30]
	hostile := strings.Repeat("token=${", 1280)
	r := redact.New()
	for _, bb := range []struct{ name, text string }{{"plain", plain}, {"prose", prose}, {"code", code}, {"secrets", found}, {"hostile", hostile}} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Text(bb.text)
			}
		})
	}
}

func BenchmarkArgs(b *testing.B) {
	r := redact.New()
	args := []byte(`{"command":"go test ./... -run TestX","workdir":"/home/bob/project","timeout":120,"env":{"MODE":"ci"}}`)
	b.ReportAllocs()
	for b.Loop() {
		r.Args("exec", args)
	}
}
