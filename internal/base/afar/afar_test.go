package afar_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/internal/base/afar"
	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

const token = "tm-agent-0123456789abcdef"

// server speaks TLS with a key of its own, and proves itself with a secret at a place of its choice; "": that of its key.
type server struct {
	*httptest.Server
	pin  string
	told atomic.Int64 // requests that were not for the proof
}

func serve(t *testing.T, secret, place string) *server {
	t.Helper()
	pair, err := afar.Own(t.TempDir(), []string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	s := new(server)
	if s.pin, err = afar.PinOfPair(pair); err != nil {
		t.Fatal(err)
	}
	if place == "" {
		place = afar.Place(s.pin)
	}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != serverproof.Path {
			s.told.Add(1)
			_, _ = io.WriteString(w, "served")
			return
		}
		answer, err := serverproof.KeyOf(secret).Show(r.Header.Get(serverproof.Header), place)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = strictjson.Write(w, answer)
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func ask(t *testing.T, to *afar.Server) error {
	t.Helper()
	c := to.Client(token, 0)
	defer c.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to.URL+"/v1/hooks/x", strings.NewReader("what the agent does"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

func TestTheServerOfThePinIsSpokenToAndNoOther(t *testing.T) {
	good, other := serve(t, token, ""), serve(t, token, "")
	wrong := serve(t, "another token", "")
	if err := ask(t, &afar.Server{URL: good.URL, Pin: good.pin}); err != nil || good.told.Load() != 1 {
		t.Fatalf("the server itself: got %v, told %d", err, good.told.Load())
	}
	// Knows the token, under another key: a server with a stolen people.json, or one in the middle.
	if err := ask(t, &afar.Server{URL: other.URL, Pin: good.pin}); !errors.Is(err, afar.ErrKey) {
		t.Errorf("another key: got %v", err)
	}
	// The right key and another token: nothing is told to it either.
	if err := ask(t, &afar.Server{URL: wrong.URL, Pin: wrong.pin}); !errors.Is(err, serverproof.ErrStranger) {
		t.Errorf("another secret: got %v", err)
	}
	// Nobody whom this machine trusts vouches for it.
	if err := ask(t, &afar.Server{URL: good.URL}); err == nil || !strings.Contains(err.Error(), "vouches") {
		t.Errorf("no pin: got %v", err)
	}
	for _, s := range []*server{other, wrong} {
		if n := s.told.Load(); n != 0 {
			t.Errorf("%d requests went to a stranger", n)
		}
	}
	if good.told.Load() != 1 {
		t.Errorf("something was told without a pin")
	}
}

// One who ends the connection in between hands the challenge on to the server and the proof back. Its own key is known here, as if a root
// of this machine vouched for it: the proof is of another key all the same.
func TestAProofThatWasHandedOnIsNone(t *testing.T) {
	real := serve(t, token, "")
	between := serve(t, token, afar.Place(real.pin))
	if err := ask(t, &afar.Server{URL: between.URL, Pin: between.pin}); !errors.Is(err, serverproof.ErrStranger) || between.told.Load() != 0 {
		t.Errorf("got %v, told %d", err, between.told.Load())
	}
	// Where a key is pinned an address in place of the key is no proof either: that is for what the system's roots vouch for.
	named := serve(t, token, "https://tidemark.example")
	if err := ask(t, &afar.Server{URL: named.URL, Pin: named.pin}); !errors.Is(err, serverproof.ErrStranger) {
		t.Errorf("an address for a key: got %v", err)
	}
}

func TestNothingIsSaidWithoutTLS(t *testing.T) {
	var heard atomic.Int64
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	defer plain.Close()
	for _, url := range []string{
		plain.URL, "http://tidemark.example", "https://", "https://user:pass@tidemark.example", "https://tidemark.example/path",
		"ftp://tidemark.example", "tidemark.example:8418", "https://tidemark.example?x=1",
	} {
		if err := ask(t, &afar.Server{URL: url}); err == nil {
			t.Errorf("%s was spoken to", url)
		}
		if afar.CheckURL(url) == nil {
			t.Errorf("%s is taken for an address", url)
		}
	}
	// A plain server at an https address is no server: nothing but the handshake reaches it.
	if err := ask(t, &afar.Server{URL: strings.Replace(plain.URL, "http:", "https:", 1)}); err == nil {
		t.Error("a plain server was spoken to")
	}
	if heard.Load() != 0 {
		t.Errorf("%d requests went out without TLS", heard.Load())
	}
}

func TestAServerThatIsAwaySaysSo(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "https://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := ask(t, &afar.Server{URL: at, Pin: strings.Repeat("ab", 32)}); !errors.Is(err, afar.ErrAway) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&afar.Server{URL: at}).Dial(ctx, token); err == nil {
		t.Error("a context that is over dials")
	}
	if _, err := (&afar.Server{URL: at}).Dial(t.Context(), ""); err == nil {
		t.Error("no token dials")
	}
}

func TestACodeIsOfOneServer(t *testing.T) {
	good, other := serve(t, token, ""), serve(t, token, "")
	code, err := afar.NewCode(good.pin)
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{code.String(), strings.ToLower(code.String()), strings.ReplaceAll(code.String(), "-", " ")} {
		if got, err := afar.ReadCode(said); err != nil || got != code {
			t.Errorf("%s: got %+v, %v", said, got, err)
		}
	}
	if pin, cert, err := (&afar.Server{URL: good.URL}).Meet(t.Context(), code); err != nil || pin != good.pin || afar.PinOf(cert) != pin {
		t.Errorf("its own server: got %s, %v", pin, err)
	}
	if pin, _, err := (&afar.Server{URL: other.URL}).Meet(t.Context(), code); !errors.Is(err, afar.ErrKey) || pin == good.pin {
		t.Errorf("another server: got %s, %v", pin, err)
	}
	unpinned, err := afar.NewCode("")
	if err != nil || unpinned.Pin != "" {
		t.Fatalf("got %+v, %v", unpinned, err)
	}
	if got, err := afar.ReadCode(unpinned.String()); err != nil || got != unpinned {
		t.Errorf("without a pin: got %+v, %v", got, err)
	}
	again, err := afar.NewCode(good.pin)
	if err != nil || again.Secret == code.Secret {
		t.Errorf("two codes have one secret (%v)", err)
	}
	// Half a code must not be one without a pin: somebody who cuts the key off would send it elsewhere.
	all := strings.ReplaceAll(code.String(), "-", "")
	if half, err := afar.ReadCode(all[:len(all)/2]); err == nil {
		t.Errorf("half a code is %+v", half)
	}
	for _, bad := range []string{"", "ABCDEF", all[:len(all)-1], all + "A", "0189", strings.Repeat("A", 1<<12)} {
		if _, err := afar.ReadCode(bad); err == nil {
			t.Errorf("%.20q is a code", bad)
		}
	}
}

func TestTheFileOfAServerElsewhere(t *testing.T) {
	data := t.TempDir()
	if s, err := afar.Read(data); s != nil || err != nil {
		t.Errorf("none: got %v, %v", s, err)
	}
	s := &afar.Server{URL: "https://tidemark.example:8418", Pin: strings.Repeat("ab", 32), Machine: "ana", Secret: afar.NewSecret()}
	if err := s.Write(data); err != nil {
		t.Fatal(err)
	}
	if got, err := afar.Read(data); err != nil || *got != *s {
		t.Errorf("got %+v, %v", got, err)
	}
	if a, b := s.Ticket("x"), s.Ticket("y"); a == b || a != s.Ticket("x") || strings.Contains(a, s.Secret) {
		t.Errorf("tickets %s, %s", a, b)
	}
	other := *s
	other.Secret = afar.NewSecret()
	if other.Ticket("x") == s.Ticket("x") {
		t.Error("another machine makes the same ticket")
	}
	if err := os.Chmod(afar.File(data), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := afar.Read(data); err == nil || got != nil {
		t.Errorf("readable by others: got %v, %v", got, err)
	}
	for name, raw := range map[string]string{
		"http":            `{"url":"http://tidemark.example","machine":"a","secret":"` + s.Secret + `"}`,
		"half a pin":      `{"url":"https://tidemark.example","pin":"ab","machine":"a","secret":"` + s.Secret + `"}`,
		"no secret":       `{"url":"https://tidemark.example","machine":"a"}`,
		"an unknown word": `{"url":"https://tidemark.example","machine":"a","secret":"` + s.Secret + `","insecure":true}`,
		"nothing":         ``,
	} {
		if err := errors.Join(os.Remove(afar.File(data)), os.WriteFile(afar.File(data), []byte(raw), 0o600)); err != nil {
			t.Fatal(err)
		}
		if got, err := afar.Read(data); err == nil || got != nil {
			t.Errorf("%s: got %v, %v; want an error, and never none", name, got, err)
		}
	}
	if err := errors.Join(afar.Forget(data), afar.Forget(data)); err != nil {
		t.Error(err)
	}
}

func TestAKeyIsMadeOnceAndIsPrivate(t *testing.T) {
	data := t.TempDir()
	one, err := afar.Own(data, []string{"tidemark.example", "192.0.2.7"})
	if err != nil {
		t.Fatal(err)
	}
	two, err := afar.Own(data, []string{"other.example"})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := afar.PinOfPair(one)
	if b, _ := afar.PinOfPair(two); a == "" || a != b {
		t.Errorf("the second start has another key: %s, %s", a, b)
	}
	info, err := os.Stat(afar.KeyFile(data))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its file: %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(afar.KeyFile(data), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := afar.Own(data, nil); err == nil {
		t.Error("a key that others read is used")
	}
	if err := errors.Join(os.Chmod(afar.KeyFile(data), 0o600), os.WriteFile(afar.KeyFile(data), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := afar.Own(data, nil); err == nil {
		t.Error("a broken key is another one")
	}
}
