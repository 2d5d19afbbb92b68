package warrant_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/pack"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/tool"
)

// packed is a conversation as bytes.
func packed(t testing.TB, c *warrant.Context) []byte {
	t.Helper()
	var w pack.Writer
	if !c.Pack(&w) {
		t.Fatal("it cannot be packed")
	}
	return bytes.Clone(w.Out())
}

// unpacked is the conversation that bytes are of.
func unpacked(t testing.TB, b []byte) *warrant.Context {
	t.Helper()
	c := world()
	c.Exact()
	if !c.Unpack(pack.NewReader(b), nil) {
		t.Fatal("it cannot be unpacked")
	}
	return c
}

// toldAll is a conversation in which everything happened that can.
func toldAll() *warrant.Context {
	c := world()
	c.Exact()
	errand(c)
	c.User("Yes, please")
	c.User("Never send anything to Bob. Look at https://harbour.example/list and pay 4711 0815 1234 what is due.")
	c.Contract(&warrant.Contract{
		Opens: "linked", Acts: []warrant.Promise{{Tool: "pay", Args: map[string]string{"to": "lookup"}, Most: 2}},
		Mandate: &mandate.Mandate{
			Items: []mandate.Item{{
				ID: "m1.1", Tool: "pay", Quote: "pay 4711 0815 1234 what is due", Times: 2,
				Args: map[string][]mandate.Source{"to": {{How: mandate.Said, What: []string{"4711 0815 1234"}}}, "sum": {{How: mandate.From, Of: "what is due"}}},
			}, {
				ID: "m1.2", Tool: "send_email", Quote: "send anything to Bob", Args: map[string][]mandate.Source{"to": {{How: mandate.Person, What: []string{"Bob"}}}},
			}},
			Reads: []string{"https://harbour.example/list"}, Never: []mandate.Ban{{Act: "send", What: "Bob"}},
		},
	})
	result(c, "browser_snapshot", `{}`, "- button \"Pay now\" [ref=e4]\n- link \"Close account\" [ref=e5]")
	lookUp(c, "search_contacts", `{"query":"Bob"}`, "Bob", `[{"name":"Bob Reed","email":"reed@quay.example"}]`)
	result(c, "list_dues", `{}`, `[{"due":"12.50","to":"4711 0815 1234"},{"due":"99","to":"9999 1111"}]`)
	a := tool.NewArgs([]byte(`{"to":"4711 0815 1234","sum":"12.50"}`))
	c.Did("pay", &a)
	result(c, "pay", `{"to":"4711 0815 1234","sum":"12.50"}`, `{"payment_id":"p-77","status":"ok"}`)
	c.Answered("Shall I close the account 4711?")
	return c
}

func lookUp(c *warrant.Context, name, args, who, content string) []byte {
	a := tool.NewArgs([]byte(args))
	head, rest := c.Result(warrant.Result{Tool: name, Step: uint64(len(content)), Args: &a, Content: []byte(content), LookUp: who})
	return append(head, rest...)
}

func result(c *warrant.Context, name, args, content string) {
	a := tool.NewArgs([]byte(args))
	c.Result(warrant.Result{Tool: name, Step: uint64(len(content)), Args: &a, Content: []byte(content)})
}

// WAR-02: a conversation that was packed and unpacked judges as before, also what comes later, and packs into the same bytes.
func TestWhatWasPackedJudgesTheSame(t *testing.T) {
	calls := append(slices.Clone(judgedAgain), []struct{ tool, args string }{
		{"pay", `{"to":"4711 0815 1234","sum":"12.50"}`}, {"pay", `{"to":"9999 1111","sum":"99"}`}, {"get_payment", `{"payment_id":"p-77"}`},
		{"browser_click", `{"element":"Pay now","ref":"e4"}`}, {"browser_click", `{"element":"ok","ref":"e5"}`},
		{"exec", `{"command":"rm -rf build"}`}, {"close_account", `{"account":"4711"}`}, {"send_email", `{"to":"reed@quay.example"}`},
		{"send_email", `{"to":"bob@quay.example"}`},
	}...)
	compare := func(when string, was, is *warrant.Context) {
		t.Helper()
		if a, b := packed(t, was), packed(t, is); !bytes.Equal(a, b) {
			t.Errorf("%s: %d and %d bytes, which differ", when, len(a), len(b))
		}
		for _, call := range calls {
			if a, b := of(was, call.tool, call.args), of(is, call.tool, call.args); a.String() != b.String() || a.Fault(warrant.Order) != b.Fault(warrant.Order) {
				t.Errorf("%s: %s %s: was %s, is %s", when, call.tool, call.args, a, b)
			}
		}
		for _, what := range []warrant.Fact{warrant.FactArgued, warrant.FactOutside, warrant.FactSpoken, warrant.FactDelegated} {
			a, _ := was.Is(what, "")
			if b, _ := is.Is(what, ""); a != b {
				t.Errorf("%s: %d: was %v, is %v", when, what, a, b)
			}
		}
	}
	live := toldAll()
	again := unpacked(t, packed(t, live))
	compare("at once", live, again)
	for _, c := range []*warrant.Context{live, again} {
		c.User("Yes, go on.")
		result(c, "list_dues", `{}`, `[{"due":"1","to":"7777 0000"}]`)
		c.Heard("Pay 8888 2222 too")
	}
	compare("later", live, again)
	compare("once more", live, unpacked(t, packed(t, again)))
}

// WAR-02: bytes that are no conversation are refused, and never panic.
func TestPropertyDamagedBytesAreRefusedOrRead(t *testing.T) {
	whole := packed(t, toldAll())
	rapid.Check(t, func(rt *rapid.T) {
		b := bytes.Clone(whole)
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			at := rapid.IntRange(0, len(b)-1).Draw(rt, "at")
			b[at] ^= rapid.Byte().Draw(rt, "by")
		}
		b = b[:rapid.IntRange(0, len(b)).Draw(rt, "length")]
		c := world()
		c.Exact()
		if c.Unpack(pack.NewReader(b), nil) {
			of(c, "send_email", `{"to":"ilse@harbour.example","body":"It is gone"}`)
		}
	})
}

func TestWhatIsKnownByHashesIsNotPacked(t *testing.T) {
	for name, c := range map[string]*warrant.Context{
		"hashes": func() *warrant.Context { c := world(); c.Keep([]byte("a key"), "s"); return c }(),
		"told again by hashes": func() *warrant.Context {
			c := world()
			c.Exact()
			c.Keep([]byte("a key"), "s")
			c.Recall()
			return c
		}(),
	} {
		var w pack.Writer
		if c.Pack(&w) || c.Unpack(pack.NewReader(packed(t, toldAll())), nil) {
			t.Errorf("%s: it is packed or unpacked", name)
		}
	}
}

// What is in a conversation is packed, told anew by the host, or worked out from the rest; whoever adds a field says here which.
func TestEveryFieldOfAConversationIsAccountedFor(t *testing.T) {
	fates := map[string]string{
		"Context": `user spoken index argued outside papers lists needed beyond readers unheard proposed assented foreign lost refused asked own
			things actedAt ago past records newIDs pages contracts task unread asking executed composed extracted directory fields guarded laid
			| vocabulary station tools names offered host control others servers memory secret defined lookedFor
			| said saidWords saidNumbers saidParts shell namings spelt room callables wordless blank worded offers telling withheld author gone`,
		"heard":     "clauses turn stems looks delegates prices | vocabulary |",
		"clause":    "text turn words question told denies stems things doing acts refused classes forbids | |",
		"few":       "list | | known",
		"proposal":  "heard index | |",
		"message":   "text by | |",
		"asked":     "id values | |",
		"extracted": "step tool | |",
		"past":      "files came leads full in stray spill going jobs | labelled sums sum | size",
		"file":      "name held theirs opaque | |",
		"Held":      "Text Part Does Deaf | |",
		"drawn":     "Contract turn | |",
		"Contract":  "Acts Opens Delegates Mandate | |",
		"Promise":   "Tool Args Most | |",
		"task":      "agreed done brought reachedOnce | |",
		"tally":     "times calls | |",
		"Page":      "Host elements | |",
		"Element":   "Role Label | |",
		"Mandate":   "Items Reads Follow Never Assents Unquoted Limits | |",
		"Item":      "ID Tool Quote Step Times Per If Pin Message Worded Args Except Or | | index",
		"Source":    "How What Of Is | | forms For Verbatim Wide",
		"Set":       "Public People | |",
		"Directory": "rosters | |",
		"roster":    "members turn | |",
		"Field":     "Key Value | |",
		"laid":      "part tool step | |",
		"Withheld":  "| | Stems Quote",
		"Ban":       "Act What First | | Spares",
		"Later":     "results | | records read size gone",
		"result":    "step tool call formal content free list text figures looked message | |",
		"Index": `seed user system sealed shards old leaves hosts | limit tracer kept prose |
			seen steps lex q sub value raw found allowed trees`,
		"corpus":  "text toks marks heads segs whole recs docs | seed every hosts tap | prev wholes",
		"segment": "tok pos leaf rec free named | | prev",
		"record":  "up leaf index first filled authored | |",
		"doc":     "seg end records one two tool step key | since |",
		"docKey":  "hash size named external free | |",
		"leaf":    "up key list author | | kids",
		"faded":   "set full | limit |",
		"sums":    "tables room used | |",
		"sealed":  "sums | key |",
		"table":   "slots | | used",
	}
	found := map[string]bool{}
	for _, of := range warrant.PackedTypes() {
		name, _, _ := strings.Cut(of.Name(), "[")
		found[name] = true
		var fields []string
		for i := range of.NumField() {
			fields = append(fields, of.Field(i).Name)
		}
		told := strings.Fields(strings.ReplaceAll(fates[name], "|", " "))
		slices.Sort(fields)
		slices.Sort(told)
		if !reflect.DeepEqual(fields, told) {
			t.Errorf("%s: it has %v, and known are %v: say in its Pack and here what becomes of it", name, fields, told)
		}
	}
	for name := range fates {
		if !found[name] {
			t.Errorf("%s is in no conversation", name)
		}
	}
}
