package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// The sizes of an encrypted message (RFC 8188, RFC 8291). Every message is filled up to one length, so
// that whoever carries it cannot tell one from another.
const (
	saltSize   = 16
	authSize   = 16
	recordSize = 4096
	plainSize  = 1024
	lastRecord = 2 // stands behind the text of the last record, before what fills it up
)

// seal encrypts a message so that one browser alone can read it.
func seal(to *ecdh.PublicKey, auth, text []byte) ([]byte, error) {
	if len(text) >= plainSize {
		return nil, fmt.Errorf("a message has at most %d bytes", plainSize-1)
	}
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("draw key: %w", err)
	}
	salt := make([]byte, saltSize)
	if _, err := rand.Read(salt); err != nil {
		return nil, fmt.Errorf("draw salt: %w", err)
	}
	filled := make([]byte, plainSize)
	filled[copy(filled, text)] = lastRecord
	return sealWith(own, salt, to, auth, filled)
}

// sealWith is seal with everything that is drawn handed in; plain ends with its mark and what fills it up.
func sealWith(own *ecdh.PrivateKey, salt []byte, to *ecdh.PublicKey, auth, plain []byte) ([]byte, error) {
	shared, err := own.ECDH(to)
	if err != nil {
		return nil, fmt.Errorf("agree on key: %w", err)
	}
	both := string(to.Bytes()) + string(own.PublicKey().Bytes())
	secret, err := hkdf.Key(sha256.New, shared, auth, "WebPush: info\x00"+both, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, fmt.Errorf("derive nonce: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	out := binary.BigEndian.AppendUint32(append([]byte(nil), salt...), recordSize)
	out = append(out, byte(len(own.PublicKey().Bytes())))
	out = append(out, own.PublicKey().Bytes()...)
	return gcm.Seal(out, nonce, plain, nil), nil
}
