package webpush_test

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/people/quorum"
	"github.com/tidemark/tidemark/internal/people/webpush"
	"github.com/tidemark/tidemark/internal/test/pushtest"
)

func decoded(t *testing.T, s string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The example of RFC 8291, appendix A, comes out byte for byte.
func TestSealingIsThatOfTheRFC(t *testing.T) {
	own, err := ecdh.P256().NewPrivateKey(decoded(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	reader, err := ecdh.P256().NewPrivateKey(decoded(t, "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
	if err != nil {
		t.Fatal(err)
	}
	auth, text := decoded(t, "BTBZMqHH6r4Tts7J_aSIgg"), "When I grow up, I want to be a watermelon"
	got, err := webpush.SealWith(own, decoded(t, "DGv6ra1nlYgDCS1FRnbzlw"), reader.PublicKey(), auth, []byte(text+"\x02"))
	if err != nil {
		t.Fatal(err)
	}
	want := decoded(t, "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"+
		"yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%x, want\n%x", got, want)
	}
	if read, err := pushtest.Open(reader, auth, want); err != nil || string(read) != text {
		t.Errorf("the browser of the tests reads %q, %v", read, err)
	}
}

// BEY-10: whoever asked for it is told that a question waits, and that it is over; a message says no more, and
// looks the same from outside.
func TestABrowserIsTold(t *testing.T) {
	w := newWorld(t)
	b := w.browser("approver:ada")
	q := w.ask("ask-1")
	m := b.Next()
	<-q.shown
	if m.ID != "ask-1" || m.Title != "A question waits" || m.Over || m.Urgency != "high" || m.TTL != time.Hour || m.Topic == "" {
		t.Errorf("told %+v", m)
	}
	q.over(t)
	end := b.Next()
	if end.ID != "ask-1" || !end.Over || end.Topic != m.Topic {
		t.Errorf("at the end told %+v", end)
	}
	for _, said := range []string{m.Title + m.Body, end.Title + end.Body} {
		for _, secret := range []string{"send_email", "spam", "hunter2", "ada"} {
			if strings.Contains(said, secret) {
				t.Errorf("a message says %q", said)
			}
		}
	}
	if m.Sealed != end.Sealed {
		t.Errorf("messages of %d and %d bytes can be told apart", m.Sealed, end.Sealed)
	}
	if faults := w.service.Faults(); len(faults) > 0 {
		t.Errorf("the service refused: %q", faults)
	}
	if got := w.acts(); !slices.Equal(got, []string{"notices-on approver:ada"}) {
		t.Errorf("recorded %q", got)
	}
}

// Where the operator wants it, a message names the tool, and how the question ended; never what the call holds.
func TestAMessageMayNameTheTool(t *testing.T) {
	w := newWorld(t, func(o *webpush.Options) { o.ShowTool = true })
	b := w.browser("approver:ada")
	q := w.ask("ask-1")
	m := b.Next()
	q.over(t)
	end := b.Next()
	if m.Title != "Approval needed: send_email" || !strings.Contains(end.Body, "denied by ada") {
		t.Errorf("told %+v and %+v", m, end)
	}
	if strings.Contains(m.Title+m.Body+end.Title+end.Body, "hunter2") {
		t.Errorf("a message has what the call holds: %+v, %+v", m, end)
	}
}

// A browser that is gone is forgotten, and recorded as such; what fails otherwise is tried again while the question
// is open, and others are told meanwhile.
func TestABrowserThatIsGone(t *testing.T) {
	w := newWorld(t)
	here, gone, missing, ill := w.browser("approver:ada"), w.browser("approver:bob"), w.browser("approver:eve"), w.browser("admin:joe")
	gone.Answers(http.StatusGone, "")
	missing.Answers(http.StatusNotFound, "")
	ill.Answers(http.StatusServiceUnavailable, "")
	q := w.ask("ask-1")
	here.Next()
	again := <-w.later
	if got := w.names(); !slices.Equal(got, []string{"admin:joe", "approver:ada"}) {
		t.Errorf("told are %q", got)
	}
	if err := w.Check(t.Context()); err == nil || strings.Contains(err.Error(), "/send/") {
		t.Errorf("Check: %v; want the fault, and no address", err)
	}
	ill.Answers(0, "")
	again <- noon
	if m := ill.Next(); m.ID != "ask-1" {
		t.Errorf("later it is told %+v", m)
	}
	q.over(t)
	if here.Next(); here.Told() {
		t.Error("one was told twice")
	}
	if err := w.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
	w.open()
	if got := w.names(); !slices.Equal(got, []string{"admin:joe", "approver:ada"}) {
		t.Errorf("after a start told are %q", got)
	}
}

// A question that nobody could be told of is no answer: it is tried again.
func TestAQuestionNobodyCouldBeToldOf(t *testing.T) {
	w := newWorld(t)
	w.browser("approver:ada").Answers(http.StatusServiceUnavailable, "")
	q := w.ask("ask-1")
	if err := <-q.done; !errors.Is(err, webpush.ErrService) {
		t.Errorf("got %v", err)
	}
}

// BEY-10: who is asked, who is asked later and whose hours are quiet holds for each person.
func TestEachPersonIsToldWhenTheyAreAsked(t *testing.T) {
	quiet := quorum.Hours{From: 11 * 60, To: 13 * 60, Zone: time.UTC}
	rules := team(quorum.Person{Name: "ada"}, quorum.Person{Name: "bob", Quiet: quiet}, quorum.Person{Name: "eve"}, quorum.Person{Name: "joe"})
	rules.List = []quorum.Rule{{
		Tools: []string{"send_email"}, Ask: []string{"ada", "bob"}, Then: []quorum.Step{{After: 10 * time.Minute, Ask: []string{"eve"}}},
	}}
	w := newWorld(t, func(o *webpush.Options) { o.Who = rules })
	ada, bob, eve, joe := w.browser("approver:ada"), w.browser("approver:bob"), w.browser("admin:eve"), w.browser("approver:joe")
	role := w.browser("approver") // nobody the file names
	q := w.ask("ask-1")
	ada.Next()
	again := <-w.later
	w.at(noon.Add(10 * time.Minute))
	again <- noon
	eve.Next()
	again = <-w.later
	w.at(noon.Add(time.Hour))
	again <- noon
	bob.Next()
	q.over(t)
	for _, b := range []*pushtest.Browser{ada, bob, eve} {
		if m := b.Next(); !m.Over {
			t.Errorf("at the end told %+v", m)
		}
	}
	for _, b := range []*pushtest.Browser{ada, bob, eve, joe, role} {
		if b.Told() {
			t.Errorf("told of what they are not asked: %+v", b.Next())
		}
	}
}

// Somebody who left, or whose time is over, is told nothing; nobody takes another's browser away.
func TestWhoIsNotToldAnyMore(t *testing.T) {
	w := newWorld(t)
	w.browser("approver:ada")
	bob := w.browser("approver:bob")
	id := w.List()[0].ID
	if err := w.Remove(t.Context(), id, "approver:eve", "approver:eve"); !errors.Is(err, webpush.ErrNobody) {
		t.Errorf("another's browser: %v", err)
	}
	if err := w.Left(t.Context(), "approver:ada", "admin"); err != nil {
		t.Fatal(err)
	}
	if got := w.names(); !slices.Equal(got, []string{"approver:bob"}) {
		t.Errorf("told are %q", got)
	}
	q := w.ask("ask-1")
	bob.Next()
	if err := w.Left(t.Context(), "approver:bob", "admin"); err != nil {
		t.Fatal(err)
	}
	q.over(t)
	if bob.Told() {
		t.Errorf("somebody who left is told %+v", bob.Next())
	}
	if err := w.Add(t.Context(), "approver:bob", sub(bob)); err != nil {
		t.Fatal(err)
	}
	bob.Next()
	if err := webpush.Forget(w.path, "approver:bob"); err != nil {
		t.Fatal(err)
	}
	w.open()
	if got := w.names(); len(got) != 0 {
		t.Errorf("told are %q", got)
	}
	if err := w.Add(t.Context(), "approver:bob", sub(bob)); err == nil { // of the key of before: it stays with the file
		bob.Next()
	} else {
		t.Errorf("the key changed: %v", err)
	}
	w.at(noon.Add(91 * 24 * time.Hour))
	if got := w.names(); len(got) != 0 {
		t.Errorf("after three months told are %q", got)
	}
}

// The number of browsers is bounded, for one person and for all; one that asks again is no further one.
func TestHowManyBrowsersThereCanBe(t *testing.T) {
	w := newWorld(t)
	var last *pushtest.Browser
	for range 10 {
		last = w.browser("approver:ada")
	}
	asked := w.service.Asked()
	if err := w.Add(t.Context(), "approver:ada", sub(w.service.Subscribe(w.Key()))); !errors.Is(err, webpush.ErrFull) {
		t.Errorf("the eleventh: %v", err)
	}
	if w.service.Asked() != asked {
		t.Error("one that does not fit was sent something")
	}
	if err := w.Add(t.Context(), "approver:ada", sub(last)); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if err := w.Add(t.Context(), "approver:bob", sub(last)); err != nil || len(w.List()) != 10 {
		t.Errorf("the same, of somebody else: %v, %d", err, len(w.List()))
	}
}

// A file that others can read, or that is none, is an error that says what to do.
func TestABrokenFile(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"readable by others": {`{}`, 0o644, "chmod 600"},
		"no JSON":            {`{`, 0o600, "invalid JSON"},
		"no key":             {`{"key":"","browsers":[]}`, 0o600, "holds no key"},
		"a key of nothing":   {`{"key":"AAAA","browsers":[]}`, 0o600, "holds no key"},
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir() + "/push.json"
			if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
				t.Fatal(err)
			}
			_, err := webpush.New(webpush.Options{Contact: "mailto:a@example.com", Path: path, Now: time.Now, Record: (&world{}).record})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
