package lookup_test

import (
	"encoding/json"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/lookup"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

func offered(name, schema string, more ...func(*tool.Definition)) lookup.Tool {
	d := &tool.Definition{Name: name, Schema: []byte(schema)}
	for _, m := range more {
		m(d)
	}
	return lookup.Tool{Definition: d, Meaning: toolinfo.Of(*d)}
}

const byQuery = `{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`

// What is looked up is chosen by the owner's words and by what a tool is known to be: it reads, it is of the server of the act, it needs
// nothing but the name, and it keeps such a list.
//
// MAN-04
func TestWhatIsLookedUp(t *testing.T) {
	person := mandate.Source{How: mandate.Person, What: []string{"Petra"}, Of: "contacts"}
	channel := mandate.Source{How: mandate.Thing, What: []string{"crew"}}
	no := false
	tests := []struct {
		name string
		arg  string
		from mandate.Source
		tool lookup.Tool
		want string
	}{
		{"a search for people", "to", person, offered("m__search_contacts", byQuery), `{"query":"Petra"}`},
		{"a whole list of them", "to", person, offered("m__list_contacts", `{"type":"object","properties":{}}`), `{}`},
		{"a roster, whole", "to", person, offered("m__list_users", `{"type":"object","properties":{}}`), `{}`},
		{"a search among users, who may be anybody", "to", person, offered("m__search_users", byQuery), ""},
		{"a list of what the parameter takes", "channel_id", channel, offered("m__list_channels", `{"type":"object","properties":{}}`), `{}`},
		{"a list of something else", "channel_id", channel, offered("m__list_documents", `{"type":"object","properties":{}}`), ""},
		{"another server", "to", person, offered("evil__search_contacts", byQuery), ""},
		{"it does more than look", "to", person, offered("m__add_contacts", byQuery), ""},
		{"its server says that it does more", "to", person, offered("m__search_contacts", byQuery, func(d *tool.Definition) { d.ReadOnly = &no }), ""},
		{"it needs something else", "to", person, offered("m__search_contacts",
			`{"type":"object","properties":{"query":{"type":"string"},"token":{"type":"string"}},"required":["query","token"]}`), ""},
		{"nobody says what it takes", "to", person, offered("m__search_contacts", ""), ""},
		{"nobody is named", "to", mandate.Source{How: mandate.From, Of: "Petra's mail"}, offered("m__search_contacts", byQuery), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &mandate.Mandate{Items: []mandate.Item{{Tool: "m__send_mail", Args: map[string][]mandate.Source{tt.arg: {tt.from}}}}}
			got := ""
			for _, l := range lookup.Wanted(m, []lookup.Tool{tt.tool}) {
				got += string(l.Args)
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestANameIsLookedUpOnceAndAsItWasSaid(t *testing.T) {
	from := []mandate.Source{{How: mandate.Person, What: []string{`Petra "x"`, "Tom"}}}
	m := &mandate.Mandate{Items: []mandate.Item{
		{Tool: "m__send_mail", Args: map[string][]mandate.Source{"to": from, "cc": from}}, {Tool: "m__invite", Args: map[string][]mandate.Source{"to": from}},
	}}
	list := lookup.Wanted(m, []lookup.Tool{offered("m__search_contacts", byQuery)})
	if len(list) != 2 {
		t.Fatalf("got %d look-ups, want one for each name", len(list))
	}
	var args map[string]string
	if err := json.Unmarshal(list[0].Args, &args); err != nil || args["query"] != `Petra "x"` {
		t.Errorf("got %s, %v", list[0].Args, err)
	}
	if many := lookup.Wanted(m, []lookup.Tool{
		offered("m__search_contacts", byQuery), offered("m__find_contacts", byQuery), offered("m__query_contacts", byQuery),
	}); len(many) != 0 {
		t.Errorf("of three lists some were chosen: %v", many)
	}
}
