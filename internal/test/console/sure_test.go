package console_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
)

// pays tells a story up to a held payment.
func (w *world) pays(session string) engine.Question {
	w.t.Helper()
	return w.asks(session, "Look at https://print.example and pay the bill of Nordprint, 1420.00 EUR", "https://print.example",
		"The bill: 1420.00 EUR, to DE12500105170648489890.", "make_payment", map[string]any{"iban": "DE12500105170648489890", "amount": "1420.00"})
}

// CON-05: what cannot be taken back is approved by no key and by no single press, in a browser with script and in one without.
func TestMoneyTakesTheButtonAndASecondStep(t *testing.T) {
	w := serve(t, "")
	q := w.pays("s")
	path := "/console/q/" + q.ID
	p := w.signIn("approver")
	f := p.form(path, path)
	f.Set("do", "approve")
	p.post(path, f).want(t, http.StatusConflict, "this takes a second step", "Yes, approve once")
	if got := w.question(q.ID); got.State != "pending" {
		t.Fatalf("after one step it is %s", got.State)
	}
	b := w.browser()
	b.signIn("approver")
	b.open("/console/")
	js[bool](b, `document.querySelector('#q-`+q.ID+`').focus(), document.querySelector('#q-`+q.ID+` .opens').scrollIntoView(), true`)
	time.Sleep(1300 * time.Millisecond) // a key would count by now
	b.keys("a")
	b.until(`document.querySelector('#q-` + q.ID + ` .problem').textContent.includes('use the button')`)
	press := `#q-` + q.ID + ` button[value=approve]`
	b.click(press)
	b.until(`document.querySelector('` + press + `').textContent.startsWith('Yes: ')`)
	b.click(press) // a double click is one press
	if got := w.question(q.ID); got.State != "pending" {
		t.Fatalf("after a double click it is %s", got.State)
	}
	time.Sleep(700 * time.Millisecond)
	b.click(press)
	b.until(`document.querySelector('#q-` + q.ID + `')?.dataset.state === 'approved'`)
	if at := js[float64](b, `document.querySelector('#q-`+q.ID+` p').getBoundingClientRect().bottom - innerHeight`); at > 0 {
		t.Errorf("what happened is said %.0f px below what is seen", at)
	}
}

// The second step is of the one who may approve: it tells nobody else that it would do.
func TestASecondStepGivesNoRole(t *testing.T) {
	w := serve(t, "")
	q := w.pays("s")
	w.signIn("reader").votes(q, "approve", url.Values{"sure": {"yes"}}).want(t, http.StatusForbidden, "this session can only read and deny")
	if got := w.question(q.ID); got.State != "pending" {
		t.Errorf("it is %s", got.State)
	}
}
