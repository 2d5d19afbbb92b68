package approvalproof

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
)

// signed checks a passkey's signature.
// Preconditions: mu is held.
func (k *Keeper) signed(said string, p *event.Proof) (*event.Proof, error) {
	key := k.state.key(p.Key)
	switch {
	case key == nil:
		return nil, fmt.Errorf("%w: nobody enrolled this key", engine.ErrProof)
	case !k.nonces.spend(p.Nonce, k.now()):
		return nil, fmt.Errorf("%w: this touch of the key is too old or was used before; try again", engine.ErrProof)
	}
	kept := *p
	kept.Kind, kept.Public, kept.Site, kept.Said = string(Passkey), key.Public, key.Site, said
	if err := verify(&kept, k.origins); err != nil {
		return nil, err
	}
	return &kept, nil
}

// verify checks that the key signed what the proof says, at one of these origins.
func verify(p *event.Proof, origins []string) error {
	public, err := base64.RawURLEncoding.DecodeString(p.Public)
	if err != nil {
		return fmt.Errorf("%w: its key cannot be read", engine.ErrProof)
	}
	parsed, err := assertion(p)
	if err != nil {
		return fmt.Errorf("%w: it cannot be read: %s", engine.ErrProof, told(err))
	}
	err = parsed.Verify(challengeOf(p.Nonce, p.Said), p.Site, "", at(origins, p.Site), nil, nil,
		protocol.TopOriginExplicitVerificationMode, false, true, true, public, protocol.SignaturePolicy{})
	if err != nil {
		return fmt.Errorf("%w: the key did not sign this: %s", engine.ErrProof, told(err))
	}
	return nil
}

// at are the origins that belong to a site.
func at(origins []string, site string) []string {
	return slices.DeleteFunc(slices.Clone(origins), func(o string) bool {
		u, err := url.Parse(o)
		return err != nil || u.Hostname() != site
	})
}

// told is what a failed check says, without values out of the request.
func told(err error) string {
	var e *protocol.Error
	if errors.As(err, &e) {
		return e.Details
	}
	return "it does not fit"
}

func assertion(p *event.Proof) (*protocol.ParsedCredentialAssertionData, error) {
	raw, err := strictjson.Marshal(map[string]any{
		"id": p.Key, "rawId": p.Key, "type": "public-key",
		"response": map[string]string{"clientDataJSON": p.Client, "authenticatorData": p.Authenticator, "signature": p.Signature},
	})
	if err != nil {
		return nil, err
	}
	return protocol.ParseCredentialRequestResponseBytes(raw)
}

// New is a key that a browser made, as it came.
type New struct {
	Nonce  string
	Raw    []byte // the credential as JSON
	Name   string
	Role   string // of whoever enrols it
	By     string
	Proof  *event.Proof // by a key that is there already
	Secret string
	Code   string // a recovery code, by somebody who has lost their key
}

// SaidEnrol is what a person agrees to when a further key is enrolled or one is removed.
func SaidEnrol(act, what string) string {
	raw, _ := strictjson.Marshal(map[string]string{"act": act, "what": what}) // two strings have a form
	return string(raw)
}

// ErrRole is returned for an enrolment by somebody who may not approve.
var ErrRole = errors.New("the first key is for whoever may approve: sign in with the approver's or the administrator's token")

// Enrol adds a key. The first needs a person who may approve; every other one that is there.
func (k *Keeper) Enrol(ctx context.Context, n New, site string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.shared { // an invitation that another server saw used is none
		if err := k.load(ctx); err != nil {
			return err
		}
	}
	by, role, err := k.mayEnrol(&n)
	if err != nil {
		return err
	}
	if !k.nonces.spend(n.Nonce, k.now()) {
		return fmt.Errorf("%w: it took too long; try again", engine.ErrProof)
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(n.Raw)
	if err != nil {
		return fmt.Errorf("%w: the key cannot be read: %s", engine.ErrProof, told(err))
	}
	_, err = parsed.Verify(challengeOf(n.Nonce, ""), site, at(k.origins, site), nil, nil, protocol.TopOriginExplicitVerificationMode,
		false, true, true, nil, parameters(), protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
	if err != nil {
		return fmt.Errorf("%w: the key does not fit: %s", engine.ErrProof, told(err))
	}
	att := parsed.Response.AttestationObject.AuthData.AttData
	key := event.Key{
		ID: base64.RawURLEncoding.EncodeToString(att.CredentialID), Name: n.Name, Role: role, Site: site,
		Public: base64.RawURLEncoding.EncodeToString(att.CredentialPublicKey),
	}
	if k.state.key(key.ID) != nil {
		return errors.New("this key is enrolled already")
	}
	return k.append(ctx, event.Person{
		Act: "enrolled", By: n.By, Via: "console", Key: &key, Proof: by.proof, Detail: by.how, Token: by.code,
	})
}

// leave is by what a key came.
type leave struct {
	proof *event.Proof
	how   string // invited by whom, or by a recovery code; "": neither
	code  string // the hash of that
}

// mayEnrol says by what a key may come, and what it will be good for.
// Preconditions: mu is held.
func (k *Keeper) mayEnrol(n *New) (by leave, role string, err error) {
	first := len(k.state.Keys) == 0
	if first && n.Role != "approver" && n.Role != "admin" {
		return leave{}, "", ErrRole
	}
	said := SaidEnrol("enrol", n.Name)
	switch {
	case first && k.state.Secret != "":
		by.proof, err = k.typed(said, n.Secret)
		return by, n.Role, err
	case first:
		return leave{}, n.Role, nil
	case n.Proof == nil:
		return k.letIn(n)
	}
	if by.proof, err = k.signed(said, n.Proof); err != nil {
		return leave{}, "", err
	}
	return by, k.state.key(by.proof.Key).Role, nil
}

// letIn lets somebody enrol a key who has none to sign with: they were invited, or have a recovery code. Both are theirs by the name and
// the role that they signed in under, and somebody without a name is nobody.
// Preconditions: mu is held.
func (k *Keeper) letIn(n *New) (by leave, role string, err error) {
	role, name, _ := strings.Cut(n.By, ":")
	if name == "" || role != n.Role || role != "approver" && role != "admin" {
		return leave{}, "", k.uninvitedError()
	}
	if n.Code != "" {
		hash, err := k.recovers(n.By, n.Code)
		return leave{how: "recovery code", code: hash}, role, err
	}
	switch i := k.invitation(n.By); {
	case i == nil:
		return leave{}, "", k.uninvitedError()
	case i.Lacks > 0:
		return leave{}, "", fmt.Errorf("%w: %s invited you; it takes one more who has a key", engine.ErrProof, strings.Join(i.By, ", "))
	default:
		return leave{how: "invited by " + strings.Join(i.By, ", ")}, role, nil
	}
}

// Remove takes a key away; it takes a key, if only the same one.
func (k *Keeper) Remove(ctx context.Context, id, by string, p *event.Proof) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state.key(id) == nil {
		return engine.ErrNotFound
	}
	if p == nil {
		return needs(Passkey)
	}
	kept, err := k.signed(SaidEnrol("remove", id), p)
	if err != nil {
		return err
	}
	return k.append(ctx, event.Person{Act: "removed", By: by, Via: "console", Key: &event.Key{ID: id}, Proof: kept})
}

// Forget drops every key and the secret. It is for the server's own user, without a server;
// the console says so for a month.
func (k *Keeper) Forget(ctx context.Context, by string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.append(ctx, event.Person{Act: "forgotten", By: by, Via: "cli"})
}

// Algorithms are the kinds of keys we take: ES256, EdDSA, RS256.
func Algorithms() []int { return []int{-7, -8, -257} }

func parameters() []protocol.CredentialParameter {
	var out []protocol.CredentialParameter
	for _, a := range Algorithms() {
		out = append(out, protocol.CredentialParameter{
			Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.COSEAlgorithmIdentifier(a),
		})
	}
	return out
}
