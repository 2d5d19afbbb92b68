package broker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box/broker"
)

// A fetch brings what is there, and what the workspace's settings run has no capability.
func TestFetch(t *testing.T) {
	o := newOffice(t)
	o.Must("git clone -q " + o.bare + " ../other && cd ../other && echo n > n.txt && git add n.txt && git commit -qm n && git push -q origin main HEAD:side")
	want := o.there("main")
	o.broker() // the session's git is this machine's, or it could say anything of what it did
	env := o.Env
	o.hostile()
	o.do("git fetch origin main")
	o.Env = env
	if got := o.here("refs/remotes/origin/main"); got != want {
		t.Errorf("main is %s, want %s", got, want)
	}
	if o.here("refs/remotes/origin/side") != "" {
		t.Error("more was brought than was asked for")
	}
	o.only()
}

// A clone brings a repository into the workspace.
func TestClone(t *testing.T) {
	o := newOffice(t)
	// an address without a port is what a form may hold, so the server is at the usual one here
	o.do("git clone https://" + host + "/web.git lib")
	if text, err := os.ReadFile(filepath.Join(o.Work, "lib", "a.txt")); err != nil || string(text) != "a\n" {
		t.Errorf("%q %v", text, err)
	}
	if out := o.Must("git -C lib remote get-url origin"); strings.TrimSpace(out) != "https://"+host+"/web.git" {
		t.Errorf("origin is %s", out)
	}
	o.only()
}

// Who is asked sends nobody elsewhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	o := newOffice(t)
	o.mu.Lock()
	o.away = true
	o.mu.Unlock()
	o.Must("git switch -qc fix && echo b > b.txt && git add b.txt && git commit -qm b")
	d, err := o.prepare("git push origin fix")
	if err != nil {
		t.Fatal(err)
	}
	if code, out, err := o.run(d); code == 0 && err == nil {
		t.Errorf("it went well: %s", out)
	}
	o.only()
}

// What is not understood is not done.
func TestWhatIsNotDoneHere(t *testing.T) {
	o := newOffice(t)
	o.Must("git tag v1")
	for name, setting := range map[string]string{
		"ext": "ext::sh -c x", "file": "file:///srv/x.git", "path": "/srv/x.git", "http": "http://git.acme.example/x.git", "option": "--upload-pack=x",
		"ssh option": "ssh://-oProxyCommand=x/y", "short option": "git@-oProxyCommand=x:y", "query": "https://git.acme.example/x?y=1", "strange": "https://git.acme.example/x y", "git": "git://a.example/x",
	} {
		o.Must("git config remote.origin.url '" + setting + "'")
		if d, err := o.prepare("git push origin main"); !errors.Is(err, broker.ErrNotHere) {
			t.Errorf("%s: %v %+v", name, err, d)
		}
	}
	o.Must("git config remote.origin.url " + o.url)
	for _, line := range []string{
		"git push --tags origin main", "git push origin v1", "git push origin main:refs/tags/x", "git push other main", "git pull", "git fetch origin main:x", "git ls-remote origin",
		"git fetch --depth 1 origin", "git push origin nothing", "npm view left-pad", "go install a.example/b", "gh pr create -f", "terraform apply", "git fetch https://git.acme.example/x.git",
	} {
		if d, err := o.prepare(line); !errors.Is(err, broker.ErrNotHere) {
			t.Errorf("%s: %v %+v", line, err, d)
		}
	}
	o.Must("git config --add remote.origin.url https://evil.example/x.git")
	if _, err := o.prepare("git push origin main"); !errors.Is(err, broker.ErrNotHere) {
		t.Errorf("two addresses: %v", err)
	}
	if o.mu.Lock(); len(o.seen)+len(o.names) > 0 {
		t.Errorf("outside: %v %v", o.seen, o.names)
	}
	o.mu.Unlock()
}
