package wire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/mcp/wire"
)

// MCP-11
func TestWhatTwoParsersCouldReadDifferentlyIsNoMessage(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"x"}]`, "batches"},
		{"nothing", ``, "one JSON object"},
		{"a word", `hello`, "one JSON object"},
		{"half a message", `{"jsonrpc":"2.0","id":1`, "cannot be read"},
		{"bytes after it", `{"jsonrpc":"2.0","id":1,"method":"x"} {}`, "follows"},
		{"a key twice", `{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}`, "duplicate"},
		{"a key twice, once with an escape", `{"jsonrpc":"2.0","id":1,"method":"x","m\u0065thod":"y"}`, "duplicate"},
		{"a key in another case", `{"jsonrpc":"2.0","id":1,"method":"x","Method":"y"}`, "differ only in case"},
		{"a key of the envelope in another case alone", `{"jsonrpc":"2.0","id":1,"method":"x","Params":{}}`, "taken for"},
		{"a kelvin sign for a k", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"k\":1,\"\u212a\":2}", "differ only in case"},
		{"name twice in params", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","name":"b"}}`, "duplicate"},
		{"Name beside name in params", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","Name":"b"}}`, "differ only in case"},
		{"a key twice deep inside", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[{"b":1,"b":2}]}}`, "duplicate"},
		{"a lone surrogate", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\ud800"}}`, "surrogate"},
		{"bytes that are no UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"a\":\"\xff\"}}", "UTF-8"},
		{"an id that is null", `{"jsonrpc":"2.0","id":null,"method":"x"}`, "id"},
		{"an id that is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"x"}`, "id"},
		{"an id with an exponent", `{"jsonrpc":"2.0","id":1e3,"method":"x"}`, "id"},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"x"}`, "id"},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"x"}`, "2.0"},
		{"no version", `{"id":1,"method":"x"}`, "2.0"},
		{"params that are a list", `{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}`, "params"},
		{"neither question nor answer", `{"jsonrpc":"2.0","id":1}`, "no method"},
		{"question and answer", `{"jsonrpc":"2.0","id":1,"method":"x","result":{}}`, "at once"},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, "at once"},
		{"an answer without an id", `{"jsonrpc":"2.0","result":{}}`, "without an id"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := wire.Read([]byte(tt.in))
			var fault *wire.Fault
			if !errors.As(err, &fault) || !strings.Contains(fault.Text, tt.want) {
				t.Errorf("Read(%s): got %+v, %v; want a fault about %q", tt.in, m, err, tt.want)
			}
		})
	}
}

func TestAMessageIsKeptByteForByte(t *testing.T) {
	raw := `{"id":"a\u0062", "jsonrpc":"2.0","x-own":[1e400],"method":"tools/call","params":{"arguments":{"n":9007199254740993},"name":"f","_meta":{"k/v":1},"task":{"ttl":1}}}`
	m, err := wire.Read([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	if string(m.Raw) != raw || m.Kind() != wire.Request || m.Key() != `"ab` || m.Method != "tools/call" {
		t.Errorf("got %+v", m)
	}
	a, err := m.Ask()
	if err != nil || a.Name != "f" || string(a.Arguments) != `{"n":9007199254740993}` || string(a.Meta.Get("k/v")) != `1` || len(a.Meta) != 1 {
		t.Fatalf("got %+v, %v", a, err)
	}
	if rest, err := m.Rest(); err != nil || string(rest) != `{"arguments":{"n":9007199254740993},"name":"f","task":{"ttl":1}}` {
		t.Errorf("what leaves: got %s, %v", rest, err)
	}
}

func TestAFaultNamesTheIdWhereItCanBeRead(t *testing.T) {
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"x","params":[]}`: "7",
		`{"jsonrpc":"2.0","params":[],"id":"q","method":1}`: `"q"`,
		`{"jsonrpc":"2.0","id":7,"id":8,"method":"x"}`:      "",
	} {
		var fault *wire.Fault
		if _, err := wire.Read([]byte(in)); !errors.As(err, &fault) || string(fault.ID) != want {
			t.Errorf("%s: got %+v, want the id %q", in, fault, want)
		}
	}
}

// MCP-11
func TestArgumentsAreAnObjectOrMissing(t *testing.T) {
	for args, good := range map[string]bool{
		`{}`: true, `{"a":null}`: true, `[]`: false, `null`: false, `"x"`: false, `1`: false,
	} {
		m, err := wire.Read([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":` + args + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Ask(); (err == nil) != good {
			t.Errorf("arguments %s: got %v", args, err)
		}
	}
}

func TestZeroAndTheTextZeroAreDifferentIds(t *testing.T) {
	key := func(id string) string {
		m, err := wire.Read([]byte(`{"jsonrpc":"2.0","id":` + id + `,"result":null}`))
		if err != nil {
			t.Fatal(err)
		}
		return m.Key()
	}
	if key(`0`) == key(`"0"`) || key(`"a"`) != key(`"\u0061"`) {
		t.Error("ids are taken for one another")
	}
}

func TestOneValueOfAnObjectIsExchanged(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"one that is there", `{ "a":1, "tools" : [1,2] ,"z":9007199254740993}`, `{ "a":1, "tools" : [] ,"z":9007199254740993}`},
		{"one that is not", `{ "a":1}`, `{"tools":[], "a":1}`},
		{"of an empty object", `{ }`, `{"tools":[] }`},
	}
	for _, tt := range tests {
		got, err := wire.Put([]byte(tt.in), "tools", []byte(`[]`))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v; want %s", tt.name, got, err, tt.want)
		}
	}
	if _, err := wire.Put([]byte(`[]`), "a", []byte(`1`)); err == nil {
		t.Error("a list was taken for an object")
	}
}

// What is accepted, a lenient parser reads the same way.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}`, `{"jsonrpc":"2.0","id":"a","result":{}}`,
		`{"jsonrpc":"2.0","method":"n"}`, `[]`, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, "{\"\u212a\":1,\"k\":2}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := wire.Read(data)
		if err != nil {
			return
		}
		var theirs struct {
			Method string
			Params json.RawMessage
			ID     json.RawMessage
		}
		if err := json.Unmarshal(data, &theirs); err != nil {
			t.Fatalf("accepted %q, which another parser refuses: %v", data, err)
		}
		if theirs.Method != m.Method || string(theirs.Params) != string(m.Params) || string(theirs.ID) != string(m.ID) {
			t.Fatalf("%q is read differently: %+v and %+v", data, m, theirs)
		}
		if m.Params != nil {
			_, _ = m.Ask()
		}
	})
}

// MCP-6
// A method that a lenient server could take for one that is judged is not passed on as one that nobody knows.
func TestAMethodThatCouldBeTakenForAnotherIsRefused(t *testing.T) {
	for _, method := range []string{
		"Tools/Call", "tools/call ", " tools/call", "TOOLS/CALL", `tools/call\u200b`, `tools\u00a0/call`, `tools/call\n`, "Resources/read",
		"Sampling/CreateMessage", "notifications/Cancelled",
	} {
		var fault *wire.Fault
		if _, err := wire.Read([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{}}`)); !errors.As(err, &fault) || string(fault.ID) != "1" {
			t.Errorf("%q: got %v, want a fault with the id", method, err)
		}
	}
	for _, method := range []string{"tools/call", `tools\/call`, "acme/x", "tasks/list", "Tools/Other", "acme/Ping"} {
		if _, err := wire.Read([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)); err != nil {
			t.Errorf("%q: %v", method, err)
		}
	}
}

func TestABatchIsToldFromABanner(t *testing.T) {
	for line, parts := range map[string]int{
		`[{"jsonrpc":"2.0","id":1,"result":{}}]`: 1, `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"x"}]`: 2,
		`[INFO] server started`: 0, `[]`: 0, `[1,2]`: 0, `{"jsonrpc":"2.0"}`: 0, ``: 0, `[{"level":"info"}]`: 0,
	} {
		if got := wire.Batched([]byte(line)); len(got) != parts {
			t.Errorf("%s: %d parts, want %d", line, len(got), parts)
		}
	}
}
