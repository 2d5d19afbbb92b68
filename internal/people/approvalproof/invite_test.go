package approvalproof_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/people/approvalproof"
)

// person is somebody who signs in under a name, with a key of their own in their pocket.
type person struct {
	t   *testing.T
	k   *keeper
	key *passkey
	who string
}

func (k *keeper) person(t *testing.T, who string) *person {
	p := newPasskey(t)
	p.id = []byte("credential of " + who)
	return &person{t, k, p, who}
}

// enrols is what the browser sends; change alters it before.
func (p *person) enrols(change func(*approvalproof.New)) error {
	p.t.Helper()
	c, err := p.k.Challenge("", site)
	if err != nil {
		p.t.Fatal(err)
	}
	role, _, _ := strings.Cut(p.who, ":")
	n := approvalproof.New{Nonce: c.Nonce, Raw: p.key.create(p.t, c.Challenge), Name: "key", Role: role, By: p.who}
	if change != nil {
		change(&n)
	}
	return p.k.Enrol(p.t.Context(), n, site)
}

func (p *person) invites(who string) error {
	p.t.Helper()
	return p.k.Invite(p.t.Context(), who, p.key.sign(p.t, p.k.challenge(p.t, approvalproof.SaidEnrol("invite", who)), origin, true))
}

func want(t *testing.T, what string, err error, text string) {
	t.Helper()
	if text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
		t.Errorf("%s: got %v, want %q", what, err, text)
	}
}

// The second person gets a key by the first one's signature, once, within a day, and under the name that was invited.
func TestAKeyByInvitation(t *testing.T) {
	k := open(t, approvalproof.Options{})
	ana, ben, eve := k.person(t, "approver:ana"), k.person(t, "approver:ben"), k.person(t, "approver:eve")
	want(t, "the first key", ana.enrols(nil), "")
	want(t, "nobody invited ben", ben.enrols(nil), "a key have: approver:ana")
	want(t, "eve invites herself, with a key that nobody has", eve.invites("approver:eve"), "nobody enrolled")
	want(t, "a signature over somebody else", k.Invite(t.Context(), "approver:eve",
		ana.key.sign(t, k.challenge(t, approvalproof.SaidEnrol("invite", "approver:ben")), origin, true)), "did not sign this")
	want(t, "a signature over an approval", k.Invite(t.Context(), "approver:eve",
		ana.key.sign(t, k.challenge(t, `{"decision":"approve"}`), origin, true)), "did not sign this")
	want(t, "no signature", k.Invite(t.Context(), "approver:ben", nil), "takes a proof")
	for _, who := range []string{"ben", "reader:ben", "agent:ben", "approver:", ":ben", "owner:ben"} {
		want(t, who, ana.invites(who), "as approver:ben or admin:cleo")
	}
	want(t, "ana invites herself", ana.invites("approver:ana"), "needs no invitation")

	want(t, "ana invites ben", ana.invites("approver:ben"), "")
	if i := k.InvitationOf("approver:ben"); i == nil || i.Lacks != 0 || len(i.By) != 1 || i.By[0] != "approver:ana" {
		t.Errorf("the invitation is %+v", i)
	}
	want(t, "eve comes on ben's", eve.enrols(nil), "a further key needs")
	want(t, "ben as an administrator", ben.enrols(func(n *approvalproof.New) { n.By, n.Role = "admin:ben", "admin" }), "a further key needs")
	want(t, "ben with a role that is not his session's", ben.enrols(func(n *approvalproof.New) { n.Role = "admin" }), "a further key needs")
	want(t, "a session of ben's that was not used for a while", ben.enrols(func(n *approvalproof.New) { n.Role = "reader" }), "a further key needs")
	want(t, "ben", ben.enrols(nil), "")
	second := k.person(t, "approver:ben")
	second.key.id = []byte("another credential of ben")
	want(t, "ben a second time", second.enrols(nil), "a further key needs")

	cleo := k.person(t, "admin:cleo")
	want(t, "ben invites cleo", ben.invites("admin:cleo"), "")
	k.now = k.now.Add(approvalproof.InviteLife + time.Second)
	want(t, "a day later", cleo.enrols(nil), "a further key needs")
	want(t, "again", ana.invites("admin:cleo"), "")
	want(t, "taken back", k.Uninvite(t.Context(), "admin:cleo", "admin"), "")
	want(t, "after that", cleo.enrols(nil), "a further key needs")
	want(t, "again", ana.invites("admin:cleo"), "")
	want(t, "ana's key is removed", k.Remove(t.Context(), b64(ana.key.id), "admin",
		ben.key.sign(t, k.challenge(t, approvalproof.SaidEnrol("remove", b64(ana.key.id))), origin, true)), "")
	want(t, "the invitation of a key that is gone", cleo.enrols(nil), "a further key needs")
	state := k.State()
	if got := strings.Join(state.Holders(), " "); got != "approver:ben" {
		t.Errorf("keys have %s", got)
	}
	// What was done stands in the log, and is the same for whoever reads it.
	again := open(t, approvalproof.Options{Store: k.log})
	seen := again.State()
	if got := strings.Join(seen.Holders(), " "); got != "approver:ben" {
		t.Errorf("read again: keys have %s", got)
	}
}

// Where two people must agree to something, two must invite the next: one alone could else be two.
func TestTwoInviteWhereTwoMustAgree(t *testing.T) {
	k := open(t, approvalproof.Options{Inviters: 2})
	ana, ben, cleo := k.person(t, "approver:ana"), k.person(t, "approver:ben"), k.person(t, "admin:cleo")
	want(t, "the first", ana.enrols(nil), "")
	want(t, "there is only one", ana.invites("approver:ben"), "")
	want(t, "the second", ben.enrols(nil), "")
	want(t, "one of two", ana.invites("admin:cleo"), "")
	want(t, "the same again", ana.invites("admin:cleo"), "")
	want(t, "one is not enough", cleo.enrols(nil), "it takes one more")
	want(t, "the other", ben.invites("admin:cleo"), "")
	want(t, "two", cleo.enrols(nil), "")
}

// A lost key: a code of one's own, once; not anybody else's, and not by guessing.
func TestALostKey(t *testing.T) {
	k := open(t, approvalproof.Options{})
	ana, eve := k.person(t, "approver:ana"), k.person(t, "approver:eve")
	want(t, "the first", ana.enrols(nil), "")
	codes, who, err := k.NewCodes(t.Context(), ana.key.sign(t, k.challenge(t, approvalproof.SaidEnrol("codes", "")), origin, true))
	if err != nil || who != "approver:ana" || len(codes) != 8 {
		t.Fatalf("got %v, %s, %v", codes, who, err)
	}
	if _, _, err := k.NewCodes(t.Context(), nil); err == nil {
		t.Error("codes without a key")
	}
	for rec, err := range k.log.Load(t.Context(), approvalproof.LogName, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range codes {
			if strings.Contains(string(rec.Body), c) {
				t.Error("the log holds a code")
			}
		}
	}
	by := func(p *person, code string) error {
		fresh := k.person(t, p.who)
		fresh.key.id = []byte("after " + code + p.who)
		return fresh.enrols(func(n *approvalproof.New) { n.Code = code })
	}
	want(t, "eve with ana's code", by(eve, codes[0]), "none of your recovery codes")
	want(t, "a code that is none", by(ana, "tmr-"+strings.Repeat("a", 24)), "none of your recovery codes")
	want(t, "ana", by(ana, strings.ToUpper(codes[0])), "")
	want(t, "the same code again", by(ana, codes[0]), "none of your recovery codes")
	if state := k.State(); state.CodesOf("approver:ana") != 7 || len(state.Keys) != 2 {
		t.Errorf("%d codes, %d keys", state.CodesOf("approver:ana"), len(state.Keys))
	}
	for range 3 {
		_ = by(eve, "tmr-guess")
	}
	want(t, "guessing ends", by(ana, codes[1]), "too many wrong codes")
	k.now = k.now.Add(6 * time.Minute)
	want(t, "later", by(ana, codes[1]), "")
	more, _, err := k.NewCodes(t.Context(), ana.key.sign(t, k.challenge(t, approvalproof.SaidEnrol("codes", "")), origin, true))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "one of before", by(ana, codes[2]), "none of your recovery codes")
	want(t, "a new one", by(ana, more[0]), "")
	want(t, "all are forgotten", k.Forget(t.Context(), "root"), "")
	if state := k.State(); state.CodesOf("approver:ana") != 0 {
		t.Error("codes outlive the keys")
	}
}

// A code of a machine counts once, also where two servers have one log.
func TestAMachineJoinsOnce(t *testing.T) {
	k := open(t, approvalproof.Options{Shared: true})
	other := open(t, approvalproof.Options{Shared: true, Store: k.log})
	sum := sha256.Sum256([]byte("tmj-secret"))
	hash := hex.EncodeToString(sum[:])
	for _, life := range []time.Duration{0, -time.Minute, approvalproof.MaxInvite + time.Minute} {
		if _, err := k.InviteMachine(t.Context(), "admin", "http", "ana", hash, life); err == nil {
			t.Errorf("an invitation for %s", life)
		}
	}
	if _, err := k.InviteMachine(t.Context(), "admin", "http", "ana", hash, time.Minute); err != nil {
		t.Fatal(err)
	}
	if keys := other.InvitedKeys(); len(keys) != 1 || keys[0] != sum {
		t.Errorf("the other server knows %x", keys)
	}
	if got, err := other.JoinMachine(t.Context(), "tmj-secret", "http"); err != nil || got != "ana" {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := k.JoinMachine(t.Context(), "tmj-secret", "http"); err == nil || len(k.InvitedKeys()) != 0 {
		t.Errorf("twice: got %v", err)
	}
	if _, err := k.InviteMachine(t.Context(), "admin", "http", "ben", hash, time.Minute); err != nil {
		t.Fatal(err)
	}
	k.now = k.now.Add(2 * time.Minute)
	if _, err := k.JoinMachine(t.Context(), "tmj-secret", "http"); err == nil || len(k.InvitedKeys()) != 0 {
		t.Errorf("too late: got %v", err)
	}
}
