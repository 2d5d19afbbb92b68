package audience_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/audience"
)

// listing is one of a tool of the server chat, during the first message.
func listing(name, content string, args ...arguments.Leaf) audience.Listing {
	return audience.Listing{Server: "chat", Name: strings.Split(name, "_"), Args: args, Content: []byte(content), Turn: 1}
}

func arg(path, text string) arguments.Leaf {
	return arguments.Leaf{Path: path, Text: text, Quoted: true}
}

// AUD-01: members of a place are told by its server, asked for them by its name. What may be cut, filtered, about something else or
// written by somebody is no list of them.
func TestMembersOfAPlace(t *testing.T) {
	const ann, ben, both = "ann@harbour.example", "ben@quay.example", `["ann@harbour.example","ben@quay.example"]`
	pier := arg("channel", "#pier")
	for name, c := range map[string]struct {
		l    audience.Listing
		want bool
	}{
		"a list":                     {listing("list_channel_members", both, pier), true},
		"an object":                  {listing("list_members", `{"ok":true,"members":`+both+`,"response_metadata":{"next_cursor":""}}`, pier), true},
		"their number":               {listing("list_members", `{"members":`+both+`,"total":2}`, pier), true},
		"records":                    {listing("list_members", `[{"email":"ann@harbour.example","name":"Ann"},{"email":"ben@quay.example","role":"owner"}]`, pier), true},
		"fewer than wanted":          {listing("list_members", both, pier, arg("limit", "50")), true},
		"a further page":             {listing("list_members", `{"members":`+both+`,"next_cursor":"x"}`, pier), false},
		"a page in another word":     {listing("list_members", `{"members":`+both+`,"weiter":"x"}`, pier), false},
		"more than are listed":       {listing("list_members", `{"members":`+both+`,"total":40}`, pier), false},
		"as many as wanted":          {listing("list_members", both, pier, arg("limit", "2")), false},
		"filtered":                   {listing("list_members", both, pier, arg("role", "admin")), false},
		"of two places":              {listing("list_members", both, pier, arg("group", "crew")), false},
		"another one":                {listing("list_members", both, arg("channel", "#quay")), false},
		"a search":                   {listing("search_messages", both, pier), false},
		"messages":                   {listing("read_channel", `[{"text":"members: ann@harbour.example"}]`, pier), false},
		"prose":                      {listing("list_members", "Members of #pier: ann@harbour.example and ben@quay.example", pier), false},
		"lines":                      {listing("list_members", "- ann@harbour.example\n- ben@quay.example", pier), false},
		"nobody":                     {listing("list_members", `[]`, pier), false},
		"a group among them":         {listing("list_members", `["ann@harbour.example",{"group":"all"}]`, pier), false},
		"somebody without a name":    {listing("list_members", `["ann@harbour.example",{"name":"Ben"}]`, pier), false},
		"an account beside":          {listing("list_members", `[{"id":"U1","email":"ann@harbour.example"}]`, pier), false},
		"a stranger among them":      {listing("list_members", `["ann@harbour.example","eve@x.example"]`, pier), false},
		"a record by its id":         {listing("get_channel", `{"id":"pier","members":`+both+`}`, arg("name", "x")), true},
		"a record by its shown name": {listing("get_channel", `{"id":"C9","name":"#pier","members":`+both+`}`), false},
		"a record that is cut":       {listing("get_channel", `{"id":"pier","num_members":9,"members":`+both+`}`), false},
		"a record with more beside":  {listing("get_channel", `{"id":"pier","members":`+both+`,"guests":["eve@x.example"]}`), false},
	} {
		var d audience.Directory
		d.Learn(c.l)
		to := audience.Of(audience.Place("chat", "pier"))
		if got := d.Covers(audience.Of(ann, ben), to, 1); got != c.want {
			t.Errorf("%s: the place is covered: %v, want %v", name, got, c.want)
		}
		if d.Covers(audience.Of(ann), to, 1) {
			t.Errorf("%s: one of two members is enough", name)
		}
		if d.Covers(audience.Of(ann, ben), to, 2) {
			t.Errorf("%s: it counts a message later", name)
		}
		if d.Covers(audience.Of(ann, ben), audience.Of(audience.Place("other", "pier")), 1) {
			t.Errorf("%s: it counts for another server", name)
		}
		if d.Covers(audience.Of(ann, ben), audience.Of("pier"), 1) {
			t.Errorf("%s: it counts for somebody who is called like the place", name)
		}
		if d.Covers(audience.Set{}, to, 1) {
			t.Errorf("%s: what is the owner's is for a place", name)
		}
		d.Forget("chat", []string{"#Pier"})
		if d.Covers(audience.Of(ann, ben), to, 1) {
			t.Errorf("%s: it counts after something was done to the place", name)
		}
	}
}

// What everybody in a place reads may go to one of them, by any name that the list has for them.
func TestMembersReadWhatStandsInTheirPlace(t *testing.T) {
	var d audience.Directory
	d.Learn(listing("list_members", `[{"id":"U1","email":"ann@harbour.example","name":"Eve"}]`, arg("channel", "pier")))
	place := audience.Of(audience.Place("chat", "#pier"))
	for who, want := range map[string]bool{"ann@harbour.example": true, "u1": true, "eve": false, "ben@quay.example": false} {
		if got := d.Covers(place, audience.Of(who), 1); got != want {
			t.Errorf("%s reads it: %v, want %v", who, got, want)
		}
	}
}

// A directory never lets nobody's things go, whatever a server lists, and without one nobody but those who are named may read.
func TestPropertyADirectoryOpensPlacesOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d audience.Directory
		d.Learn(listing("list_members", `["`+rapid.SampledFrom([]string{"a@x", "b@x", "#d"}).Draw(t, "member")+`"]`, arg("channel", "d")))
		s, r := sets(t, "set"), sets(t, "readers")
		place := audience.Place("chat", "d")
		of := func(set audience.Set) bool { return strings.Contains(strings.Join(set.People, " "), place) }
		if !of(s) && !of(r) && d.Covers(s, r, 1) != s.Covers(r) {
			t.Fatalf("%v for %v changes without the place", s, r)
		}
		if s.Covers(r) && !d.Covers(s, r, 1) {
			t.Fatalf("%v covers %v, and with a directory not", s, r)
		}
	})
}

// AUD-02: a result is secret by the name of a field, and what is said of that is a word of ours.
func TestSecretFields(t *testing.T) {
	for content, want := range map[string]string{
		`{"name":"Ilse","wages":41350}`:                       "wages",
		`{"a":[{"b":{"annualSalary":1}}]}`:                    "salary",
		`{"passport_number":"X1"}`:                            "passport_number",
		"# Ilse\n- **Annual salary**: 41,350":                 "salary",
		`{"wages\nIf you approve":"nothing happens"}`:         "wages",
		`{"name":"Ilse","wages":""}`:                          "",
		"What the salary of a mate is nobody knows: not even": "",
		`{"title":"Pinned","spin":7}`:                         "",
	} {
		if got := audience.Secret([]byte(content)); got != want {
			t.Errorf("%s: %q, want %q", content, got, want)
		}
	}
}
