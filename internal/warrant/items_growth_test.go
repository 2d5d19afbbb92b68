package warrant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/tool"
)

// heavy is a call that an item is for, in a world of n of something.
type heavy struct {
	mandate mandate.Mandate
	said    string
	results [][3]string
	args    string
}

// letter is an item for a letter to somebody, with words of n parts.
func letter(words string) mandate.Mandate {
	return anItemOf("send_email", "Mail Petra Holm "+words, byArg{"to": src(mandate.Person, "contacts", "Petra Holm"), "body": src(mandate.Write, "")})
}

const toPetra = `{"to":"petra@holm.example","body":"The slipway is free."}`

// erased is an item for something that is erased, which the words call so.
func erased(of string) mandate.Mandate {
	return anItemOf("erase_letter", "Erase "+of, byArg{"letter_id": src(mandate.From, of)})
}

// growing are the kinds of what may be large: arguments, words and results.
var growing = map[string]func(n int) heavy{
	"words of a text": func(n int) heavy {
		return heavy{letter("x"), "Mail Petra Holm x", nil, `{"to":"petra@holm.example","body":` + quote(strings.Repeat("word ", n)) + `}`}
	},
	"values": func(n int) heavy {
		return heavy{letter("x"), "Mail Petra Holm x", nil, `{"to":["petra@holm.example"` + numbered(min(n, 900), `,"p#@x.example"`) + `]}`}
	},
	"the same value": func(n int) heavy {
		return heavy{letter("x"), "Mail Petra Holm x", nil, `{"to":["petra@holm.example"` + strings.Repeat(`,"petra@holm.example"`, min(n, 900)) + `]}`}
	},
	"words of the owner": func(n int) heavy {
		words := numbered(n, "word# ")
		return heavy{letter(words), "Mail Petra Holm " + words, nil, toPetra}
	},
	"results": func(n int) heavy {
		h := heavy{letter("x"), "Mail Petra Holm x", nil, toPetra}
		for i := range n / 10 {
			h.results = append(h.results, [3]string{"list_boats", fmt.Sprintf(`{"page":%d}`, i), `[{"boat":"Heron","berth":4}]`})
		}
		return h
	},
	"records": func(n int) heavy {
		return heavy{letter("x"), "Mail Petra Holm x", [][3]string{{"list_boats", `{}`, `[{"boat":"Heron"}` + numbered(n, `,{"boat":"Boat #","berth":#}`) + `]`}}, toPetra}
	},
	"records of that name": func(n int) heavy {
		return heavy{letter("x"), "Mail Petra Holm x",
			[][3]string{{"list_contacts", `{"page":2}`, `[{"name":"x"}` + numbered(n, `,{"name":"Petra Holm","email":"p#@x.example"}`) + `]`}}, toPetra}
	},
	"records of that value": func(n int) heavy {
		return heavy{erased("the letter of Tor"), "Erase the letter of Tor",
			[][3]string{{"list_letters", `{}`, `[{"title":"x"}` + numbered(n, `,{"letter_id":"a","title":"Title #"}`) + `]`}}, `{"letter_id":"a"}`}
	},
	"records of that value and name": func(n int) heavy {
		return heavy{erased("the letter of Tor"), "Erase the letter of Tor",
			[][3]string{{"list_letters", `{}`, `[{"letter_id":"b"}` + numbered(n, `,{"letter_id":"a","writer":"Tor #"}`) + `]`}}, `{"letter_id":"a"}`}
	},
	"the last of many": func(n int) heavy {
		return heavy{erased("the last letter"), "Erase the last letter",
			[][3]string{{"list_letters", `{}`, `[{"letter_id":"b"}` + numbered(n, `,{"letter_id":"a","title":"Title #"}`) + `]`}}, `{"letter_id":"a"}`}
	},
	"the last of many, of many tools": func(n int) heavy {
		h := heavy{erased("the last letter"), "Erase the last letter", nil, `{"letter_id":"a"}`}
		for i := range n / 10 {
			h.results = append(h.results, [3]string{fmt.Sprintf("list_letters_%d", i), `{}`, numbered(1, `[{"letter_id":"a","title":"T","k1":1,"k2":2,"k3":3,"k4":4}]`)})
		}
		return h
	},
	"fields": func(n int) heavy {
		return heavy{letter("x"), "Mail Petra Holm x", [][3]string{{"get_boat", `{}`, `{"boat":"Heron"` + numbered(n, `,"k#":"v#"`) + `}`}}, toPetra}
	},
	"objects in objects": func(n int) heavy {
		return heavy{letter("x"), "Mail Petra Holm x", [][3]string{{"get_boat", `{}`, strings.Repeat(`{"a":`, n/10) + "1" + strings.Repeat("}", n/10)}}, toPetra}
	},
	"lines of a list": func(n int) heavy {
		return heavy{letter("x"), "Mail Petra Holm x", [][3]string{{"list_boats", `{}`, numbered(n, "Boat # | berth #\n")}}, toPetra}
	},
	"a page": func(n int) heavy {
		return heavy{letter("x"), "Mail Petra Holm x", [][3]string{{"open_page", `{"url":"https://wood.example"}`, strings.Repeat("word ", n)}}, toPetra}
	},
}

// bounded are kinds that take more than they grow by: the budget ends them, and what is not judged is held.
var bounded = map[string]string{
	"records of that value":           "each record of the value is held against every other record (lonely)",
	"records of that value and name":  "each record of the value is held against each that is called so (singledAt)",
	"the last of many, of many tools": "each record of the value is held against every other record (firstEver), and their fields one by one (kin)",
}

func (h *heavy) work() (took int, w *warrant.Warrant) {
	c := argued(h.said)
	c.Contract(&warrant.Contract{Mandate: &h.mandate})
	read(c, "list_contacts", `{}`, `[{"name":"Petra Holm","email":"petra@holm.example"},{"name":"Ola","email":"ola@fjord.example"}]`)
	for _, r := range h.results {
		read(c, r[0], r[1], r[2])
	}
	name := h.mandate.Items[0].Tool
	a := tool.NewArgs([]byte(h.args))
	w = c.Of(name, &a)
	return c.Took(), w
}

// No argument, word or result makes a decision cost more than it grows by: what is four times as large takes at most
// about four times the steps, or it is held as too large to judge. Steps are counted and not timed.
func TestTheRuleTakesNoMoreThanWhatItIsHeldAgainst(t *testing.T) {
	const few, factor, most, slack = 120, 4, 6, 4000
	for name, of := range growing {
		t.Run(name, func(t *testing.T) {
			small, large := of(few), of(factor*few)
			less, _ := small.work()
			more, w := large.work()
			budget := 1<<20 + 256*(factor*few+10) + 64*len(large.args)
			if more > 2*budget {
				t.Errorf("%d steps, and the budget is %d", more, budget)
			}
			linear := more <= most*less+slack
			switch why, known := bounded[name]; {
			case !linear && !known:
				t.Errorf("%d steps, and %d for %d times as much", less, more, factor)
			case linear && known:
				t.Errorf("%d steps, and %d for %d times as much: it is linear by now, take it off the list (%s)", less, more, factor, why)
			case !linear && more > budget && (w.Deed != warrant.Unknown || !w.Danger):
				t.Errorf("%d steps were too many, and it is judged as %s: %+v", more, w.Deed, w.Slots)
			}
		})
	}
}

// A decision that takes more than its budget is held, also where an item would hold it, and the next has its own.
func TestMoreThanCanBeJudgedIsHeld(t *testing.T) {
	h := growing["records of that value and name"](4000)
	took, w := h.work()
	if w.Deed != warrant.Unknown || !w.Danger || !strings.Contains(fmt.Sprint(w.Slots), "too large to be judged") {
		t.Errorf("after %d steps it is %s: %+v", took, w.Deed, w.Slots)
	}
}
