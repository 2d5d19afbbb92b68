package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Headers of a hook that is handled over HTTP. The hook's name is in the signed body
// too; the header is there to route by.
const (
	HeaderHook      = "X-Tidemark-Hook"      // before_llm_call
	HeaderTimestamp = "X-Tidemark-Timestamp" // Unix seconds
	HeaderSignature = "X-Tidemark-Signature" // v1=<hex of HMAC-SHA256(secret, timestamp "." body)>
)

const signatureVersion = "v1="

// ErrSignature is in every error of VerifySignature.
var ErrSignature = errors.New("signature not accepted")

// Sign makes the values of HeaderTimestamp and HeaderSignature for a body.
func Sign(secret []byte, at time.Time, body []byte) (timestamp, signature string) {
	timestamp = strconv.FormatInt(at.Unix(), 10)
	return timestamp, signatureVersion + hex.EncodeToString(mac(secret, timestamp, body))
}

// VerifySignature checks a signed request. header is the request's Header.Get, now the
// receiver's clock, tolerance how far the sender's may be off. A request can be replayed
// within the tolerance: hooks that must not be answered twice need a memory of their own.
func VerifySignature(secret []byte, header func(string) string, body []byte, now time.Time, tolerance time.Duration) error {
	if len(secret) == 0 {
		return fmt.Errorf("%w: no secret to check it with", ErrSignature)
	}
	timestamp := header(HeaderTimestamp)
	sum, ok := strings.CutPrefix(header(HeaderSignature), signatureVersion)
	if !ok {
		return fmt.Errorf("%w: %s does not start with %s", ErrSignature, HeaderSignature, signatureVersion)
	}
	got, err := hex.DecodeString(sum)
	if err != nil || !hmac.Equal(got, mac(secret, timestamp, body)) {
		return fmt.Errorf("%w: it does not match the body", ErrSignature)
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: %s is not a number", ErrSignature, HeaderTimestamp)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return fmt.Errorf("%w: it is %v off", ErrSignature, age.Round(time.Second))
	}
	return nil
}

func mac(secret []byte, timestamp string, body []byte) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(timestamp))
	h.Write([]byte{'.'})
	h.Write(body)
	return h.Sum(nil)
}
