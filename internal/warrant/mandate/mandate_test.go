package mandate_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

// world is a conversation of plain facts.
type world struct{ said, own, told []string }

func (w world) Made(v string, aim bool) bool          { return !aim && slices.Contains(w.said, v) }
func (w world) Own(v string) bool                     { return slices.Contains(w.own, v) }
func (w world) Stands(string, func(uint64) bool) bool { return false }
func (w world) Told(v string) bool                    { return slices.Contains(w.told, v) }
func (w world) Blind(string, []string) string         { return "" }

func (w world) Stray(text string, _ []string) (part, why string) {
	for _, t := range w.told {
		if strings.Contains(text, t) {
			return t, "it holds what was read elsewhere"
		}
	}
	return "", ""
}

const mails = `[{"id":"m1","from":"Ilse Brandt <ilse@brandt.example>","subject":"Sawmill rota"},
	{"id":"m2","from":"Kes <kes@quick.example>","subject":"Hello"},{"id":"m3","from":"Ola <ola@fjord.example>","subject":"Boats"}]`

const contacts = `{"people":[{"name":"Petra Holm","email":"petra@holm.example"},{"name":"Petra Oak","email":"oak@evil.example"},{"name":"Tom","email":"tom@t.example"}]}`

func seen() *mandate.Records {
	r := mandate.NewRecords()
	r.Add(1, "list_mails", nil, []byte(mails), false, false)
	r.Add(2, "list_people", nil, []byte(contacts), false, false)
	return r
}

func source(how mandate.How, of string, what ...string) []mandate.Source {
	return []mandate.Source{{How: how, Of: of, What: what}}
}

func value(role mandate.Role, path, text string) mandate.Value {
	return mandate.Value{Path: path, Text: text, Role: role}
}

// MAN-01 MAN-04
func TestAnItemHoldsWhatItNamesAndNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		args  map[string][]mandate.Source
		value mandate.Value
		deed  string
		want  bool
	}{
		"what was said":                         {map[string][]mandate.Source{"to": source(mandate.Said, "", "tom@t.example")}, value(mandate.Aim, "to", "Tom@T.example"), "send", true},
		"something else":                        {map[string][]mandate.Source{"to": source(mandate.Said, "", "tom@t.example")}, value(mandate.Aim, "to", "kes@quick.example"), "send", false},
		"a part of what was said":               {map[string][]mandate.Source{"to": source(mandate.Said, "", "tom@t.example")}, value(mandate.Aim, "to", "t.example"), "send", false},
		"the record that the words single out":  {map[string][]mandate.Source{"id": source(mandate.From, "the mail of Ilse Brandt")}, value(mandate.Object, "id", "m1"), "delete", true},
		"its neighbour":                         {map[string][]mandate.Source{"id": source(mandate.From, "the mail of Ilse Brandt")}, value(mandate.Object, "id", "m2"), "delete", false},
		"a value that stands nowhere":           {map[string][]mandate.Source{"id": source(mandate.From, "the mail of Ilse Brandt")}, value(mandate.Object, "id", "m9"), "delete", false},
		"a person of the directory":             {map[string][]mandate.Source{"to": source(mandate.Person, "contacts", "Petra Holm")}, value(mandate.Aim, "to", "petra@holm.example"), "send", true},
		"another of that name":                  {map[string][]mandate.Source{"to": source(mandate.Person, "contacts", "Petra")}, value(mandate.Aim, "to", "oak@evil.example"), "send", false},
		"who only calls themselves so":          {map[string][]mandate.Source{"to": source(mandate.Person, "contacts", "Kes")}, value(mandate.Aim, "to", "kes@quick.example"), "send", false},
		"an aim that is to be written":          {map[string][]mandate.Source{"to": source(mandate.Write, "")}, value(mandate.Aim, "to", "tom@t.example"), "send", false},
		"an address of anybody's, as one's own": {map[string][]mandate.Source{"to": source(mandate.Own, "")}, value(mandate.Aim, "to", "tom@t.example"), "send", false},
		"a number nobody named, though it is 0": {nil, value(mandate.Measure, "days", "0"), "change", false},
		"an account that somebody wrote":        {map[string][]mandate.Source{"to": source(mandate.From, "the mail of Ilse Brandt")}, value(mandate.Aim, "to", "ilse@brandt.example"), "pay", false},
		"a slot that is not named":              {nil, value(mandate.Aim, "bcc", "kes@quick.example"), "send", false},
		"a switch that is off":                  {nil, mandate.Value{Path: "force", Text: "false", Role: mandate.Measure, Flag: true}, "send", true},
		"a switch that is on":                   {nil, mandate.Value{Path: "force", Text: "true", Role: mandate.Measure, Flag: true}, "send", false},
		"more than the most":                    {map[string][]mandate.Source{"amount": source(mandate.Most, "", "80")}, value(mandate.Measure, "amount", "90"), "pay", false},
		"less than the most":                    {map[string][]mandate.Source{"amount": source(mandate.Most, "", "80")}, value(mandate.Measure, "amount", "79.5"), "pay", true},
		"a number in words":                     {map[string][]mandate.Source{"count": source(mandate.Said, "", "two")}, value(mandate.Measure, "count", "2"), "pay", true},
		"ten times the sum":                     {map[string][]mandate.Source{"amount": source(mandate.Said, "", "320")}, value(mandate.Measure, "amount", "3200"), "pay", false},
		"the day of the week":                   {map[string][]mandate.Source{"date": source(mandate.Calc, "", "friday")}, value(mandate.Measure, "date", "2026-11-20"), "pay", true},
		"another day":                           {map[string][]mandate.Source{"date": source(mandate.Calc, "", "friday")}, value(mandate.Measure, "date", "2026-11-21"), "pay", false},
		"half past":                             {map[string][]mandate.Source{"time": source(mandate.Calc, "", "half seven ish")}, value(mandate.Measure, "time", "19:30"), "pay", true},
		"a text with a place to be filled in":   {map[string][]mandate.Source{"body": source(mandate.Write, "")}, value(mandate.Text, "body", "Hello {{card}}"), "send", false},
		"a text that holds what was read":       {map[string][]mandate.Source{"body": source(mandate.Write, "")}, value(mandate.Text, "body", "the blue pot"), "send", false},
		"another command":                       {map[string][]mandate.Source{"command": source(mandate.Command, "", "git push")}, value(mandate.Order, "command", "git push evil"), "execute", false},
	} {
		m := mandate.Mandate{Items: []mandate.Item{{ID: "m1.1", Tool: "act", Quote: "do it", Args: c.args}}}
		grave := c.deed == "pay" || c.deed == "delete" || c.deed == "execute"
		call := &mandate.Call{Tool: "act", Deed: c.deed, Grave: grave, Reaches: true, Values: []mandate.Value{c.value}}
		got := m.Cover(call, world{told: []string{"the blue pot"}}, seen())
		if got.Item == nil {
			t.Fatalf("%s: no item", name)
		}
		if held := len(got.Missing) == 0; held != c.want {
			t.Errorf("%s: held %v, missing %+v", name, held, got.Missing)
		}
	}
}

// MAN-02
func TestNothingIsHeldWithoutAnItem(t *testing.T) {
	m := mandate.Mandate{Items: []mandate.Item{{ID: "m1.1", Tool: "send_mail"}, {ID: "m1.2", Tool: "pay_bill", Step: true}}}
	for _, call := range []*mandate.Call{{Tool: "delete_mail", Deed: "delete", Grave: true}, {Tool: "pay_bill", Deed: "pay", Grave: true}} {
		if got := m.Cover(call, world{}, seen()); got.Item != nil {
			t.Errorf("%s is held by %s", call.Tool, got.Item.ID)
		}
	}
}

func TestABanHoldsWhateverTheItemsSay(t *testing.T) {
	m := mandate.Mandate{Never: []mandate.Ban{{Act: "pay"}, {Act: "delete", What: "Ilse Brandt"}}}
	for name, c := range map[string]struct {
		deed, value string
		want        bool
	}{
		"the act": {"pay", "x", true}, "another act": {"send", "x", false}, "the thing by its id": {"delete", "m1", true}, "another thing": {"delete", "m2", false},
	} {
		call := &mandate.Call{Tool: "x", Deed: c.deed, Values: []mandate.Value{value(mandate.Object, "id", c.value)}}
		if got := m.Forbids(call, seen()) != nil; got != c.want {
			t.Errorf("%s: forbidden %v", name, got)
		}
	}
}

var (
	roles  = rapid.SampledFrom([]mandate.Role{mandate.Order, mandate.Aim, mandate.Object, mandate.Key, mandate.Place, mandate.Measure, mandate.Text})
	ways   = rapid.SampledFrom([]mandate.How{mandate.Unknown, mandate.Said, mandate.Most, mandate.Person, mandate.From, mandate.Calc, mandate.Own, mandate.Write, mandate.Command})
	params = rapid.SampledFrom(strings.Fields("to id amount body path when flag"))
	texts  = rapid.SampledFrom([]string{"m1", "m2", "tom@t.example", "oak@evil.example", "petra@holm.example", "all", "me", "900", "true", "false", "", "2026-11-20", "the blue pot", "Ilse Brandt", "main"})
	spoken = rapid.SampledFrom([]string{"Ilse Brandt", "Petra Holm", "Petra", "the last mail", "contacts", "friday", "two", "tom@t.example", "900"})
)

func anItem(t *rapid.T) mandate.Item {
	it := mandate.Item{ID: "m1.1", Tool: "act", Quote: spoken.Draw(t, "quote"), Args: map[string][]mandate.Source{}}
	for range rapid.IntRange(0, 4).Draw(t, "args") {
		s := mandate.Source{How: ways.Draw(t, "how"), Of: spoken.Draw(t, "of"), What: []string{spoken.Draw(t, "what")}}
		p := params.Draw(t, "param")
		it.Args[p] = append(it.Args[p], s)
	}
	return it
}

func aCall(t *rapid.T) *mandate.Call {
	deed := rapid.SampledFrom([]string{"tidy", "create", "change", "send", "delete", "pay", "grant", "execute"}).Draw(t, "deed")
	c := &mandate.Call{Tool: "act", Deed: deed, Grave: slices.Contains([]string{"delete", "pay", "grant", "execute"}, deed), Reaches: true}
	for range rapid.IntRange(0, 4).Draw(t, "values") {
		c.Values = append(c.Values, value(roles.Draw(t, "role"), params.Draw(t, "param"), texts.Draw(t, "text")))
	}
	return c
}

// Adding an argument to a call that is asked about never makes it pass.
//
// MAN-03
func TestPropertyAnotherArgumentNeverCompletesACall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, call, r := mandate.Mandate{Items: []mandate.Item{anItem(t)}}, aCall(t), seen()
		before := m.Cover(call, world{}, r)
		call.Values = append(call.Values, value(roles.Draw(t, "role"), params.Draw(t, "param"), texts.Draw(t, "text")))
		if after := m.Cover(call, world{}, r); len(after.Missing) < len(before.Missing) {
			t.Fatalf("%+v was missing, now only %+v", before.Missing, after.Missing)
		}
	})
}

// What the agent did or said before is nowhere in the rule; what others wrote as free text only takes away.
//
// MAN-02
func TestPropertyATextNeverCompletesACall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, call, r := mandate.Mandate{Items: []mandate.Item{anItem(t)}}, aCall(t), seen()
		before := m.Cover(call, world{}, r)
		text := rapid.SliceOfN(rapid.OneOf(texts, spoken), 1, 8).Draw(t, "words")
		r.Add(3, "open_page", []string{"https://wood.example"}, []byte("A letter. "+strings.Join(text, " ")), true, false)
		if after := m.Cover(call, world{}, r); len(after.Missing) < len(before.Missing) {
			t.Fatalf("%+v was missing, now only %+v", before.Missing, after.Missing)
		}
	})
}

// A value is held whatever its spelling, and a list of any length is read.
func FuzzRecords(f *testing.F) {
	f.Add(mails, "m1", "Ilse")
	f.Add("ID: 7\nFrom: Ilse <i@b.example>\n\nID: 8\n", "7", "Ilse")
	f.Add("a, b | c\nd (e)", "d", "a")
	f.Fuzz(func(t *testing.T, content, v, words string) {
		for _, free := range []bool{false, true} {
			for _, list := range []bool{false, true} {
				r := mandate.NewRecords()
				r.Add(1, "x", []string{words, v}, []byte(content), free, list)
				r.Add(2, "x", []string{words}, []byte(content), free, list)
				r.Names(1, words)
				m := mandate.Mandate{Items: []mandate.Item{{Tool: "act", Args: map[string][]mandate.Source{"id": source(mandate.From, words, v)}}}}
				m.Cover(&mandate.Call{Tool: "act", Values: []mandate.Value{value(mandate.Object, "id", v)}}, world{}, r)
			}
		}
	})
}

// MAN-06
func TestWhatDoesNotStandInTheOwnersWordsIsLeftOut(t *testing.T) {
	m := &mandate.Mandate{
		Items: []mandate.Item{
			{Tool: "a", Quote: "mail  Petra the ROTA", Args: map[string][]mandate.Source{
				"to":   {{How: mandate.Person, What: []string{"Petra"}, Of: "contacts"}, {How: mandate.Said, What: []string{"kes@quick.example"}}},
				"body": {{How: mandate.Write, Of: "the rota"}}, "cc": {{How: mandate.From, Of: "Kes's list"}},
			}},
			{Tool: "b", Quote: "pay Kes"},
			{Tool: "c"},
		},
		Reads: []string{"the rota", "the ledger"}, Follow: []string{"Kes's mail"}, Never: []mandate.Ban{{Act: "pay"}, {Act: "send", What: "the ledger"}},
	}
	got := m.Within([]string{"Hello.", "Please mail Petra the rota, but pay nothing"})
	if len(got.Items) != 1 || got.Items[0].Tool != "a" {
		t.Fatalf("items %+v", got.Items)
	}
	args := got.Items[0].Args
	if len(args["to"]) != 1 || len(args["body"]) != 1 || len(args["cc"]) != 0 {
		t.Errorf("args %+v", args)
	}
	if !slices.Equal(got.Reads, []string{"the rota"}) || len(got.Follow) != 0 {
		t.Errorf("reads %q, follows %q", got.Reads, got.Follow)
	}
	if len(got.Never) != 2 || got.Never[1].What != "" {
		t.Errorf("a ban was lost or narrowed: %+v", got.Never)
	}
}
