package hook_test

import (
	"testing"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

func TestToolsAreNamedAsHostsWriteThem(t *testing.T) {
	tests := map[string]struct {
		raw  string
		want string // empty: refused
	}{
		"a definition with a name":                {`{"name":"exec","parameters":{}}`, "exec"},
		"a function wrapper":                      {`{"type":"function","function":{"name":"exec"}}`, "exec"},
		"a plain string":                          {`"exec"`, "exec"},
		"the same name twice":                     {`{"name":"exec","function":{"name":"exec"}}`, "exec"},
		"a name beside an empty function":         {`{"name":"exec","function":null}`, "exec"},
		"a built-in tool that has only a type":    {`{"type":"web_search"}`, "web_search"},
		"spelling is the host's":                  {`{"name":"Apply-Patch"}`, "Apply-Patch"},
		"two different names are refused":         {`{"name":"read","function":{"name":"exec"}}`, ""},
		"a wrapper without a name is refused":     {`{"type":"function","function":{}}`, ""},
		"a kind of tool is not a name":            {`{"type":"function"}`, ""},
		"a function that is no object is no name": {`{"type":"x","function":"exec"}`, ""},
		"an empty object is refused":              {`{}`, ""},
		"an empty string is refused":              {`""`, ""},
		"a number is refused":                     {`5`, ""},
		"null is refused":                         {`null`, ""},
		"a name that is a number is refused":      {`{"name":5}`, ""},
		"an inner name that is a list is refused": {`{"function":{"name":[]}}`, ""},
		"a name that comes twice is refused":      {`{"name":"read","name":"exec"}`, ""},
		"a string that is not UTF-8 is refused":   {"\"\xff\"", ""},
		"what is not JSON is refused":             {`{`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := hook.NewTool([]byte(tt.raw))
			if tt.want == "" {
				if err == nil {
					t.Errorf("NewTool(%s) = %q, want an error", tt.raw, got.Name())
				}
				return
			}
			if err != nil || got.Name() != tt.want || string(got.Raw()) != tt.raw {
				t.Errorf("NewTool(%s) = %q %s, %v, want %q and the same bytes", tt.raw, got.Name(), got.Raw(), err, tt.want)
			}
		})
	}
}

func TestAToolKeepsItsDefinitionThroughJSON(t *testing.T) {
	const in = `[{"name":"exec","description":"runs"},"read",{"nameless":true}]`
	var tools []hook.Tool
	if err := strictjson.Unmarshal([]byte(in), &tools); err != nil {
		t.Fatalf("Unmarshal: %v", err)
	}
	if got := toolNames(tools); got[0] != "exec" || got[1] != "read" || got[2] != "" {
		t.Errorf("names = %q, want exec, read and none", got)
	}
	out, err := strictjson.Marshal(tools)
	if err != nil || string(out) != in {
		t.Errorf("Marshal = %s, %v, want %s", out, err, in)
	}
	if bare, err := strictjson.Marshal(hook.ToolNamed("read")); err != nil || string(bare) != `"read"` {
		t.Errorf("Marshal(ToolNamed) = %s, %v, want the bare name", bare, err)
	}
	if !tools[0].Equal(mustTool(t, `{"name":"exec","description":"runs"}`)) || tools[0].Equal(hook.ToolNamed("exec")) {
		t.Error("Equal does not compare definitions")
	}
}

// FuzzNewTool: a definition that is accepted has a name, and has the same one after JSON.
func FuzzNewTool(f *testing.F) {
	for _, s := range []string{`{"name":"exec"}`, `{"function":{"name":"a"}}`, `"x"`, `{"type":"t"}`, `{"name":"a","function":{"name":"b"}}`, `[]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tool, err := hook.NewTool(raw)
		if err != nil {
			return
		}
		b, err := strictjson.Marshal(tool)
		if err != nil {
			t.Fatalf("Marshal of %q: %v", raw, err)
		}
		again, err := hook.NewTool(b)
		if err != nil || again.Name() != tool.Name() || tool.Name() == "" {
			t.Errorf("NewTool(%q) = %q, after JSON %q, %v", raw, tool.Name(), again.Name(), err)
		}
	})
}
