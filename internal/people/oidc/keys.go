package oidc

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"math/big"
)

// keySet is a JWKS, with the members that matter.
type keySet struct {
	Keys []jwk `json:"keys"`
}

type jwk struct {
	Type  string `json:"kty"`
	ID    string `json:"kid"`
	Use   string `json:"use"`
	Alg   string `json:"alg"`
	Curve string `json:"crv"`
	N     string `json:"n"`
	E     string `json:"e"`
	X     string `json:"x"`
	Y     string `json:"y"`
}

// key is a public key, and what it may sign with. What an algorithm's name says never makes a key
// of another kind out of it.
type key struct {
	id     string
	algs   []string
	public crypto.PublicKey
}

// maxKeys bounds how many keys of a provider are looked at.
const maxKeys = 100

// read are the keys of a set that can sign ID tokens. Others are left out: providers list keys for
// other things beside them. A symmetric one is never a key.
func (s *keySet) read() []key {
	var out []key
	for i := range s.Keys[:min(len(s.Keys), maxKeys)] {
		k := &s.Keys[i]
		if k.Use != "" && k.Use != "sig" {
			continue
		}
		public, algs := k.public()
		if k.Alg != "" {
			algs = only(algs, k.Alg)
		}
		if public != nil && len(algs) > 0 {
			out = append(out, key{id: k.ID, algs: algs, public: public})
		}
	}
	return out
}

func only(list []string, one string) []string {
	for _, a := range list {
		if a == one {
			return []string{a}
		}
	}
	return nil
}

// The sizes of keys that are good enough, and not so large that checking with them takes long.
const (
	minRSA = 2048
	maxRSA = 8192
)

// public is the key, and the algorithms that fit its kind; nil: none that is known.
func (k *jwk) public() (crypto.PublicKey, []string) {
	switch {
	case k.Type == "RSA":
		if pub := k.rsa(); pub != nil {
			return pub, []string{"RS256", "PS256"}
		}
	case k.Type == "EC" && k.Curve == "P-256":
		if pub := k.ec(); pub != nil {
			return pub, []string{"ES256"}
		}
	case k.Type == "OKP" && k.Curve == "Ed25519":
		if x := number(k.X); len(x) == ed25519.PublicKeySize {
			return ed25519.PublicKey(x), []string{"EdDSA"}
		}
	}
	return nil, nil
}

func (k *jwk) rsa() *rsa.PublicKey {
	n, e := new(big.Int).SetBytes(number(k.N)), new(big.Int).SetBytes(number(k.E))
	if n.BitLen() < minRSA || n.BitLen() > maxRSA || n.Bit(0) == 0 || e.BitLen() > 31 || e.Int64() < 3 || e.Bit(0) == 0 {
		return nil
	}
	return &rsa.PublicKey{N: n, E: int(e.Int64())}
}

// ec is a point that lies on the curve.
func (k *jwk) ec() *ecdsa.PublicKey {
	x, y := number(k.X), number(k.Y)
	if len(x) != 32 || len(y) != 32 {
		return nil
	}
	pub, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
	if err != nil {
		return nil
	}
	return pub
}

// number reads a number as a JWK has it; nil: it is none.
func number(text string) []byte {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil
	}
	return raw
}
