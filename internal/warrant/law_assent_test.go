package warrant_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant"
)

// yeses agree in several languages.
var yeses = []string{"Yes, please.", "ok", "Right.", "Ja.", "Sí, adelante", "はい、お願いします"}

// A yes to a sentence that offers one of two things, that asks whether something is not wanted, or that asks something else about an act
// than whether to do it agrees to nothing.
//
// MAN-11
func TestPropertyAYesToNoPlainOfferIsNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		says := rapid.SampledFrom([]string{
			"Shall I mail tor@vik.example, or ilse@harbour.example about it?", "Shall I mail ilse@harbour.example or leave it?",
			"You do not want me to mail ilse@harbour.example, do you?", "Shall I not mail ilse@harbour.example?",
			"Shouldn't I mail ilse@harbour.example?", "Soll ich ilse@harbour.example nicht anschreiben (mail ilse@harbour.example)?",
			"Soll ich an ilse@harbour.example eine Mail senden oder es lassen?", "¿No quieres que envíe un correo a ilse@harbour.example?",
			"Veux-tu que je n'envoie pas le mail à ilse@harbour.example?", "Shall I mail tor@vik.example, ilse@harbour.example being the one?",
			"Would it be a mistake to mail ilse@harbour.example about it?", "Did you see that I could mail ilse@harbour.example about it?",
			"Is it true that they mail ilse@harbour.example about it?", "Should nobody mail ilse@harbour.example?",
			"Shall I mail everybody except ilse@harbour.example?", "Wäre es falsch, ilse@harbour.example eine Mail zu senden?",
		}).Draw(t, "says")
		yes := rapid.SampledFrom(yeses).Draw(t, "yes")
		if w := of(proposed(says, yes), "mail_letter", mailIlse); !asked(w) {
			t.Fatalf("%q, %q: the mail runs: %s", says, yes, w)
		}
	})
}

// Whoever is asked plainly whether to do it, in words of their own, is not asked twice.
func TestAPlainOfferIsAgreedTo(t *testing.T) {
	for _, says := range []string{
		"Shall I mail ilse@harbour.example about it?", "Should I mail ilse@harbour.example?", "Parcel prc-12 was damaged. Do you want me to mail ilse@harbour.example?",
		"Would you like me to mail ilse@harbour.example about it?", "It was damaged, so shall I mail ilse@harbour.example?",
		"May I mail ilse@harbour.example about it?", "Soll ich ilse@harbour.example eine Mail senden?", "¿Quieres que envíe un correo a ilse@harbour.example?",
		"Veux-tu que j'envoie un mail à ilse@harbour.example ?", "Devo inviare una mail a ilse@harbour.example?", "Want me to mail ilse@harbour.example?",
	} {
		if w := of(proposed(says, "Yes, please."), "mail_letter", mailIlse); asked(w) {
			t.Errorf("%q: asked again: %s %+v", says, w, w.Slots)
		}
	}
}

var _ = warrant.Said
