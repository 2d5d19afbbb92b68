package approvalproof_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/store/memory"
)

const (
	site   = "tidemark.localhost"
	origin = "http://tidemark.localhost:8417"
)

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// passkey is an authenticator in software.
type passkey struct {
	key  *ecdsa.PrivateKey
	id   []byte
	site string
}

func newPasskey(t *testing.T) *passkey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &passkey{key: key, id: []byte("credential of a test"), site: site}
}

// authenticator is what the key says of itself: user present and, with verified, known.
func (p *passkey) authenticator(verified bool, more []byte) []byte {
	hash := sha256.Sum256([]byte(p.site))
	flags := byte(1)
	if verified {
		flags |= 4
	}
	if more != nil {
		flags |= 64
	}
	return append(append(append(hash[:], flags), 0, 0, 0, 0), more...)
}

func client(t *testing.T, kind, challenge, origin string) []byte {
	t.Helper()
	raw, err := strictjson.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": false})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// create is a new credential as the browser sends it.
func (p *passkey) create(t *testing.T, challenge string) []byte {
	t.Helper()
	point, err := p.key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	cose, err := webauthncbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	if err != nil {
		t.Fatal(err)
	}
	more := make([]byte, 16, 200)
	more = binary.BigEndian.AppendUint16(more, uint16(len(p.id)))
	more = append(append(more, p.id...), cose...)
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": p.authenticator(true, more)})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := strictjson.Marshal(map[string]any{
		"id": b64(p.id), "rawId": b64(p.id), "type": "public-key",
		"response": map[string]string{"clientDataJSON": b64(client(t, "webauthn.create", challenge, origin)),
			"attestationObject": b64(object)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// sign is an assertion; change alters it before it is signed.
func (p *passkey) sign(t *testing.T, c approvalproof.Ceremony, at string, verified bool) *event.Proof {
	t.Helper()
	said, auth := client(t, "webauthn.get", c.Challenge, at), p.authenticator(verified, nil)
	hash := sha256.Sum256(said)
	sum := sha256.Sum256(append(append([]byte{}, auth...), hash[:]...))
	sig, err := ecdsa.SignASN1(rand.Reader, p.key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return &event.Proof{Kind: "passkey", Key: b64(p.id), Nonce: c.Nonce, Client: b64(said), Authenticator: b64(auth), Signature: b64(sig)}
}

type keeper struct {
	*approvalproof.Keeper
	log *memory.Store
	now time.Time
}

func open(t *testing.T, o approvalproof.Options) *keeper {
	t.Helper()
	log, _ := o.Store.(*memory.Store)
	if log == nil {
		log = memory.New()
	}
	k := &keeper{log: log, now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	o.Store, o.Rand, o.Now = k.log, rand.Reader, func() time.Time { return k.now }
	var err error
	if k.Keeper, err = approvalproof.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	k.SetOrigins([]string{origin, "http://localhost:8417"})
	return k
}

// enrol adds a first key.
func (k *keeper) enrol(t *testing.T) *passkey {
	t.Helper()
	p := newPasskey(t)
	c, err := k.Challenge("", site)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Enrol(t.Context(), approvalproof.New{Nonce: c.Nonce, Raw: p.create(t, c.Challenge), Name: "laptop", Role: "approver"},
		site); err != nil {
		t.Fatal(err)
	}
	return p
}

// CON-25
func TestAProofIsOverExactlyThis(t *testing.T) {
	const said = `{"act":"this"}`
	for name, c := range map[string]struct {
		sign   func(t *testing.T, k *keeper, p *passkey) *event.Proof
		checks string
		want   string
	}{
		"what was signed": {},
		"something else":  {checks: `{"act":"that"}`, want: "did not sign this"},
		"another port": {sign: func(t *testing.T, k *keeper, p *passkey) *event.Proof {
			return p.sign(t, k.challenge(t, said), "http://tidemark.localhost:3000", true)
		}, want: "did not sign this"},
		"another name": {sign: func(t *testing.T, k *keeper, p *passkey) *event.Proof {
			return p.sign(t, k.challenge(t, said), "http://localhost:8417", true)
		}, want: "did not sign this"},
		"a person who was not asked for": {sign: func(t *testing.T, k *keeper, p *passkey) *event.Proof {
			return p.sign(t, k.challenge(t, said), origin, false)
		}, want: "did not sign this"},
		"another site's key": {sign: func(t *testing.T, k *keeper, p *passkey) *event.Proof {
			p.site = "evil.example"
			return p.sign(t, k.challenge(t, said), origin, true)
		}, want: "did not sign this"},
		"a key nobody enrolled": {sign: func(t *testing.T, k *keeper, p *passkey) *event.Proof {
			out := p.sign(t, k.challenge(t, said), origin, true)
			out.Key = "AAAA"
			return out
		}, want: "nobody enrolled"},
		"a nonce that was never handed out": {sign: func(t *testing.T, k *keeper, p *passkey) *event.Proof {
			c := k.challenge(t, said)
			c.Nonce = b64(make([]byte, 32))
			return p.sign(t, c, origin, true)
		}, want: "too old or was used"},
		"six minutes later": {sign: func(t *testing.T, k *keeper, p *passkey) *event.Proof {
			out := p.sign(t, k.challenge(t, said), origin, true)
			k.now = k.now.Add(6 * time.Minute)
			return out
		}, want: "too old or was used"},
		"nothing": {sign: func(*testing.T, *keeper, *passkey) *event.Proof { return nil }, want: "takes a proof"},
	} {
		t.Run(name, func(t *testing.T) {
			k := open(t, approvalproof.Options{})
			p := k.enrol(t)
			var given *event.Proof
			if c.sign != nil {
				given = c.sign(t, k, p)
			} else {
				given = p.sign(t, k.challenge(t, said), origin, true)
			}
			over := said
			if c.checks != "" {
				over = c.checks
			}
			kept, err := k.Check(over, given, "")
			if c.want == "" {
				if err != nil || kept == nil || kept.Said != said {
					t.Fatalf("got %+v, %v", kept, err)
				}
				if _, err := k.Check(over, given, ""); !errors.Is(err, engine.ErrProof) {
					t.Errorf("a second time: %v", err)
				}
				return
			}
			if !errors.Is(err, engine.ErrProof) || !strings.Contains(err.Error(), c.want) || kept != nil {
				t.Errorf("got %+v, %v; want %s", kept, err, c.want)
			}
		})
	}
}

func (k *keeper) challenge(t *testing.T, said string) approvalproof.Ceremony {
	t.Helper()
	c, err := k.Challenge(said, site)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const secret = "correct horse battery"

func (k *keeper) secret(t *testing.T) {
	t.Helper()
	if err := k.SetSecret(t.Context(), "approver", "approver", "", secret); err != nil {
		t.Fatal(err)
	}
}

func (k *keeper) enrolWith(t *testing.T, typed string) {
	t.Helper()
	p, c := newPasskey(t), k.challenge(t, "")
	n := approvalproof.New{Nonce: c.Nonce, Raw: p.create(t, c.Challenge), Name: "laptop", Role: "approver", Secret: typed}
	if err := k.Enrol(t.Context(), n, site); err != nil {
		t.Fatal(err)
	}
}

// CON-26
func TestWhoMayEnrol(t *testing.T) {
	try := func(t *testing.T, k *keeper, n approvalproof.New) error {
		t.Helper()
		p, c := newPasskey(t), k.challenge(t, "")
		p.id = []byte("another credential")
		n.Nonce, n.Raw = c.Nonce, p.create(t, c.Challenge)
		return k.Enrol(t.Context(), n, site)
	}
	k := open(t, approvalproof.Options{})
	if err := try(t, k, approvalproof.New{Role: "reader"}); !errors.Is(err, approvalproof.ErrRole) {
		t.Errorf("a reader enrolled the first key: %v", err)
	}
	p := k.enrol(t)
	if err := try(t, k, approvalproof.New{Role: "admin"}); !errors.Is(err, engine.ErrProof) {
		t.Errorf("a second key without the first: %v", err)
	}
	good := p.sign(t, k.challenge(t, approvalproof.SaidEnrol("enrol", "phone")), origin, true)
	if err := try(t, k, approvalproof.New{Role: "reader", Name: "phone", Proof: good}); err != nil {
		t.Errorf("a second key with the first: %v", err)
	}
	if err := k.Remove(t.Context(), b64(p.id), "admin", nil); !errors.Is(err, engine.ErrProof) {
		t.Errorf("removed without a key: %v", err)
	}
	if n := len(k.State().Keys); n != 2 || k.State().Keys[1].Role != "approver" {
		t.Errorf("%d keys: %+v", n, k.State().Keys)
	}
	again, err := approvalproof.Open(t.Context(), approvalproof.Options{Store: k.log, Now: time.Now, Rand: rand.Reader})
	if err != nil || again.Required() != approvalproof.Passkey || len(again.State().Keys) != 2 {
		t.Errorf("after a restart: %+v, %v", again.State(), err)
	}
	if err := again.Forget(context.Background(), "root"); err != nil || again.Required() != approvalproof.None || again.State().Forgotten == 0 {
		t.Errorf("forgotten: %+v, %v", again.State(), err)
	}
}

// approved writes a question and its approval into the log, as the monitor does, and lets the
// test change the answer before it is written.
func (k *keeper) approved(t *testing.T, p *passkey, change func(*event.Event)) {
	t.Helper()
	ask := &event.Event{Kind: event.CallDecided, Time: 1, Decided: &event.Decided{Tool: "send_email", Effect: "confirm",
		Ask: &event.Ask{ID: "ask-1"}}}
	vote := engine.Vote{Session: "s", Approve: true}
	said, err := vote.Said([]engine.Asked{{ID: "ask-1", Digest: ask.Decided.Digest.String()}})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := k.Check(said, p.sign(t, k.challenge(t, said), origin, true), "")
	if err != nil {
		t.Fatal(err)
	}
	answer := &event.Event{Kind: event.Answered, Time: 2, Answer: &event.Answer{By: "approver", Verdict: "approve",
		IDs: []string{"ask-1"}, Proof: kept}}
	change(answer)
	if err := k.log.Append(t.Context(), "s", 0, []*event.Event{ask, answer}); err != nil {
		t.Fatal(err)
	}
}

// CON-25
func TestAnAuditFindsWhatWasNotSigned(t *testing.T) {
	flip := func(s *string) { *s = "A" + (*s)[1:] }
	for name, c := range map[string]struct {
		change func(*event.Event)
		want   string
	}{
		"a good one":               {change: func(*event.Event) {}},
		"a denial needs none":      {change: func(e *event.Event) { e.Answer.Verdict, e.Answer.Proof = "deny", nil }},
		"no proof at all":          {change: func(e *event.Event) { e.Answer.Proof = nil }, want: "without the proof"},
		"another question":         {change: func(e *event.Event) { e.Answer.IDs = []string{"ask-2"} }, want: "something else"},
		"a grant nobody signed":    {change: func(e *event.Event) { e.Answer.Grant = &event.Grant{Until: 2 + int64(15*time.Minute)} }, want: "something else"},
		"a flipped signature":      {change: func(e *event.Event) { flip(&e.Answer.Proof.Signature) }, want: "does not hold"},
		"a flipped client data":    {change: func(e *event.Event) { flip(&e.Answer.Proof.Client) }, want: "does not hold"},
		"a flipped authenticator":  {change: func(e *event.Event) { flip(&e.Answer.Proof.Authenticator) }, want: "does not hold"},
		"a key of somebody else's": {change: func(e *event.Event) { e.Answer.Proof.Public = "AAAA" }, want: "not enrolled"},
	} {
		t.Run(name, func(t *testing.T) {
			k := open(t, approvalproof.Options{})
			p := k.enrol(t)
			k.approved(t, p, c.change)
			breaks, good, err := approvalproof.Audit(t.Context(), k.log)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.want == "" && len(breaks) > 0:
				t.Errorf("found %v", breaks)
			case c.want != "" && (len(breaks) != 1 || !strings.Contains(breaks[0].Problem, c.want) ||
				breaks[0].Session != "s" || breaks[0].Seq != 2):
				t.Errorf("found %v, want %s", breaks, c.want)
			case name == "a good one" && good != 1:
				t.Errorf("%d are good", good)
			}
		})
	}
}

// A keeper that was opened before a key was enrolled elsewhere asks for it all the same.
func TestAKeyOfAnotherProcessIsAskedForToo(t *testing.T) {
	store := memory.New()
	early, late := open(t, approvalproof.Options{Store: store}), open(t, approvalproof.Options{Store: store})
	if p, err := early.Check("said", nil, ""); p != nil || err != nil {
		t.Fatalf("before there is a key: %v, %v", p, err)
	}
	late.enrol(t)
	if _, err := early.Check("said", nil, ""); !errors.Is(err, engine.ErrProof) {
		t.Errorf("Check: %v", err)
	}
	if _, err := early.Prove(&engine.Vote{Via: "http"}, "said"); !errors.Is(err, engine.ErrProof) {
		t.Errorf("Prove: %v", err)
	}
}
