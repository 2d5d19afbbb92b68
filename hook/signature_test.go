package hook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
)

func signed(timestamp, signature string) func(string) string {
	return func(h string) string {
		return map[string]string{hook.HeaderTimestamp: timestamp, hook.HeaderSignature: signature}[h]
	}
}

// The form of a signature is a contract with plugins in other languages: the expected
// value was computed with openssl.
//
// HOOK-10
func TestSignIsHMACOverTimestampAndBody(t *testing.T) {
	timestamp, signature := hook.Sign([]byte("secret"), time.Unix(1767225600, 999), []byte(`{"a":1}`))
	if want := "1767225600"; timestamp != want {
		t.Errorf("timestamp = %q, want %q", timestamp, want)
	}
	if want := "v1=96a067a1c95eb143fc00b9097bcfcbcd5456adda508c443ff219748e764dbed7"; signature != want {
		t.Errorf("signature = %q, want %q", signature, want)
	}
}

// HOOK-10
func TestVerifySignature(t *testing.T) {
	secret, body, at := []byte("secret"), []byte(`{"a":1}`), time.Unix(1767225600, 0)
	stamp, sig := hook.Sign(secret, at, body)
	emptyStamp, emptySig := hook.Sign(nil, at, body)
	tests := map[string]struct {
		secret []byte
		header func(string) string
		body   string
		now    time.Time
		ok     bool
	}{
		"as it was signed":                 {secret, signed(stamp, sig), `{"a":1}`, at, true},
		"at the edge of the tolerance":     {secret, signed(stamp, sig), `{"a":1}`, at.Add(time.Minute), true},
		"a clock that is behind":           {secret, signed(stamp, sig), `{"a":1}`, at.Add(-time.Minute), true},
		"too old":                          {secret, signed(stamp, sig), `{"a":1}`, at.Add(61 * time.Second), false},
		"from the future":                  {secret, signed(stamp, sig), `{"a":1}`, at.Add(-61 * time.Second), false},
		"another body":                     {secret, signed(stamp, sig), `{"a":2}`, at, false},
		"another timestamp":                {secret, signed("1767225601", sig), `{"a":1}`, at, false},
		"another secret":                   {[]byte("Secret"), signed(stamp, sig), `{"a":1}`, at, false},
		"no secret":                        {nil, signed(emptyStamp, emptySig), `{"a":1}`, at, false},
		"no headers":                       {secret, signed("", ""), `{"a":1}`, at, false},
		"no version":                       {secret, signed(stamp, sig[3:]), `{"a":1}`, at, false},
		"another version":                  {secret, signed(stamp, "v2="+sig[3:]), `{"a":1}`, at, false},
		"a shorter signature":              {secret, signed(stamp, sig[:len(sig)-2]), `{"a":1}`, at, false},
		"a longer signature":               {secret, signed(stamp, sig+"00"), `{"a":1}`, at, false},
		"what is no hex":                   {secret, signed(stamp, "v1=zz"), `{"a":1}`, at, false},
		"an empty signature":               {secret, signed(stamp, "v1="), `{"a":1}`, at, false},
		"the dot moved into the timestamp": {secret, signed(stamp+".", sig), `{"a":1}`, at, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := hook.VerifySignature(tt.secret, tt.header, []byte(tt.body), tt.now, time.Minute)
			if (err == nil) != tt.ok || err != nil && !errors.Is(err, hook.ErrSignature) {
				t.Errorf("VerifySignature = %v, want accepted: %v", err, tt.ok)
			}
		})
	}
}

func TestVerifySignatureNeedsANumberForATime(t *testing.T) {
	// Signed by somebody who knows the secret but not the form of a timestamp.
	for _, stamp := range []string{"", "today", "1e9", "99999999999999999999"} {
		secret, at := []byte("secret"), time.Unix(0, 0)
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(stamp + ".{}"))
		sig := "v1=" + hex.EncodeToString(mac.Sum(nil))
		err := hook.VerifySignature(secret, signed(stamp, sig), []byte(`{}`), at, time.Hour)
		if !errors.Is(err, hook.ErrSignature) {
			t.Errorf("VerifySignature with timestamp %q = %v, want ErrSignature", stamp, err)
		}
	}
}

// FuzzVerifySignature: nothing but the signed bytes passes, whatever the headers say.
func FuzzVerifySignature(f *testing.F) {
	secret, body, at := []byte("secret"), `{"a":1}`, time.Unix(1767225600, 0)
	stamp, sig := hook.Sign(secret, at, []byte(body))
	f.Add(stamp, sig, body)
	f.Add(stamp, "v1=", body)
	f.Add("x", sig, "")
	f.Add(stamp+".", sig, body)
	f.Fuzz(func(t *testing.T, timestamp, signature, content string) {
		err := hook.VerifySignature(secret, signed(timestamp, signature), []byte(content), at, time.Minute)
		if err == nil && (timestamp != stamp || content != body) {
			t.Errorf("accepted timestamp %q, signature %q, body %q", timestamp, signature, content)
		}
	})
}
