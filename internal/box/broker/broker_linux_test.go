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
	tarball []byte            // a package for npm with scripts that do what they can
	wheel   []byte            // a package for pip
	crate   []byte            // one for cargo
	simple  map[string][]byte // what the registry says to poetry of a package
	raw     map[string][]byte // files of packages
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
	o.others(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.seen = append(o.seen, r.Method+" "+r.URL.Path)
		away := o.away
		o.mu.Unlock()
		if away {
			http.Redirect(w, r, "https://elsewhere.example"+r.URL.RequestURI(), http.StatusFound)
			return
		}
		there.ServeHTTP(w, r)
	}), host)
	o.url = "https://" + host + ":" + o.port + "/web.git"
	o.Must("git init -q --bare " + o.bare + " && git -C " + o.bare + " config http.receivepack true && git init -q && git add -A && git commit -qm one" +
		" && git push -q " + o.bare + " main && git remote add origin " + o.url + " && git update-ref refs/remotes/origin/main HEAD")
	return o
}

// others are who is reached outside: a server that stands for every name, believed by ours.
func (o *office) others(there http.Handler, names ...string) {
	s := httptest.NewUnstartedServer(there)
	s.TLS = o.certificate(names...)
	s.StartTLS()
	o.t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	at := s.Listener.Addr().String()
	_, o.port, _ = net.SplitHostPort(at)
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
