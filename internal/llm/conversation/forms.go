package conversation

import (
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
)

// Clients do not send back what they got byte for byte: they trim, join, take line ends for
// others, drop the reasoning at the beginning, and put what they had begun themselves before it.

// answerDigest is what a text of a model's is known by, whatever its white space.
func answerDigest(text string) tool.Digest {
	return tool.DigestOf([]byte(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)))
}

// reasoned are the marks in which models write down their reasoning before the answer.
var reasoned = [][2]string{
	{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<thought>", "</thought>"}, {"<reasoning>", "</reasoning>"},
	{"[THINK]", "[/THINK]"},
}

// apart is a text without the reasoning at its beginning, and that reasoning. Some models do
// not open what they close.
func apart(text string) (answer, reasoning string) {
	text = trimmed(text)
	for _, m := range reasoned {
		if before, after, ok := strings.Cut(text, m[1]); ok {
			return trimmed(after), trimmed(strings.TrimPrefix(before, m[0]))
		}
	}
	return text, ""
}

// outputs are the texts of an answer in the forms in which they may come back: each, all in
// one, and both without the reasoning, after what the client itself had begun.
func outputs(parts []format.Part, begun string) []string {
	var out []string
	var all strings.Builder
	texts := 0
	add := func(text string) {
		if trimmed(text) != "" {
			out = append(out, text)
		}
	}
	for i := range parts {
		p := &parts[i]
		if p.Kind != format.Text && p.Kind != format.Thinking || trimmed(p.Text) == "" {
			continue
		}
		add(p.Text)
		if p.Kind == format.Text {
			texts++
			all.WriteString(p.Text)
		}
	}
	whole := all.String()
	if texts > 1 {
		add(whole)
	}
	if answer, reasoning := apart(whole); reasoning != "" {
		add(answer)
		add(reasoning)
	}
	if begun != "" && texts > 0 {
		add(begun + whole)
	}
	return out
}

func trimmed(s string) string { return strings.TrimSpace(s) }
