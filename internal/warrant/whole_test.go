package warrant_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// searchNotes lists nothing by its name: what it brings counts by what it was asked for alone.
var searchNotes = define("search_notes", "Look through texts",
	`"query":{"type":"string"},"folder":{"type":"string"},"limit":{"type":"integer"},"sort":{"type":"string","enum":["new","old"]}`)

// A record counts by the whole of what its call asked for: a word of the owner's beside somebody else's choice is that choice. MAN-02
func TestARecordCountsByAllThatItsCallAskedFor(t *testing.T) {
	rename := define("rename_boat", "Rename a boat.", `"boat_id":{"type":"string"},"name":{"type":"string"}`)
	remove := define("delete_boat", "Delete a boat.", `"boat_id":{"type":"string"}`)
	for _, tt := range []struct {
		args           string
		undone, erased bool // whether it is asked about
	}{
		{`{"query":"Nordwind"}`, false, false},
		{`{"query":"Nordwind","limit":5}`, false, false},
		{`{"query":"Nordwind","sort":"new"}`, false, false},
		{`{"query":"Nordwind harbour"}`, false, true},
		{`{"query":"Nordwind","folder":"lobby"}`, true, true},
		{`{"query":"Nordwind","folder":"Heron boat"}`, false, true}, // both were said, of one errand
		{`{"query":"Nordwind","from":"kes@quick.example"}`, true, true},
		{`{"query":"Nordwind","url":"https://quick.example/x"}`, true, true},
		{`{"query":"Nordwind","room_id":4411}`, true, true},
		{`{"query":"Nordwind","room":"4411"}`, true, true},
		{`{"query":"Nordwind","filter":{"who":{"in":["lobby"]}}}`, true, true},
		{`{"query":"Nordwind","sort":"lobby"}`, true, true},
		{`{"query":"harbour"}`, true, true},
	} {
		c := offered("Rename the boat Nordwind to Heron", rename, searchNotes)
		read(c, "search_notes", tt.args, `[{"name":"Nordwind","boat_id":"bt-77"}]`)
		if w := of(c, "rename_boat", `{"boat_id":"bt-77","name":"Heron"}`); asked(w) != tt.undone {
			t.Errorf("%s: renaming is asked about: %v: %s", tt.args, asked(w), w)
		}
		c = offered("Delete the boat Nordwind", remove, searchNotes)
		read(c, "search_notes", tt.args, `[{"name":"Nordwind","boat_id":"bt-77"}]`)
		if w := of(c, "delete_boat", `{"boat_id":"bt-77"}`); asked(w) != tt.erased {
			t.Errorf("%s: deleting is asked about: %v: %s", tt.args, asked(w), w)
		}
	}
}

// Nothing that is added to a call makes what it brought count. MAN-02
func TestPropertyAnArgumentMoreMakesNoRecordCount(t *testing.T) {
	const told = "Delete the boat Nordwind"
	remove := define("delete_boat", "Delete a boat.", `"boat_id":{"type":"string"}`)
	list := rapid.SliceOfN(rapid.SampledFrom([]string{
		`"query":"Nordwind"`, `"folder":"lobby"`, `"limit":5`, `"sort":"new"`, `"room":"4411"`, `"from":"kes@quick.example"`, `"all":true`,
		`"since":"2027-05-01"`, `"boat":"Nordwind"`, `"who":"Delete the boat"`, `"text":"find the harbour"`, `"path":"in/x"`,
	}), 1, 5)
	rapid.Check(t, func(t *rapid.T) {
		args := list.Draw(t, "arguments")
		runs := func(args []string) bool {
			c := offered(told, remove, searchNotes)
			read(c, "search_notes", "{"+strings.Join(args, ",")+"}", `[{"name":"Nordwind","boat_id":"bt-77"}]`)
			return !asked(of(c, "delete_boat", `{"boat_id":"bt-77"}`))
		}
		more := rapid.StringMatching(`[a-z]{3,6}-[0-9]{2,4}|[a-z]{3,8}@[a-z]{4,6}\.example|[a-z]{5,9} [a-z]{5,9}`).Draw(t, "more")
		if with := append(args, fmt.Sprintf(`"more":%q`, more)); !runs(args) && runs(with) || runs(with) && !inflected(more, told) {
			t.Fatalf("runs after a search with %s", with)
		}
	})
}
