package keeper_test

import (
	"path/filepath"
	"strings"
	"testing"
)

const ordersAPush = "Look at the page, mend the build, commit it, and then git push origin main"

// letter has a session read a letter that nobody else may read.
func (l *live) letter(session string) {
	l.t.Helper()
	mail := map[string]any{"toolName": "mail__get_message", "params": map[string]any{"id": "msg-4471"}}
	l.hook(session, "before_tool_call", mail)
	mail["result"] = `{"id":"msg-4471","from":"ilse@harbour.example","subject":"Leave","body":"The harbour master wants to sell the old lighthouse in May for 418350 crowns"}`
	l.hook(session, "after_tool_call", mail)
}

// AUD-02: a push that the owner ordered is asked about where its commits hold what others may not read, whichever program put it there,
// and the question says what of which result.
func TestAnOrderedPushIsReadBeforeItLeaves(t *testing.T) {
	for name, script := range map[string]string{
		"a file":                        "echo 'wants to sell the old lighthouse in May' > b.txt; git add b.txt; git commit -qm 'mend the build'",
		"in a comment, over lines":      "printf '// wants to sell the\\n// old lighthouse in May\\n' > b.go; git add b.go; git commit -qm 'mend the build'",
		"a figure":                      "echo 'const price = 418350' > b.go; git add b.go; git commit -qm 'mend the build'",
		"a figure, spelled":             "echo 'four one eight three five zero' > b.txt; git add b.txt; git commit -qm 'mend the build'",
		"the message":                   "echo b > b.txt; git add b.txt; git commit -qm 'wants to sell the old lighthouse in May'",
		"an author":                     "echo b > b.txt; git add b.txt; git commit -qm 'mend the build' --author 'wants to sell the old lighthouse <a@b.example>'",
		"the name of a file":            "echo b > 'wants to sell the old lighthouse'; git add .; git commit -qm 'mend the build'",
		"taken away again":              "echo 'wants to sell the old lighthouse in May' > b.txt; git add b.txt; git commit -qm a; git rm -q b.txt; git commit -qm b",
		"told in other words":           "echo 'A lighthouse: for the harbour master, crowns' > b.txt; git add b.txt; git commit -qm 'mend the build'",
		"a line like those of a patch":  "printf -- '+++ b/x\\n@@ -0,0 +1 @@\\nwants to sell the old lighthouse in May\\n' > b.txt; git add b.txt; git commit -qm a",
		"what git calls binary":         "printf '*.txt -diff\\n' > .gitattributes; printf 'a\\0b' > b.bin; git add .; git commit -qm 'mend the build'",
		"a header that nobody looks at": "git commit -q --allow-empty -m a; c=$(git cat-file commit HEAD | sed '/^committer/a note wants to sell the old lighthouse' | git hash-object -t commit -w --stdin --literally); git update-ref refs/heads/main $c",
	} {
		t.Run(name, func(t *testing.T) {
			l, there := newOffice(t, "")
			before := l.git(there, "rev-parse", "main")
			l.spoken("s", ordersAPush)
			l.letter("s")
			if code, out := l.does("s", script)(); code != 0 {
				t.Fatal(out)
			}
			ended := l.runsPlain("s", "git push origin main")
			q := l.asked()
			if text := q["prompt"].(string); !strings.Contains(text, "others may not read") {
				t.Errorf("%q", text)
			}
			l.answers(`{"decision":"deny"}`)
			if code, out := ended(); code != 125 || l.git(there, "rev-parse", "main") != before {
				t.Errorf("%d %q", code, out)
			}
		})
	}
}

// AUD-02: it is none where nothing of that is in it, where everybody may read it, and where the owner names what goes.
func TestAnOrderedPushThatCarriesNothingIsNotAskedAbout(t *testing.T) {
	const quotes = "echo 'wants to sell the old lighthouse in May' > b.txt; git add b.txt; git commit -qm 'mend the build'"
	for name, c := range map[string]struct{ said, script string }{
		"work of its own":     {ordersAPush, "echo 'func Build() error { return nil }' > b.go; git add b.go; git commit -qm 'mend the build'"},
		"the letter is named": {"Put what the mail msg-4471 says into b.txt, commit it, and then git push origin main", quotes},
	} {
		t.Run(name, func(t *testing.T) {
			l, there := newOffice(t, "")
			l.spoken("s", c.said)
			l.letter("s")
			if code, out := l.does("s", c.script)(); code != 0 {
				t.Fatal(out)
			}
			code, out := l.runsPlain("s", "git push origin main")()
			if code != 0 || l.git(there, "rev-parse", "main") != l.git(l.ws, "rev-parse", "main") || strings.Contains(out, "a person was asked") {
				t.Errorf("%d %q", code, out)
			}
		})
	}
}

// AUD-02: the question of a push that nobody ordered says what it would carry too, part by part.
func TestTheQuestionOfAPushSaysWhatItCarries(t *testing.T) {
	l, _ := newOffice(t, "")
	l.spoken("s", "Look at the page and mend the build")
	l.letter("s")
	if code, out := l.does("s", "echo 'sold for 418350 in May' > b.txt; git add b.txt; git commit -qm 'mend the build'")(); code != 0 {
		t.Fatal(out)
	}
	ended := l.runsPlain("s", "git push origin main")
	q := l.asked()
	carries, _ := q["carries"].([]any)
	if len(carries) != 1 || carries[0].(map[string]any)["part"] != "418350" || carries[0].(map[string]any)["path"] != "b.txt" {
		t.Errorf("%v", q["carries"])
	}
	l.answers(`{"decision":"deny"}`)
	ended()
}

// AUD-02: files that the owner has carried to another computer are read too.
func TestWhatIsCarriedIsReadBeforeItLeaves(t *testing.T) {
	needs(t, "ssh", "scp")
	l := newLive(t, "")
	l.spoken("s", "Send the notes there: scp notes.txt deploy@web.acme.example:/srv/notes.txt")
	l.letter("s")
	l.put(filepath.Join(l.ws, "notes.txt"), "wants to sell the old lighthouse in May\n")
	ended := l.runsPlain("s", "scp notes.txt deploy@web.acme.example:/srv/notes.txt")
	if text := l.asked()["prompt"].(string); !strings.Contains(text, "others may not read") {
		t.Errorf("%q", text)
	}
	l.answers(`{"decision":"deny"}`)
	if code, out := ended(); code != 125 {
		t.Errorf("%d %q", code, out)
	}
	l.put(filepath.Join(l.ws, "notes.txt"), "the tide is low\n")
	if code, out := l.runsPlain("s", "scp notes.txt deploy@web.acme.example:/srv/notes.txt")(); code == 125 || strings.Contains(out, "a person was asked") {
		t.Errorf("what it may carry: %d %q", code, out)
	}
}
