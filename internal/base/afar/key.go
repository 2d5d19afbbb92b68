package afar

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/base/fileowner"
)

// KeyFile is where a server keeps the key that is of its own making, and its certificate.
func KeyFile(data string) string { return filepath.Join(data, "tls.pem") }

// Own is the server's key of its own making, made at the first start. The certificate is its own too: machines know it by its key, and
// browsers do not know it at all.
func Own(data string, names []string) (tls.Certificate, error) {
	file := KeyFile(data)
	if info, err := os.Stat(file); err == nil && fileowner.Open(info, 0o077) {
		return tls.Certificate{}, fmt.Errorf("read the server's key: %s is open to others (run: chmod 600 %s)", file, file)
	}
	raw, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		raw, err = makeOwn(file, names)
	}
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read the server's key: %w", err)
	}
	c, err := tls.X509KeyPair(raw, raw)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read the server's key: %s: %w (every machine that joined knows it by this key: take it "+
			"from a backup, or delete the file and have all of them join again)", file, err)
	}
	return c, nil
}

// makeOwn draws the key and writes it down.
func makeOwn(file string, names []string) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	const years = 30 // machines pin the key; a certificate that ends would end all of them on one day
	template := x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "Tidemark"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(years, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	raw := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return os.ReadFile(file) // another server was started at the same time
	}
	if err != nil {
		return nil, err
	}
	_, err = f.Write(raw)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(file))
	}
	return raw, nil
}

// PinOfPair is the pin of a certificate with its key.
func PinOfPair(c tls.Certificate) (string, error) {
	if len(c.Certificate) == 0 {
		return "", errors.New("there is no certificate")
	}
	leaf, err := x509.ParseCertificate(c.Certificate[0])
	if err != nil {
		return "", err
	}
	return PinOf(leaf), nil
}

// TokenFile is where the token of a machine lies that has joined a server elsewhere.
func TokenFile(data string) string { return filepath.Join(data, "machine.token") }

// CertFile is where a machine keeps the certificate of the server that it has joined, for programs that trust by certificates and not
// by keys. We do not read it.
func CertFile(data string) string { return filepath.Join(data, "server.crt") }

// WriteCert puts it there.
func WriteCert(data string, c *x509.Certificate) error {
	raw := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	if err := os.WriteFile(CertFile(data), raw, 0o644); err != nil { //nolint:gosec // it is public
		return fmt.Errorf("note the server's certificate: %w", err)
	}
	return nil
}
