package warrant_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

// The words that the mandate is made of, each as the rule takes it. A source, a record, an author and what is free are
// types of the mandate's own and tried there.

// MAN-05
func TestATaskEndsWithTheNextMessage(t *testing.T) {
	for i := range tasks {
		e := &tasks[i]
		for _, next := range []string{"What is new?", "Thanks.", "Read the notice of today.", ""} {
			c := e.told("items")
			if e.look(c); !e.runs(c, e.good) {
				t.Fatalf("%s: it does not run", e.name)
			}
			c.User(next)
			c.Contract(&warrant.Contract{Mandate: &mandate.Mandate{}})
			if e.runs(c, e.good) {
				t.Errorf("%s: it runs after %q", e.name, next)
			}
		}
	}
}

// Who spoke decides whether words give anything: what the agent says, a stranger's turn and content give nothing.
//
// WAR-06
func TestOnlyTheOwnersWordsGiveATask(t *testing.T) {
	for i := range tasks {
		e := &tasks[i]
		for name, say := range map[string]func(c *warrant.Context){
			"the agent":  func(c *warrant.Context) { c.Answered(e.said) },
			"a stranger": func(c *warrant.Context) { c.Heard(e.said) },
			"a content":  func(c *warrant.Context) { c.Content(e.said) },
		} {
			c := argued(unrelated)
			say(c)
			if e.look(c); e.runs(c, e.good) {
				t.Errorf("%s: it runs because %s said so", e.name, name)
			}
		}
	}
}

// What is our own may be gone on with, and nothing goes there.
//
// MAN-04
func TestWhatIsOurOwnIsNobodyToWriteTo(t *testing.T) {
	m := mandate.Mandate{Items: []mandate.Item{
		{ID: "m1.1", Tool: "create_note", Quote: "Make a note", Args: byArg{"text": src(mandate.Write, "")}},
		{ID: "m1.2", Tool: "update_note", Quote: "then change it", Args: byArg{"note_id": src(mandate.Own, ""), "text": src(mandate.Write, "")}},
		{ID: "m1.3", Tool: "send_email", Quote: "then change it", Args: byArg{"to": src(mandate.Own, ""), "body": src(mandate.Write, "")}},
	}}
	c := argued("Make a note, then change it")
	c.Contract(&warrant.Contract{Mandate: &m})
	acted(c, "create_note", `{"text":"tides"}`, `{"note_id":"nt-881","email":"desk@quick.example"}`)
	if w := of(c, "update_note", `{"note_id":"nt-881","text":"more"}`); asked(w) {
		t.Errorf("what was made cannot be changed: %+v", w.Slots)
	}
	for _, to := range []string{"nt-881", "desk@quick.example"} {
		if w := of(c, "send_email", `{"to":`+quote(to)+`,"body":"tides"}`); !asked(w) {
			t.Errorf("%s is written to", to)
		}
	}
}

// Where the owner says how far some content is followed, no second reading of the words lets an act run: it sees neither the content nor
// how far the act goes.
//
// MAN-06
func TestALimitOfWhatIsFollowedIsAskedAbout(t *testing.T) {
	for limit, want := range map[string]bool{"": true, "up to 20": false, "as far as the moon": false} {
		m := mandate.Mandate{Follow: []string{"Tom's mail"}}
		if limit != "" {
			m.Limits = map[string]string{"Tom's mail": limit}
		}
		c := argued("Do what Tom's mail asks, up to 20, and a note saying Tides would be nice")
		c.Contract(&warrant.Contract{Mandate: &m})
		w := of(c, "create_note", `{"text":"Tides"}`)
		if got := w.Gate != nil; got != want || !asked(w) {
			t.Errorf("limit %q: a second reading may let it run: %v, want %v; asked %v", limit, got, want, asked(w))
		}
	}
}
