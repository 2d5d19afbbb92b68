package warrant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant"
)

// The laws of what may go to whom, over the shipped preset, with whom a call is for said by the owner and everything else as it is:
//
//   - one source less never turns a text that passes into a question;
//   - one private source more, which the owner's words do not name, never turns a question into a pass;
//   - an edit that keeps what is quoted keeps the question.

// paper is something that was read.
type paper struct{ tool, args, content string }

// papers are what sources are drawn from: files of the owner's, letters of others, pages.
var papers = []paper{
	{"read_file", `{"path":"crew/ilse.md"}`, "Ilse Brandt, mate\nWages: 41,350 a year\nLocker code 8264\nShe asked for leave because of her back in May"},
	{"read_file", `{"path":"yard/offer.md"}`, "The yard wants 18,900 for the new keel and gives us until the end of June to decide"},
	{"get_email", `{"id":"m7"}`, `{"id":"m7","from":"ann@harbour.example","subject":"Berth","body":"My boat is LK-7731, and the fee was 615.40 in spring."}`},
	{"get_email", `{"id":"m8"}`, `{"id":"m8","from":"eve@quay.example","to":["me@home.example"],"subject":"Fees","body":"From today all fees are paid to the new office at pier nine"}`},
	{"open_page", `{"url":"https://tides.example/a"}`, "Low water is at 06:12, the gauge shows 7345 mm and the wind turns west at noon."},
}

// quotations are what a text may hold of them, and plain what it holds besides.
var (
	quotations = []string{
		"41,350", "8264", "asked for leave because of her back", "18,900", "The yard wants 18,900 for the new keel", "LK-7731", "615.40",
		"From today all fees are paid to the new office", "7345", "the wind turns west at noon", "eight two six four", "8 2 6 4",
	}
	plainWords = []string{"the", "pier", "is", "open", "again", "today", "and", "so", "berth", "12", "yours", "thanks"}
	noteWords  = []string{"ropes", "paint", "varnish", "buckets", "lamp", "later", "maybe"} // the orders name nothing by these
	orders     = []string{
		"Write ann@harbour.example that the pier is open and she has berth 12.",
		"Tell ann@harbour.example which berth she has. It is berth 12.",
		"Answer ann@harbour.example about the mail m7: berth 12.",
		`Send ann@harbour.example a mail with the body "The pier is open again."`,
	}
)

// spelledOut are figures of the first paper in other forms.
var spelledOut = map[string]bool{"eight two six four": true, "8 2 6 4": true}

// deskOf is a conversation in which some papers were read.
func deskOf(said string, read_ []int) *warrant.Context {
	c := argued(said)
	for _, i := range read_ {
		read(c, papers[i].tool, papers[i].args, papers[i].content)
	}
	return c
}

// letterAsked reports whether a letter to whom the owner named is asked about.
func letterAsked(said string, read_ []int, body string) (bool, string) {
	w := of(deskOf(said, read_), "mail_letter", `{"recipient":"ann@harbour.example","body":`+quote(body)+`}`)
	return asked(w), fmt.Sprintf("%+v", w.Slots)
}

func drawDesk(t *rapid.T) (said string, read_ []int) {
	all := []int{0, 1, 2, 3, 4}
	return rapid.SampledFrom(orders).Draw(t, "said"), rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, 5, rapid.ID[int]).Draw(t, "read")
}

// drawBody is a text with some words of nobody's and perhaps something of what was read.
func drawBody(t *rapid.T) (body string, quotes []string) {
	words := rapid.SliceOfN(rapid.SampledFrom(plainWords), 0, 6)
	quotes = rapid.SliceOfN(rapid.SampledFrom(quotations), 0, 2).Draw(t, "quotes")
	parts := words.Draw(t, "before")
	for _, q := range quotes {
		parts = append(append(parts, q), words.Draw(t, "behind")...)
	}
	return strings.Join(parts, " "), quotes
}

// AUD-02
func TestLawOneSourceLessAsksNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said, read_ := drawDesk(t)
		body, _ := drawBody(t)
		if was, _ := letterAsked(said, read_, body); was {
			return
		}
		for i := range read_ {
			less := slices.Delete(slices.Clone(read_), i, i+1)
			if now, why := letterAsked(said, less, body); now {
				t.Fatalf("%q after %q passes with %v and is asked about without %d: %s", body, said, read_, read_[i], why)
			}
		}
	})
}

// AUD-02
func TestLawOnePrivateSourceMoreLetsNothingPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said, read_ := drawDesk(t)
		body, quotes := drawBody(t)
		if was, _ := letterAsked(said, read_, body); !was {
			return
		}
		more := paper{"read_file", fmt.Sprintf(`{"path":"own/%s.md"}`, rapid.StringMatching(`[a-z]{3,8}`).Draw(t, "name")),
			"Note of mine: " + strings.Join(append(quotes, rapid.SliceOfN(rapid.SampledFrom(noteWords), 0, 8).Draw(t, "note")...), " ")}
		c := deskOf(said, read_)
		read(c, more.tool, more.args, more.content)
		if w := of(c, "mail_letter", `{"recipient":"ann@harbour.example","body":`+quote(body)+`}`); !asked(w) {
			t.Fatalf("%q after %q is asked about with %v and passes with %q besides", body, said, read_, more.content)
		}
	})
}

// AUD-02
func TestLawAnEditThatKeepsAQuotationKeepsTheQuestion(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom(plainWords), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		said, read_ := drawDesk(t)
		q := rapid.SampledFrom(quotations).Draw(t, "quotation")
		stands := func(i int) bool { return strings.Contains(papers[i].content, q) || i == 0 && spelledOut[q] }
		const told = "The pier is open again. It is berth 12."
		without, _ := letterAsked(said, read_, told)
		if with, _ := letterAsked(said, read_, told+" "+q); without || !with || !slices.ContainsFunc(read_, stands) {
			return // it is asked about for another reason, or not at all
		}
		body := strings.Join(slices.Concat(words.Draw(t, "before"), []string{q}, words.Draw(t, "behind")), " ")
		if rapid.Bool().Draw(t, "lines") {
			body = strings.Join(words.Draw(t, "first"), " ") + "\n\n" + body + "\n" + strings.Join(words.Draw(t, "last"), " ")
		}
		if now, why := letterAsked(said, read_, body); !now {
			t.Fatalf("%q is asked about after %q and %v, and %q passes: %s", q, said, read_, body, why)
		}
	})
}
