//go:build e2e

package e2e_test

import (
	"bytes"
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
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"
)

// secure gives the story an outside over https, whose pages are places, by a proxy that answers for every host with a certificate that
// this home trusts.
func (w *world) secure(top string) {
	w.t.Helper()
	cert, authority := certificate(w.t)
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			answerPlace(rw, r)
			return
		}
		conn, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
			return
		}
		inside := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
		one := &single{conn: inside, done: make(chan struct{})}
		_ = http.Serve(one, http.HandlerFunc(answerPlace)) // it ends with its connection
	}))
	w.t.Cleanup(proxy.Close)
	file := filepath.Join(top, "authority.pem")
	w.write(top, "authority.pem", authority)
	w.write(w.home, ".curlrc", "proxy = \""+proxy.URL+"\"\nnoproxy = \"127.0.0.1,localhost\"\ncacert = \""+file+"\"\n")
	w.more = append(w.more, "HTTPS_PROXY="+proxy.URL, "https_proxy="+proxy.URL, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"NODE_EXTRA_CA_CERTS="+file, "CURL_CA_BUNDLE="+file)
}

// answerPlace shows a page; Claude Code first asks its maker whether a host may be read.
func answerPlace(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/web/domain_info" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"domain":"`+r.URL.Query().Get("domain")+`","can_fetch":true}`)
		return
	}
	text, ok := places[r.Host+r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, text)
}

// single is a listener with one connection, that ends with it.
type single struct {
	conn net.Conn
	done chan struct{}
	had  bool
}

func (s *single) Accept() (net.Conn, error) {
	if s.had {
		<-s.done
		return nil, net.ErrClosed
	}
	s.had = true
	return &closing{s.conn, s.done}, nil
}

func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return s.conn.LocalAddr() }

// closing is a connection that says when it is closed.
type closing struct {
	net.Conn
	done chan struct{}
}

func (c *closing) Close() error {
	select {
	case <-c.done:
	default:
		close(c.done)
	}
	return c.Conn.Close()
}

// certificate is one for the hosts of places and of Claude Code's maker, and the authority that signed it.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the outside"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"docs.example", "api.anthropic.com", "claude.ai", "collect.example"},
	}
	raw, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: raw}); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, out.String()
}
