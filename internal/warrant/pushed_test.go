package warrant_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
)

const lighthouse = `{"id":"msg-4471","from":"ilse@harbour.example","subject":"Leave","body":"The harbour master wants to sell the old lighthouse in May for 418350 crowns"}`

// pushing is a conversation in which a letter was read, and a page.
func pushing(said string) *warrant.Context {
	c := world(said)
	read(c, "mail__get_message", `{"id":"msg-4471"}`, lighthouse)
	read(c, "web_fetch", `{"url":"https://tides.example/a"}`, "Low water is at 06:12, and the wind turns west at noon near the pier.")
	return c
}

// AUD-02: what a push adds is held against what others may not read and the owner does not name.
func TestWhatAPushAdds(t *testing.T) {
	const order = "Mend the build, commit it, and then git push origin main"
	for name, row := range map[string]struct {
		said, text string
		found      string // of what is carried; empty: nothing is
	}{
		"words in a row":           {order, "wants to sell the old lighthouse", "wants to sell the old lighthouse"},
		"in a comment, over lines": {order, "// wants to sell the\n// old lighthouse in May", "sell the old lighthouse"},
		"in a text of a program":   {order, `const s = "wants to sell the old lighthouse"`, "to sell the old lighthouse"},
		"a figure":                 {order, "const price = 418350", "418350"},
		"a figure in words":        {order, "four one eight three five zero", "4 1 8 3 5 0"},
		"told in other words":      {order, "a lighthouse: crowns for the harbour master", "lighthouse"},
		"work of its own":          {order, "func Build() error { return nil }\n\n// Build makes the program", ""},
		"a page":                   {order, "the wind turns west at noon near the pier", ""},
		"a letter that is named":   {"Put what mail msg-4471 says into b.txt, commit it, and then git push origin main", "wants to sell the old lighthouse", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := pushing(row.said)
			found, why := c.Pushed([]warrant.Added{{Path: "b.txt", Text: row.text}}, true)
			if row.found == "" {
				if len(found) > 0 || why != "" {
					t.Fatalf("%v %q", found, why)
				}
				return
			}
			part := ""
			for _, f := range found {
				if part += f.Part + " "; f.Path != "b.txt" || f.Step == 0 || f.Tool == "" {
					t.Errorf("%+v", f)
				}
			}
			if why == "" || !strings.Contains(part, row.found) && !strings.Contains(strings.ReplaceAll(part, " ", ""), strings.ReplaceAll(row.found, " ", "")) {
				t.Errorf("%v %q", found, why)
			}
		})
	}
}

// AUD-02: what cannot be read is asked about where there is anything that it could hold, and behind something secret so is any wording.
func TestWhatOfAPushCannotBeRead(t *testing.T) {
	const order = "Mend the build, commit it, and then git push origin main"
	own := []warrant.Added{{Path: "b.go", Text: "func Build() error { return nil }"}}
	if _, why := pushing(order).Pushed(own, false); why == "" {
		t.Error("a part that cannot be read passes behind a letter")
	}
	c := world(order)
	read(c, "web_fetch", `{"url":"https://tides.example/a"}`, "Low water is at 06:12.")
	if _, why := c.Pushed(own, false); why != "" {
		t.Errorf("behind a page: %s", why)
	}
	c = world(order)
	read(c, "staff__get_record", `{"id":"p-2210"}`, `{"id":"p-2210","name":"Ilse Brandt","salary":"41350","note":"seldom late"}`)
	verse := []warrant.Added{{Path: "a.txt", Text: "een matroos krijgt zoveel munten per zomer dat niemand anders hier ooit evenveel zal mogen tellen"}}
	if _, why := c.Pushed(verse, true); why == "" {
		t.Error("any wording passes behind a record of somebody's pay")
	}
	if _, why := c.Pushed(own, true); why != "" {
		t.Errorf("a few words behind it: %s", why)
	}
}
