package keeper_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/box/keeper"
)

const layered = "box:\n  layer: home\n"

// keeps is a session in which somebody else has spoken, with a home that is a layer.
func keeps(t *testing.T) *live {
	t.Helper()
	l := newLive(t, layered)
	for name, text := range map[string]string{".bashrc": "# mine\n", ".vimrc": "\" mine\n", "notes/a.txt": "a\n"} {
		l.put(filepath.Join(l.home, name), text)
	}
	l.spoken("s", "Look at the page and mend the build")
	return l
}

func (l *live) ends(session string) {
	l.t.Helper()
	if _, err := entry.Ask(l.data, entry.Request{Do: entry.End, Session: session}); err != nil {
		l.t.Fatal(err)
	}
}

// holds waits until a file of the home has a text; empty: it must not be there.
func (l *live) holds(name, want string) {
	l.t.Helper()
	var text []byte
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if text, _ = os.ReadFile(filepath.Join(l.home, name)); string(text) == want {
			return
		}
	}
	l.t.Errorf("%s: got %q, want %q", name, text, want)
}

// ran has a line run to its end.
func (l *live) ran(line string) string {
	l.t.Helper()
	code, out := l.does("s", line)()
	if code != 0 {
		l.t.Fatalf("%d %s", code, out)
	}
	return out
}

// argsOf is what a question shows of what is wanted.
func argsOf(q map[string]any) string { return fmt.Sprint(q) }

// BOX-02
func TestChangesOfTheHomeAreOneQuestion(t *testing.T) {
	l := keeps(t)
	out := l.ran("echo 'alias ll=ls' >> ~/.bashrc; echo registry=x > ~/.npmrc; mkdir -p ~/notes; echo b >> ~/notes/a.txt; echo c > /dev/null")
	if !strings.Contains(out, "a person is asked whether to keep ~/.bashrc, ~/.npmrc, ~/notes/a.txt") {
		t.Errorf("%q", out)
	}
	q := l.asked()
	for _, part := range []string{
		"3 files", "~/.bashrc (a shell runs it when it starts)", "~/.npmrc (settings that say from where packages come", "~/notes/a.txt", "Keep them?",
	} {
		if !strings.Contains(q["prompt"].(string), part) {
			t.Errorf("%q is not in %q", part, q["prompt"])
		}
	}
	if !strings.Contains(argsOf(q), "~/.bashrc: + alias ll=ls") || strings.Contains(argsOf(q), "+ # mine") {
		t.Errorf("it does not show what is new: %v", q)
	}
	l.holds(".bashrc", "# mine\n")
	l.ran("true") // nothing new: the question stays
	if again := l.asked(); again["id"] != q["id"] {
		t.Error("it was asked again")
	}
	l.answers(`{"decision":"approve"}`)
	l.holds(".bashrc", "# mine\nalias ll=ls\n")
	l.holds(".npmrc", "registry=x\n")
	l.holds("notes/a.txt", "a\nb\n")
	if out := l.ran("cat ~/.bashrc"); !strings.Contains(out, "~/.bashrc (a shell runs it when it starts) is kept") || len(l.questions()) != 0 {
		t.Errorf("%q %v", out, l.questions())
	}
	// what is changed again is another change
	l.ran("echo more >> ~/.bashrc")
	l.answers(`{"decision":"approve"}`)
	l.holds(".bashrc", "# mine\nalias ll=ls\nmore\n")
	until(t, "settled", func() bool { return len(l.questions()) == 0 })
	l.ends("s")
	if left := keeper.AsideIn(l.data); len(left) != 0 {
		t.Errorf("%+v", left)
	}
}

// A no leaves the home as it is, throws the changes away, and is not worn down by more of the same.
func TestANoToChangesOfTheHomeStands(t *testing.T) {
	l := keeps(t)
	l.ran("echo evil >> ~/.bashrc; echo x > ~/.npmrc")
	l.answers(`{"decision":"deny"}`)
	until(t, "the no is told", func() bool { return strings.Contains(l.ran("true"), "~/.npmrc") })
	l.ran("echo evil2 >> ~/.bashrc")
	if n := len(l.questions()); n != 0 {
		t.Errorf("%d questions after a no", n)
	}
	l.holds(".bashrc", "# mine\n")
	l.ends("s")
	left := keeper.AsideIn(l.data)
	if len(left) != 1 || filepath.Base(left[0].Path) != ".bashrc" || exists(filepath.Join(l.home, ".npmrc")) {
		t.Errorf("%+v", left) // only what nobody has seen yet
	}
	if n := len(l.questions()); n != 0 {
		t.Errorf("%d questions at the end", n)
	}
}

// What runs stands before everything else, by name and with what it is, however much is beside it; and a yes is for what is named.
func TestNothingHidesAmongManyFiles(t *testing.T) {
	l := keeps(t)
	l.ran(`for i in $(seq 100 300); do mkdir -p ~/'!data'; echo $i > ~/'!data'/c$i.json; done; head -c 1000000 /dev/zero > ~/'!a'; cp ~/'!a' ~/'!b'
for i in $(seq 40); do cp ~/'!a' ~/'!data/'big$i; done
echo evil >> ~/.bashrc; echo evil > ~/.profile; mkdir -p ~/bin ~/work/.git/hooks; printf '#!/bin/sh\nevil\n' > ~/bin/git; echo evil > ~/work/.git/hooks/pre-commit
printf 'evil\n' > ~/run.me; chmod +x ~/run.me`)
	q := l.asked()
	says := q["prompt"].(string)
	last := 0
	for _, name := range []string{
		"~/.bashrc (a shell runs it when it starts)", "~/.profile (a shell runs it when it starts)", "~/bin/git (a program that is run by its name)",
		"~/run.me (a program)", "~/work/.git/hooks/pre-commit (it would run elsewhere or later)", "!data",
	} {
		at := strings.Index(says, name)
		if at < last {
			t.Errorf("%q stands at %d in %q", name, at, says)
		}
		last = max(at, last)
	}
	if !strings.Contains(says, "12 files") || !strings.Contains(says, "more are not among them") {
		t.Errorf("%q", says)
	}
	l.answers(`{"decision":"approve"}`)
	l.holds(".profile", "evil\n")
	kept, _ := filepath.Glob(filepath.Join(l.home, "!data", "*"))
	if len(kept) > 12 {
		t.Errorf("%d files were kept that the question does not name", len(kept))
	}
}

// What was shown is what is kept: a file that is another by the time of the answer is not.
func TestWhatChangesAfterTheQuestionIsNotKept(t *testing.T) {
	l := keeps(t)
	l.ran("echo fine >> ~/.bashrc; echo fine > ~/.npmrc; setsid bash -c 'sleep 1; echo evil >> ~/.bashrc' >/dev/null 2>&1 & sleep 0.1")
	if q := l.asked(); strings.Contains(argsOf(q), "evil") {
		t.Fatal("it came too early")
	}
	until(t, "it changes again", func() bool {
		list, _ := filepath.Glob(filepath.Join(l.data, "boxes/*/layer/*/up/.bashrc"))
		return slices.ContainsFunc(list, func(p string) bool { raw, _ := os.ReadFile(p); return strings.Contains(string(raw), "evil") })
	})
	l.answers(`{"decision":"approve"}`)
	l.holds(".npmrc", "fine\n")
	l.holds(".bashrc", "# mine\n")
	if out := l.ran("true"); !strings.Contains(out, "has been changed since it was shown") {
		t.Errorf("%q", out)
	}
	if q := l.asked(); !strings.Contains(argsOf(q), "evil") {
		t.Errorf("%v", q)
	}
	// and one that its owner has changed meanwhile stays as they left it
	l.put(filepath.Join(l.home, ".bashrc"), "# mine, later\n")
	l.answers(`{"decision":"approve"}`)
	until(t, "it is told", func() bool { return strings.Contains(l.ran("true"), "something else is in its place") })
	l.holds(".bashrc", "# mine, later\n")
}

// Links of the layer are not kept, and lead nowhere; what the box does not show cannot be replaced by it.
func TestLinksOfTheLayerLeadNowhere(t *testing.T) {
	l := keeps(t)
	l.ran(`ln -s /etc/passwd ~/link; ln -s .ssh ~/docs; mkdir -p ~/.ssh; echo evil > ~/docs/id_ed25519; echo evil > ~/docs/authorized_keys
rm ~/.vimrc; ln -s ~/.bashrc ~/.vimrc; mkdir -p ~/new/sub; echo n > ~/new/sub/f; mv ~/notes ~/old 2>/dev/null; rm -rf ~/notes; ln -s ~/.ssh ~/notes; true`)
	says := l.asked()["prompt"].(string)
	for _, name := range []string{"link", "docs", ".vimrc", "id_ed25519"} {
		if strings.Contains(says, "~/"+name) || strings.Contains(says, name+" ") {
			t.Errorf("%s is in %q", name, says)
		}
	}
	for _, part := range []string{"~/.ssh/authorized_keys (it says who may sign in, or with which key)", "~/new/sub/f", "1 more"} {
		if !strings.Contains(says, part) {
			t.Errorf("%q is not in %q", part, says)
		}
	}
	// a link that is in the way by the time of the answer is not followed
	if err := os.Symlink(filepath.Join(l.home, "src"), filepath.Join(l.home, "new")); err != nil {
		t.Fatal(err)
	}
	l.answers(`{"decision":"approve"}`)
	l.holds(".ssh/authorized_keys", "evil\n") // it was named, with what it is
	until(t, "settled", func() bool { return len(l.questions()) == 0 })
	l.holds(".ssh/id_ed25519", "SECRET-ssh\n")
	l.holds(".vimrc", "\" mine\n")
	if exists(filepath.Join(l.home, "src/sub")) || exists(filepath.Join(l.home, "docs")) || exists(filepath.Join(l.home, "link")) {
		t.Error("it went through a link")
	}
}

// A box may end before anybody answers: what it left is kept all the same, or thrown away.
func TestAnAnswerAfterTheEndOfTheBox(t *testing.T) {
	for _, decision := range []string{"approve", "deny"} {
		t.Run(decision, func(t *testing.T) {
			l := keeps(t)
			l.ran("echo fine >> ~/.bashrc; echo '{}' > .mcp.json; echo later > ~/.npmrc; sleep 0.3")
			before := l.asked()
			l.ends("s")
			q := l.asked()
			if says := q["prompt"].(string); !strings.Contains(says, "~/.bashrc") || !strings.Contains(says, ".mcp.json (it would run elsewhere or later)") {
				t.Errorf("%q, before %q", says, before["prompt"])
			}
			l.answers(`{"decision":"` + decision + `"}`)
			until(t, "settled", func() bool { return len(keeper.AsideIn(l.data)) == 0 })
			want := map[string]string{".bashrc": "# mine\n", ".npmrc": "", "src/site/.mcp.json": ""}
			if decision == "approve" {
				want = map[string]string{".bashrc": "# mine\nfine\n", ".npmrc": "later\n", "src/site/.mcp.json": "{}\n"}
			}
			for name, text := range want {
				l.holds(name, text)
			}
		})
	}
}

// What was put aside of the workspace is asked about while its box is open, and put in its place when that has ended.
func TestWhatWasPutAsideIsAQuestion(t *testing.T) {
	for _, decision := range []string{"approve", "deny"} {
		t.Run(decision, func(t *testing.T) {
			l := newLive(t, "")
			l.spoken("s", "Look at the page and mend the build")
			l.ran("mkdir -p .vscode; echo evil > .vscode/tasks.json; ln -s /etc/passwd .envrc; sleep 0.4")
			q := l.asked()
			if says := q["prompt"].(string); !strings.Contains(says, ".vscode (it would run elsewhere or later)") || strings.Contains(says, ".envrc") ||
				!strings.Contains(argsOf(q), ".vscode/tasks.json: + evil") {
				t.Errorf("%v", q)
			}
			l.answers(`{"decision":"` + decision + `"}`)
			until(t, "it is told", func() bool { return strings.Contains(l.ran("true"), "kept: ") })
			if exists(filepath.Join(l.ws, ".vscode")) {
				t.Error("it is there while the box is open")
			}
			l.ends("s")
			until(t, "settled", func() bool { return len(keeper.AsideIn(l.data)) == 1 }) // the link, which nobody can keep
			want := ""
			if decision == "approve" {
				want = "evil\n"
			}
			l.holds("src/site/.vscode/tasks.json", want)
		})
	}
}

// Nobody waits for the answer, and it holds nothing else up.
func TestWhatIsToBeKeptHoldsNobodyUp(t *testing.T) {
	needs(t, "curl")
	l := keeps(t)
	l.ran("echo fine >> ~/.bashrc")
	kept := l.asked()
	ended := l.does("s", "curl -sSk https://api.example/hello; true")
	var other map[string]any
	until(t, "a second question", func() bool {
		for _, q := range l.questions() {
			if q["id"] != kept["id"] {
				other = q
			}
		}
		return other != nil
	})
	l.call(approverToken, "POST", "/v1/approvals/"+other["id"].(string), `{"decision":"approve"}`)
	if _, out := ended(); !strings.Contains(out, "from outside") {
		t.Errorf("%q", out)
	}
	if again := l.asked(); again["id"] != kept["id"] {
		t.Error("the question is another")
	}
	l.answers(`{"decision":"approve"}`)
	l.holds(".bashrc", "# mine\nfine\n")
}
