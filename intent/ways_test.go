package intent_test

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/intent"
)

//go:embed testdata/ways.txt
var waysFile string

// ways are two hundred ways to speak as instructions.
func ways(t *testing.T) []string {
	t.Helper()
	var texts, carriers []string
	for line := range strings.Lines(waysFile) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rest, carrier := strings.CutPrefix(line, "carrier ")
		text, err := strconv.Unquote(rest)
		switch {
		case err != nil:
			t.Fatalf("%s: %v", line, err)
		case carrier:
			carriers = append(carriers, text)
		default:
			texts = append(texts, text)
		}
	}
	var out []string
	for _, c := range carriers {
		for _, text := range texts {
			out = append(out, strings.ReplaceAll(c, "%s", text))
		}
	}
	return out
}

// This is about escaping alone: whatever words, names and descriptions say, the request has the same lines, and they stand in their
// quotes on one of them. Whether a model heeds what stands there nobody can test without one; what it could gain by it is in
// TestAnAnswerNeverNamesMoreThanWasOffered and FuzzParseContract.
//
// MAN-06 MAN-12
func TestTwoHundredWaysToSpeakAsInstructionsChangeNoStructure(t *testing.T) {
	all := ways(t)
	if len(all) < 200 {
		t.Fatalf("%d ways", len(all))
	}
	made := func(text, name string) (contract, act string) {
		r := intent.Request{
			Words: []intent.Word{{Turn: 1, Text: text}, {Turn: 2, Text: text}},
			Tools: []intent.Signature{
				{Name: name, Description: text, Params: []intent.Parameter{{Name: name, Type: text}, {Name: name + "2", Type: "string"}}},
			},
		}
		system, contract := r.Prompt()
		q := intent.ActQuestion{Words: r.Words, Tool: name, Slots: []intent.ActSlot{{Arg: name, From: intent.SaidByYou}}}
		first, act := q.Prompt()
		if wanted, _ := (&intent.Request{}).Prompt(); system != wanted || strings.Contains(first, text) {
			t.Fatalf("%q stands in the instructions", text)
		}
		return contract, act
	}
	contract, act := made("plain", "plain")
	for _, text := range all {
		c, a := made(text, text)
		for got, want := range map[string]string{c: contract, a: act} {
			if diff := cmp.Diff(skeleton(want), uncut(skeleton(got))); diff != "" {
				t.Errorf("%q changes the frame (-want +got):\n%s", text, diff)
			}
			for line := range strings.Lines(got) {
				line = strings.TrimSuffix(line, "\n")
				if !frame.MatchString(line) || strings.ContainsFunc(line, unicode.IsControl) {
					t.Errorf("%q: a line left its frame: %q", text, line)
				}
			}
		}
	}
}

// uncut leaves out the marks of what was cut, which stand between quotes: only the frame can put them there.
func uncut(lines []string) []string {
	mark := regexp.MustCompile(`""…\(\+\d+ chars\)…""`)
	for i, l := range lines {
		lines[i] = mark.ReplaceAllString(l, `""`)
	}
	return lines
}

// MAN-12: tools stand before the words, so that what comes with every message is the beginning of every prompt.
func TestToolsStandBeforeWords(t *testing.T) {
	tools := []intent.Signature{{Name: "send_mail", Params: []intent.Parameter{{Name: "to"}}}}
	_, one := (&intent.Request{Words: []intent.Word{{Turn: 1, Text: "Mail Ann"}}, Tools: tools}).Prompt()
	_, two := (&intent.Request{Words: []intent.Word{{Turn: 1, Text: "Mail Ann"}, {Turn: 2, Text: "no, Bob"}}, Tools: tools}).Prompt()
	at := strings.Index(one, "send_mail")
	if at < 0 || at > strings.Index(one, "Mail Ann") || one[:strings.Index(one, "Mail Ann")] != two[:strings.Index(two, "Mail Ann")] {
		t.Errorf("got\n%s", one)
	}
}
