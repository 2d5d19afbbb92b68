package warrant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant"
)

// The laws of what may go to whom, for what a push adds.

// pushAsked reports whether a push with these lines is asked about where some papers were read.
func pushAsked(read_ []paper, text string) bool {
	c := world("Mend the gauge, commit it, and then git push origin main")
	for _, p := range read_ {
		read(c, p.tool, p.args, p.content)
	}
	_, why := c.Pushed([]warrant.Added{{Path: "gauge.go", Text: text}}, true)
	return why != ""
}

func drawPapers(t *rapid.T) []paper {
	var out []paper
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(papers)-1), 1, len(papers), rapid.ID[int]).Draw(t, "read") {
		out = append(out, papers[i])
	}
	return out
}

// drawLines is what a program's file gets, with something of what was read or without.
func drawLines(t *rapid.T) string {
	text, _ := drawBody(t)
	return "package gauge\n\n// " + text + "\nfunc Read() int { return 0 }"
}

// AUD-02
func TestLawOneSourceLessLetsEveryPushPassThatPassed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		had, text := drawPapers(t), drawLines(t)
		if pushAsked(had, text) {
			return
		}
		for i := range had {
			if pushAsked(slices.Delete(slices.Clone(had), i, i+1), text) {
				t.Fatalf("%q passes with %v and is asked about without %d", text, had, i)
			}
		}
	})
}

// AUD-02
func TestLawOnePrivateSourceMoreLetsNoPushPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		had := drawPapers(t)
		text, quotes := drawBody(t)
		if !pushAsked(had, text) {
			return
		}
		id := rapid.StringMatching(`[a-z]{3,8}`).Draw(t, "id")
		more := paper{"get_email", fmt.Sprintf(`{"id":%q}`, id), fmt.Sprintf(`{"id":%q,"from":"eve@quay.example","body":%q}`, id, strings.Join(quotes, " "))}
		if !pushAsked(append(slices.Clone(had), more), text) {
			t.Fatalf("%q is asked about with %v and passes with %v besides", text, had, more)
		}
	})
}

// AUD-02
func TestLawAnEditThatKeepsAQuotationKeepsTheQuestionOfAPush(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom(plainWords), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		had, q := drawPapers(t), rapid.SampledFrom(quotations).Draw(t, "quotation")
		if !pushAsked(had, q) {
			return
		}
		mark := rapid.SampledFrom([]string{"// ", "# ", " * ", "-- ", ""}).Draw(t, "mark")
		body := strings.Join(words.Draw(t, "before"), " ") + "\n" + mark + q + "\n" + strings.Join(words.Draw(t, "behind"), " ")
		if rapid.Bool().Draw(t, "over lines") && strings.Count(q, " ") > 4 {
			half := strings.SplitAfterN(q, " ", 4)
			body = strings.Replace(body, q, strings.Join(half[:3], "")+"\n"+mark+half[3], 1)
		}
		if !pushAsked(had, body) {
			t.Fatalf("%q is asked about after %v, and %q passes", q, had, body)
		}
	})
}
