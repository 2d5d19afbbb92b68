package toolinfo_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

func hint(b bool) *bool { return &b }

// SEQ-02
func TestAServersHintsOnlyTighten(t *testing.T) {
	for _, c := range []struct {
		name string
		d    tool.Definition
		want string
	}{
		{"read-only does not lower a verb", tool.Definition{Name: "delete_entries", ReadOnly: hint(true)}, "delete high sink"},
		{"read-only does not explain what is unknown", tool.Definition{Name: "zap", ReadOnly: hint(true)}, "unknown high source sink"},
		{"read-only settles a name of two readings with a description that agrees",
			tool.Definition{Name: "message_board", Description: "Lists the messages on the board.", ReadOnly: hint(true)}, "read none source"},
		{"without the hint it stays grave",
			tool.Definition{Name: "message_board", Description: "Lists the messages on the board."}, "send high sink"},
		{"without the description it stays grave", tool.Definition{Name: "message_board", ReadOnly: hint(true)}, "send high sink"},
		{"a name that ends like a question", tool.Definition{Name: "score_report", ReadOnly: hint(true)}, "send high sink"},
		{"a thing that is a question", tool.Definition{Name: "city_menu", ReadOnly: hint(true)}, "read none source"},
		{"the same without the hint", tool.Definition{Name: "city_menu"}, "unknown high source sink"},
		{"a read that says it writes", tool.Definition{Name: "get_entry", ReadOnly: hint(false)}, "read low source"},
		{"a change that can destroy", tool.Definition{Name: "update_note", Destructive: hint(true)}, "change high source sink"},
		{"harmless by its own word", tool.Definition{Name: "delete_entries", Destructive: hint(false)}, "delete high sink"},
		{"a clock of the open world", tool.Definition{Name: "get_time", OpenWorld: hint(true)}, "read none source"},
		{"a clock of the closed world", tool.Definition{Name: "get_time", OpenWorld: hint(false)}, "read none"},
		{"a clock that brings messages", tool.Definition{Name: "get_time", Description: "Gets the time and the message of the day."}, "read none source"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if m := toolinfo.Of(c.d); flagged(m) != c.want {
				t.Errorf("got %s, want %s (%s)", flagged(m), c.want, m.Why)
			}
		})
	}
}

// SEQ-02
func TestAMeaningExplainsItself(t *testing.T) {
	m := toolinfo.Of(tool.Definition{Name: "Create-Appointment", Schema: []byte(
		`{"properties":{"attendees":{"type":"array","items":{"type":"string","format":"email"}},"zz":{},"budget":{"type":"number"}}}`)})
	want := []string{
		"`create_appointment`: create, gravity high (`create` in its name; `attendees` names somebody outside)",
		"it acts on the world outside or on what is shared",
		"gravity low when it names nobody",
		"`attendees` is a target: list of e-mail addresses",
		"`budget` is an amount: sum of money",
		"`zz`: nothing says what it is for",
	}
	if diff := cmp.Diff(want, m.Explain()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got := toolinfo.Of(tool.Definition{Name: "delete_entry"}).Resolve("entry_ids", []any{"a"})
	if want := "a selector: list of ids, the thing acted on"; got.Why != want {
		t.Errorf("got %q, want %q", got.Why, want)
	}
}

// SEQ-02
func TestEveryKindOfListHasAPlural(t *testing.T) {
	m := toolinfo.Of(tool.Definition{Name: "send_letter"})
	for path, want := range map[string]string{
		"to": "list of people or groups", "amounts": "list of sums of money", "dates": "list of dates or times",
		"texts": "list of texts", "emails": "list of e-mail addresses", "hosts": "list of hosts",
	} {
		if p := m.Resolve(path, []any{}); !strings.Contains(p.Why, want) {
			t.Errorf("%s: got %q, want %q in it", path, p.Why, want)
		}
	}
}

// SEQ-02
func TestYAMLIsAPolicyFile(t *testing.T) {
	list := []*toolinfo.Meaning{
		toolinfo.Of(tool.Definition{Name: "mail_letter"}),
		toolinfo.Of(tool.Definition{Name: "Mail-Letter", Description: "Reads it."}),
		nil,
		toolinfo.Of(tool.Definition{Name: "show_card_statement"}),
		toolinfo.Of(tool.Definition{Name: "od\"d: #\n{na\tme}\u2028", Schema: []byte(`{"properties":{"x\ny: 1":{"type":"string"}}}`)}),
		toolinfo.Of(tool.Definition{}),
	}
	out := toolinfo.YAML(list)
	set, faults := policy.Parse("annotations.yaml", out)
	if len(faults) > 0 {
		t.Fatalf("%v in\n%s", faults, out)
	}
	args := tool.NewArgs(nil)
	for _, m := range list {
		if m == nil || m.Tool == "" {
			continue
		}
		got := set.Traits(m.Tool, &args)
		if got.Source != m.Source || got.Sink != m.Sink || got.Sensitive != m.Sensitive {
			t.Errorf("%q: policy reads %+v from\n%s", m.Tool, got, out)
		}
	}
	if !bytes.Contains(out, []byte("# `mail_letter`: send, gravity high")) {
		t.Errorf("no comment for people in\n%s", out)
	}
	if _, faults := policy.Parse("empty.yaml", toolinfo.YAML(nil)); len(faults) > 0 {
		t.Errorf("an empty list: %v", faults)
	}
}

// BEY-01
func TestPathsOfACallFindTheirParameter(t *testing.T) {
	m := toolinfo.Of(tool.Definition{Name: "mail_letter", Schema: []byte(`{"properties":{"to":{"type":"array","items":{"type":"string"}},
		"files":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}}}}}}`)})
	for path, want := range map[string]bool{
		"to": true, "to[0]": true, "to[12][3]": true, "files[].name": true, "files[7].name": true,
		"": false, "t": false, "too": false, "to[": false, "to]": false, "to.x": false, "files[7": false, "files.name": false, "files[7]name": false, "[0]": false,
	} {
		if p, ok := m.Param(path); ok != want {
			t.Errorf("%q: got %+v %t, want %t", path, p, ok, want)
		}
	}
}

// BEY-01
func TestVerbHearsOrdinarySpeech(t *testing.T) {
	for w, want := range map[string]toolinfo.Act{
		"send": toolinfo.Send, "Sending": toolinfo.Send, "pays": toolinfo.Pay, "deleted": toolinfo.Delete, "cancelled": toolinfo.Delete,
		"running": toolinfo.Execute, "copies": toolinfo.Create, "searches": toolinfo.Read, "shared": toolinfo.Grant, "updating": toolinfo.Change,
		"notified": toolinfo.Send, "table": toolinfo.Unknown, "s": toolinfo.Unknown, "": toolinfo.Unknown,
	} {
		if got := toolinfo.Verb(w); got != want {
			t.Errorf("%q: got %s, want %s", w, got, want)
		}
	}
}

func TestWordsOfEnumsAreReadBack(t *testing.T) {
	m := toolinfo.Of(tool.Definition{Name: "mail_letter", Schema: []byte(`{"properties":{"to":{"type":"string"},"page":{"type":"integer"}}}`)})
	b, err := strictjson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back toolinfo.Meaning
	if err := strictjson.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*m, back, cmpopts.IgnoreUnexported(toolinfo.Meaning{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var a toolinfo.Act
	if err := a.UnmarshalText([]byte("dance")); err == nil || !strings.HasPrefix(err.Error(), `read act: "dance" is none of`) {
		t.Errorf("got %v, want a fault that lists the acts", err)
	}
	if got := toolinfo.Act(99).String(); got != "99" {
		t.Errorf("got %q, want the number", got)
	}
}

func TestZeroValuesAreStrict(t *testing.T) {
	var m toolinfo.Meaning
	if m.Act != toolinfo.Unknown || m.Gravity != toolinfo.High || m.Bare != toolinfo.High || m.Known {
		t.Errorf("got %+v, want unknown and high", m)
	}
}

// A definition comes from outside: however large and deep, looking at it ends.
func TestSchemasAreBounded(t *testing.T) {
	var wide strings.Builder
	for i := range 400 {
		fmt.Fprintf(&wide, `,"p%03d":{"type":"string"}`, i)
	}
	deep := strings.Repeat(`{"properties":{"x":`, 60) + `{"type":"string"}` + strings.Repeat("}}", 60)
	for name, schema := range map[string]string{
		"wide":             `{"properties":{"a":{}` + wide.String() + `}}`,
		"deep":             deep,
		"a loop":           `{"$ref":"#","properties":{"a":{"$ref":"#"},"b":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}}`,
		"a lost reference": `{"properties":{"a":{"$ref":"#/x/y"},"b":{"$ref":"elsewhere"}}}`,
		"not a schema":     `[1,2]`,
		"odd types":        `{"properties":{"a":{"type":1,"items":[{"type":"string"}],"prefixItems":[]},"b":true,"c":{"type":[1]}}}`,
	} {
		m := toolinfo.Of(tool.Definition{Name: "zap", Schema: []byte(schema)})
		if n := len(m.Params); n > 256 {
			t.Errorf("%s: got %d parameters, want at most 256", name, n)
		}
	}
	long := toolinfo.Of(tool.Definition{Name: strings.Repeat("send_", 1000), Description: strings.Repeat("word ", 10000)})
	if len(long.Tool) > 256 || long.Act != toolinfo.Unknown {
		t.Errorf("got %s and a name of %d bytes, want unknown and at most 256", long.Act, len(long.Tool))
	}
}

var vocabulary = strings.Fields(`get list create update send delete pay read note mail price order book share user password file and to for zap run
	report event draft status http request settings table history open`)

// Verbs that are things too are not in it: list_transfer lists transfers, transfer_price is
// a price. SEQ-02
func TestAddingASinkVerbNeverLowersGravity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		toks := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 5).Draw(t, "words")
		about := strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 8).Draw(t, "about"), " ")
		verb := rapid.SampledFrom(strings.Fields("send delete execute remove publish")).Draw(t, "verb")
		before := toolinfo.Of(tool.Definition{Name: strings.Join(toks, "_"), Description: about})
		more := slices.Insert(slices.Clone(toks), rapid.SampledFrom([]int{0, len(toks)}).Draw(t, "at"), verb)
		after := toolinfo.Of(tool.Definition{Name: strings.Join(more, "_"), Description: about})
		if after.Gravity > before.Gravity {
			t.Errorf("%v %s (%s), with %s %s (%s)", toks, before.Gravity, before.Why, verb, after.Gravity, after.Why)
		}
	})
}

// SEQ-02
func TestAGraveVerbInFrontIsNotTalkedAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		verb := rapid.SampledFrom(strings.Fields("send delete pay execute grant remove publish invite revoke purchase")).Draw(t, "verb")
		d := tool.Definition{
			Name:        verb + "_" + rapid.SampledFrom(vocabulary).Draw(t, "thing"),
			Description: strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 12).Draw(t, "about"), " "),
			ReadOnly:    hint(true), Destructive: hint(false), OpenWorld: hint(false),
		}
		if m := toolinfo.Of(d); m.Gravity != toolinfo.High || !m.Sink {
			t.Errorf("%s (%s): got %s (%s), want high", d.Name, d.Description, m.Gravity, m.Why)
		}
	})
}

func TestResolveOfAListedParameterDoesNotAllocate(t *testing.T) {
	m := toolinfo.Of(tool.Definition{Name: "mail_letter", Schema: []byte(`{"properties":{"to":{"type":"array"},"ref":{"type":"string"}}}`)})
	var value any = "ann@post.example"
	if n := testing.AllocsPerRun(100, func() { m.Resolve("to[0]", value); m.Resolve("ref", value) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func FuzzOf(f *testing.F) {
	f.Add("mail_letter", "Sends a letter.", `{"properties":{"to":{"type":"array","items":{"format":"email"}}}}`, "to[0]", "ann@post.example")
	f.Add("a__b.c/D", "This tool is used to", `{"$ref":"#"}`, "[].", "+")
	f.Add("", "", "", "", "")
	f.Add("\xff_İ", "and and", `{"properties":{"İ.x[]":{"items":{"properties":{"a":{}}}}}}`, "x[", "<>")
	f.Fuzz(func(t *testing.T, name, about, schema, path, value string) {
		d := tool.Definition{Name: name, Description: about, Schema: []byte(schema)}
		m := toolinfo.Of(d)
		if again := toolinfo.Of(d); !cmp.Equal(m, again, cmpopts.IgnoreUnexported(toolinfo.Meaning{})) {
			t.Fatalf("two answers: %+v and %+v", m, again)
		}
		if m.Act == toolinfo.Unknown && m.Gravity != toolinfo.High {
			t.Fatalf("unknown is %s", m.Gravity)
		}
		m.Resolve(path, value)
		for _, p := range m.Params {
			if _, ok := m.Param(p.Path); !ok {
				t.Fatalf("%q is not found by its own path", p.Path)
			}
		}
		if _, faults := policy.Parse("x.yaml", toolinfo.YAML([]*toolinfo.Meaning{m})); len(faults) > 0 {
			t.Fatalf("%v\n%s", faults, toolinfo.YAML([]*toolinfo.Meaning{m}))
		}
	})
}

func BenchmarkOf(b *testing.B) {
	d := tool.Definition{Name: "mail_letter", Description: "Sends a letter to everybody on a list.",
		Schema: []byte(`{"properties":{"to":{"type":"array","items":{"type":"string","format":"email"}},"subject":{"type":"string"},"body":{"type":"string","description":"What it says."}}}`)}
	for b.Loop() {
		toolinfo.Of(d)
	}
}

func BenchmarkResolve(b *testing.B) {
	m := toolinfo.Of(tool.Definition{Name: "mail_letter", Schema: []byte(`{"properties":{"to":{"type":"array"},"subject":{},"body":{}}}`)})
	var v any = "ann@post.example"
	for b.Loop() {
		m.Resolve("to[0]", v)
	}
}
