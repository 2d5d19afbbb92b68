package webpush_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/people/webpush"
	"github.com/tidemark/tidemark/internal/test/pushtest"
)

// Addresses of browsers are those of the known services, over https; everything else is refused by its looks.
func TestWhereABrowserMayBeTold(t *testing.T) {
	for endpoint, good := range map[string]bool{
		"https://fcm.googleapis.com/fcm/send/abc":                 true,
		"https://FCM.googleapis.com/wp/abc":                       true,
		"https://jmt17.google.com/fcm/send/abc":                   true,
		"https://updates.push.services.mozilla.com/wpush/v2/abc":  true,
		"https://web.push.apple.com/abc":                          true,
		"https://wns2-par02p.notify.windows.com/w/?token=abc":     true,
		"https://push.lan:8443/abc":                               true, // the file names it
		"http://fcm.googleapis.com/fcm/send/abc":                  false,
		"https://fcm.googleapis.com:8443/fcm/send/abc":            false,
		"https://fcm.googleapis.com":                              false,
		"https://fcm.googleapis.com/":                             false,
		"https://fcm.googleapis.com/abc#x":                        false,
		"https://user:secret@fcm.googleapis.com/abc":              false,
		"https://evil.example/fcm.googleapis.com/abc":             false,
		"https://fcm.googleapis.com.evil.example/abc":             false,
		"https://evilfcm.googleapis.com/abc":                      false,
		"https://notify.windows.com/abc":                          false,
		"https://evilnotify.windows.com/abc":                      false,
		"https://push.lan/abc":                                    false,
		"https://127.0.0.1/abc":                                   false,
		"https://localhost/abc":                                   false,
		"https://[::1]/abc":                                       false,
		"https://169.254.169.254/latest/meta-data/":               false,
		"https://10.0.0.1/abc":                                    false,
		"file:///etc/passwd":                                      false,
		"//fcm.googleapis.com/abc":                                false,
		"https://fcm.googleapis.com/" + strings.Repeat("a", 1100): false,
		"https://fcm.googleapis.com\\@evil.example/abc":           false,
		"https://fcm.googleapis.com%2eevil.example/abc":           false,
		"https://fcm.googleapis.com./abc":                         false,
		"https://xn--fcm-0na.googleapis.com/abc":                  false,
		"ws://fcm.googleapis.com/abc":                             false,
		"":                                                        false,
	} {
		if _, err := webpush.Place(endpoint, "push.lan:8443"); (err == nil) != good {
			t.Errorf("%s: %v", endpoint, err)
		} else if err != nil && !errors.Is(err, webpush.ErrBad) {
			t.Errorf("%s: %v is no refusal of the address", endpoint, err)
		}
	}
}

// What a browser hands us makes the server ask nobody inside, whatever it looks like.
func TestNobodyInsideIsAsked(t *testing.T) {
	w := newWorld(t)
	inside := pushtest.New(t) // on this machine, and not named by the file
	b := inside.Subscribe(w.Key())
	for _, endpoint := range []string{
		b.Endpoint, strings.Replace(b.Endpoint, "127.0.0.1", "localhost", 1), strings.Replace(b.Endpoint, "127.0.0.1", "[::ffff:127.0.0.1]", 1),
	} {
		s := sub(b)
		s.Endpoint = endpoint
		if err := w.Add(t.Context(), "approver:ada", s); !errors.Is(err, webpush.ErrBad) {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
	for name, change := range map[string]func(*webpush.Subscription){
		"no key":               func(s *webpush.Subscription) { s.P256dh = "" },
		"a key off the curve":  func(s *webpush.Subscription) { s.P256dh = "BA" + strings.Repeat("A", 85) },
		"a key in other words": func(s *webpush.Subscription) { s.P256dh = "not base64!" },
		"a short secret":       func(s *webpush.Subscription) { s.Auth = "AAAA" },
	} {
		s := sub(w.service.Subscribe(w.Key()))
		change(&s)
		if err := w.Add(t.Context(), "approver:ada", s); !errors.Is(err, webpush.ErrBad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if inside.Asked() != 0 || w.service.Asked() != 0 || len(w.List()) != 0 {
		t.Errorf("asked %d and %d times, and %d are told; want none", inside.Asked(), w.service.Asked(), len(w.List()))
	}
}

// A service that sends us elsewhere is not followed, and one that does not take the first message, or does not know the
// browser, adds none.
func TestASubscriptionCountsOnceItsServiceTookAMessage(t *testing.T) {
	w := newWorld(t)
	inside := pushtest.New(t)
	for name, tt := range map[string]struct {
		status   int
		location string
		want     error
	}{
		"sent elsewhere":        {http.StatusTemporaryRedirect, inside.Subscribe(w.Key()).Endpoint, webpush.ErrService},
		"sent elsewhere, got":   {http.StatusSeeOther, inside.Subscribe(w.Key()).Endpoint, webpush.ErrService},
		"it does not like us":   {http.StatusForbidden, "", webpush.ErrService},
		"it is down":            {http.StatusBadGateway, "", webpush.ErrService},
		"it knows no such":      {http.StatusNotFound, "", webpush.ErrBad},
		"the browser is gone":   {http.StatusGone, "", webpush.ErrBad},
		"too many in this hour": {http.StatusTooManyRequests, "", webpush.ErrService},
	} {
		b := w.service.Subscribe(w.Key())
		b.Answers(tt.status, tt.location)
		err := w.Add(t.Context(), "approver:ada", sub(b))
		if !errors.Is(err, tt.want) || strings.Contains(err.Error(), "/send/") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.Add(t.Context(), "approver:ada", sub(w.service.Subscribe("another key"))); !errors.Is(err, webpush.ErrService) {
		t.Errorf("bound to another key: %v", err)
	}
	if inside.Asked() != 0 || len(w.List()) != 0 || len(w.acts()) != 0 {
		t.Errorf("asked elsewhere %d times, told are %q, recorded %q; want nothing", inside.Asked(), w.names(), w.acts())
	}
}
