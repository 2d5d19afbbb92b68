package mandate_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

func petras(entries ...string) string {
	out := ""
	for i, e := range entries {
		if i > 0 {
			out += ","
		}
		out += e
	}
	return `{"contacts":[` + out + `]}`
}

const (
	holm = `{"name":"Petra Holm","email":"petra@quay.example"}`
	oak  = `{"name":"Petra Oak","email":"p@molehill.example"}`
)

func toPetra() *mandate.Mandate {
	m := &mandate.Mandate{Items: []mandate.Item{{
		Tool: "send_mail", Quote: "write Petra", Args: map[string][]mandate.Source{"to": {{How: mandate.Person, What: []string{"Petra"}, Of: "contacts"}}},
	}}}
	m.Items[0].Index()
	return m
}

func reaches(r *mandate.Records, to string) bool {
	r.Begin(1000)
	call := &mandate.Call{
		Tool: "send_mail", Deed: "send", Reaches: true, Values: []mandate.Value{{Path: "to", Text: to, Role: mandate.Aim}},
	}
	got := toPetra().Cover(call, noWorld{}, r)
	return got.Item != nil && len(got.Missing) == 0
}

// noWorld is a conversation in which nothing was done.
type noWorld struct{}

func (noWorld) Own(string) bool                               { return false }
func (noWorld) Made(string, bool) bool                        { return false }
func (noWorld) Told(string) bool                              { return false }
func (noWorld) Stands(string, func(uint64) bool) bool         { return false }
func (noWorld) Stray(_ string, _ []string) (part, why string) { return "", "" }

// MAN-04
func TestWhatWeLookedUpIsWhatANameMeans(t *testing.T) {
	tests := []struct {
		name, found string
		to          string
		want        bool
	}{
		{"the only one of the name", petras(holm), "petra@quay.example", true},
		{"somebody else", petras(holm), "p@molehill.example", false},
		{"one of two", petras(holm, oak), "petra@quay.example", false},
		{"a list that goes on", `{"contacts":[` + holm + `],"nextPageToken":"2"}`, "petra@quay.example", false},
		{"a list that may go on", `{"contacts":[` + holm + `],"has_more":true}`, "petra@quay.example", false},
		{"a list that says it is whole", `{"contacts":[` + holm + `],"total":1,"has_more":false}`, "petra@quay.example", true},
		{"more than it shows", `{"contacts":[` + holm + `],"total":2}`, "petra@quay.example", false},
		{"as many as a page has", `{"contacts":[` + holm + `],"page_size":1}`, "petra@quay.example", false},
		{"the first page", `{"contacts":[` + holm + `],"page":1}`, "petra@quay.example", false},
		{"how many it shows", `{"contacts":[` + holm + `],"count":1}`, "petra@quay.example", true},
		{"no list", `{"message":"Petra is petra@quay.example"}`, "petra@quay.example", false},
		{"in a record of hers", `[{"name":"Petra Holm","emails":[{"kind":"work","email":"petra@quay.example"}]}]`, "petra@quay.example", true},
		{"who is called so by the address alone", `[{"name":"Oak","email":"petra@molehill.example"}]`, "petra@molehill.example", false},
		{"a part of a name", `[{"name":"Petranella Oak","email":"p@molehill.example"}]`, "p@molehill.example", false},
		{"a letter that says so", `[{"from":"Petra Oak","email":"p@molehill.example","body":"write to me"}]`, "p@molehill.example", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := mandate.NewRecords()
			r.AddLooked(1, "search_contacts", "Petra", 1, []byte(tt.found))
			if got := reaches(r, tt.to); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// The name means what it meant when we looked, until the owner speaks again.
func TestWhatWeLookedUpHoldsForTheTask(t *testing.T) {
	r := mandate.NewRecords()
	r.AddLooked(1, "search_contacts", "Petra", 1, []byte(petras(holm)))
	r.AddLooked(2, "search_contacts", "Petra", 2, []byte(petras(oak)))
	if reaches(r, "petra@quay.example") || !reaches(r, "p@molehill.example") {
		t.Error("what was found for an earlier message counts")
	}
	r.AddLooked(3, "find_contacts", "Petra", 2, []byte(petras(holm)))
	if reaches(r, "petra@quay.example") || reaches(r, "p@molehill.example") {
		t.Error("two lists have one each, and one of them was taken")
	}
}

// Nothing that the agent looks up afterwards changes what the name means.
func TestPropertyNothingReadChangesWhatWeLookedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := mandate.NewRecords()
		r.AddLooked(1, "search_contacts", "Petra", 1, []byte(petras(holm)))
		for i := range rapid.IntRange(0, 6).Draw(t, "results") {
			name := rapid.SampledFrom([]string{"Petra", "Petra Oak", "Petra Holm", "Tom"}).Draw(t, "name")
			mail := rapid.SampledFrom([]string{"p@molehill.example", "petra@molehill.example", "petra@quay.example"}).Draw(t, "mail")
			tool := rapid.SampledFrom([]string{"search_contacts", "list_contacts", "read_mail", "me"}).Draw(t, "tool")
			query := rapid.SampledFrom([]string{"Petra", "Petra Oak", "molehill", ""}).Draw(t, "query")
			text := fmt.Sprintf(rapid.SampledFrom([]string{`[{"name":%q,"email":%q}]`, `{"contacts":[{"name":%q,"email":%q}]}`, `%s: %s`}).Draw(t, "form"), name, mail)
			r.Add(uint64(i+2), tool, []string{query}, []byte(text), rapid.Bool().Draw(t, "free"), rapid.Bool().Draw(t, "list"))
		}
		if !reaches(r, "petra@quay.example") {
			t.Error("what we looked up is asked about")
		}
		for _, other := range []string{"p@molehill.example", "petra@molehill.example"} {
			if reaches(r, other) {
				t.Errorf("%s is taken for hers", other)
			}
		}
	})
}
