package verifier_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/external/verifier"
)

// Both must allow, whatever the fail mode; a failure counts as the fail mode says; the
// second time is like the first.
//
// VER-05 VER-08
func TestBothMustAllow(t *testing.T) {
	hooks := map[string]http.HandlerFunc{"allow": allows, "deny": denies, "fail": says(500, "")}
	people := map[string]*person{"allow": answers(true, nil), "deny": answers(false, nil), "fail": answers(true, errBroken)}
	tests := []struct {
		hook, person string
		closed, open string // By under failMode deny and allow; a leading + is an allow
	}{
		{"allow", "allow", "+webhook+telegram", "+webhook+telegram"},
		{"allow", "deny", "telegram", "telegram"},
		{"allow", "fail", "failMode", "+webhook+failMode"},
		{"deny", "allow", "webhook", "webhook"},
		{"deny", "deny", "webhook|telegram", "webhook|telegram"},
		{"deny", "fail", "webhook|failMode", "webhook"},
		{"fail", "allow", "failMode", "+telegram+failMode"},
		{"fail", "deny", "failMode|telegram", "telegram"},
		{"fail", "fail", "failMode", "+failMode"},
	}
	for _, tt := range tests {
		for mode, want := range map[verifier.FailMode]string{verifier.Deny: tt.closed, verifier.Allow: tt.open, "": tt.closed} {
			t.Run(tt.hook+" and "+tt.person+" under "+string(mode), func(t *testing.T) {
				v := start(t, verifier.Options{
					Config:   verifier.Config{Enabled: true, FailMode: mode, Webhook: hookAt(serve(t, hooks[tt.hook])), Telegram: &chat},
					Telegram: people[tt.person],
				})
				for range 2 {
					got := v.Verify(t.Context(), call())
					by := got.By
					if got.Allow {
						by = "+" + by
					}
					if !strings.Contains("|"+want+"|", "|"+by+"|") {
						t.Errorf("Verify = %+v, want %s", got, want)
					}
					if got.Failed != strings.Contains(got.By, "failMode") || got.Cached {
						t.Errorf("Verify = %+v, want Failed where the fail mode took part", got)
					}
				}
			})
		}
	}
}

// VER-05
func TestReasonsAreHandedOn(t *testing.T) {
	tests := map[string]struct {
		config verifier.Config
		hook   http.HandlerFunc
		person *person
		want   engine.Ruling
	}{
		"a webhook's deny":  {verifier.Config{}, denies, nil, engine.Ruling{By: "webhook", Reason: "not today"}},
		"a webhook's allow": {verifier.Config{}, says(200, `{"decision":"allow","reason":"fine"}`), nil, engine.Ruling{Allow: true, By: "webhook", Reason: "fine"}},
		"a person's deny":   {verifier.Config{Telegram: &chat}, nil, answers(false, nil), engine.Ruling{By: "telegram", Reason: "denied on Telegram by @owner"}},
		"a person's allow":  {verifier.Config{Telegram: &chat}, nil, answers(true, nil), engine.Ruling{Allow: true, By: "telegram", Reason: "allowed on Telegram by @owner"}},
		"a failure":         {verifier.Config{}, says(503, ""), nil, engine.Ruling{By: "failMode", Reason: "webhook: status 503", Failed: true}},
		"a failure let through": {
			verifier.Config{FailMode: verifier.Allow, Telegram: &chat}, says(503, ""), answers(false, errBroken),
			engine.Ruling{Allow: true, By: "failMode", Reason: "telegram: could not be asked; webhook: status 503", Failed: true},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := verifier.Options{Config: tt.config}
			o.Config.Enabled = true
			if tt.hook != nil {
				o.Config.Webhook = hookAt(serve(t, tt.hook))
			}
			if tt.person != nil {
				o.Telegram = tt.person
			}
			if diff := cmp.Diff(tt.want, start(t, o).Verify(t.Context(), call())); diff != "" {
				t.Errorf("ruling (-want +got):\n%s", diff)
			}
		})
	}
}

// Nobody waits for a person once the webhook has denied, and the person's message is
// withdrawn.
//
// VER-08
func TestTheFirstDenyEndsTheWait(t *testing.T) {
	for name, endpoint := range map[string]http.HandlerFunc{"a deny": denies, "a failure that denies": says(500, "")} {
		t.Run(name, func(t *testing.T) {
			withdrawn := make(chan error, 1)
			v := start(t, verifier.Options{
				Config:   verifier.Config{Enabled: true, Webhook: hookAt(serve(t, endpoint)), Telegram: &chat},
				Telegram: waits(withdrawn),
			})
			if got := v.Verify(t.Context(), call()); got.Allow {
				t.Errorf("Verify = %+v, want a deny", got)
			}
			if got := <-withdrawn; got != context.Canceled { //nolint:errorlint // the very value is part of Asker's contract
				t.Errorf("the message ended with %v, want %v", got, context.Canceled)
			}
		})
	}
}

// VER-08
func TestAPersonsDenyEndsTheWaitForTheWebhook(t *testing.T) {
	gone := make(chan struct{})
	endpoint := func(w http.ResponseWriter, r *http.Request) {
		hangs(w, r)
		close(gone)
	}
	asked := make(chan struct{})
	v := start(t, verifier.Options{
		Config:   verifier.Config{Enabled: true, Webhook: hookAt(serve(t, func(w http.ResponseWriter, r *http.Request) { close(asked); endpoint(w, r) })), Telegram: &chat},
		Telegram: &person{ask: func(context.Context, []verifier.Field) (bool, string, error) { <-asked; return false, "@owner", nil }},
	})
	if got := v.Verify(t.Context(), call()); got.Allow || got.By != "telegram" {
		t.Errorf("Verify = %+v, want telegram's deny", got)
	}
	<-gone
}

// VER-08
func TestTheyAreAskedSideBySide(t *testing.T) {
	hookAsked, personAsked := make(chan struct{}), make(chan struct{})
	v := start(t, verifier.Options{
		Config: verifier.Config{Enabled: true, Telegram: &chat, Webhook: hookAt(serve(t, func(w http.ResponseWriter, r *http.Request) {
			close(hookAsked)
			<-personAsked
			allows(w, r)
		}))},
		Telegram: &person{ask: func(context.Context, []verifier.Field) (bool, string, error) {
			close(personAsked)
			<-hookAsked
			return true, "", nil
		}},
	})
	if got := v.Verify(t.Context(), call()); !got.Allow || got.By != "webhook+telegram" {
		t.Errorf("Verify = %+v, want both to allow", got)
	}
}

// VER-05
func TestACallerThatHasGoneGetsADeny(t *testing.T) {
	for _, mode := range []verifier.FailMode{verifier.Deny, verifier.Allow} {
		asked := make(chan struct{}, 2)
		v := start(t, verifier.Options{Config: verifier.Config{
			Enabled: true, FailMode: mode, Webhook: hookAt(serve(t, func(w http.ResponseWriter, r *http.Request) { asked <- struct{}{}; hangs(w, r) })),
		}})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-asked
			cancel()
		}()
		for range 2 { // the second time ctx has ended before
			got := v.Verify(ctx, call())
			want := engine.Ruling{By: "failMode", Reason: "nobody waits for this call any more", Failed: true}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("failMode %s (-want +got):\n%s", mode, diff)
			}
		}
		if len(asked) != 0 {
			t.Error("the webhook was asked for a caller that had gone before")
		}
	}
}

// A person's time is the configured one, even if the asker overstays it and then allows.
//
// VER-05 VER-07
func TestAPersonsTimeIsUp(t *testing.T) {
	for _, mode := range []verifier.FailMode{verifier.Deny, verifier.Allow} {
		synctest.Test(t, func(t *testing.T) {
			withdrawn := make(chan error, 2)
			v, err := verifier.New(verifier.Options{
				Config: verifier.Config{Enabled: true, FailMode: mode, Telegram: &chat}, Telegram: waits(withdrawn),
			})
			if err != nil {
				t.Fatalf("New: %v", err)
			}
			for range 2 {
				began := time.Now()
				got := v.Verify(t.Context(), call())
				want := engine.Ruling{Allow: mode == verifier.Allow, By: "failMode", Reason: "telegram: no answer within 2m0s", Failed: true}
				if diff := cmp.Diff(want, got); diff != "" || time.Since(began) != verifier.DefaultTelegramTimeout {
					t.Errorf("after %v (-want +got):\n%s", time.Since(began), diff)
				}
				if got := <-withdrawn; got != context.DeadlineExceeded { //nolint:errorlint // the very value is part of Asker's contract
					t.Errorf("the message ended with %v, want %v", got, context.DeadlineExceeded)
				}
			}
			if err := v.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// An asker that does not stop is not waited for by a call, only by Close.
func TestAnAskerThatOverstaysHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		v, err := verifier.New(verifier.Options{
			Config:   verifier.Config{Enabled: true, Telegram: &chat},
			Telegram: &person{ask: func(context.Context, []verifier.Field) (bool, string, error) { <-release; return true, "@late", nil }},
		})
		if err != nil {
			t.Fatalf("New: %v", err)
		}
		if got := v.Verify(t.Context(), call()); got.Allow || !got.Failed {
			t.Errorf("Verify = %+v, want a deny", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := v.Close(ctx); err == nil {
			t.Error("Close = nil while somebody is still being asked")
		}
		close(release)
		if err := v.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
		if got := v.Verify(t.Context(), call()); got.Allow || got.Reason != "the verifier is shutting down" {
			t.Errorf("Verify after Close = %+v, want a deny", got)
		}
	})
}

func TestAnAskerThatPanicsIsAFailure(t *testing.T) {
	for mode, want := range map[verifier.FailMode]bool{verifier.Deny: false, verifier.Allow: true} {
		v := start(t, verifier.Options{
			Config:   verifier.Config{Enabled: true, FailMode: mode, Telegram: &chat},
			Telegram: &person{ask: func(context.Context, []verifier.Field) (bool, string, error) { panic("of the test") }},
		})
		for range 2 {
			if got := v.Verify(t.Context(), call()); got.Allow != want || !got.Failed || strings.Contains(got.Reason, "panic") {
				t.Errorf("failMode %s: Verify = %+v, want allow %v", mode, got, want)
			}
		}
	}
}

// Whoever writes a call must not get past a fail mode that allows by making it impossible
// to send.
//
// VER-05
func TestACallThatCannotBeSentIsDenied(t *testing.T) {
	changes := map[string]func(*engine.Check){
		"parameters that are cut off":  func(c *engine.Check) { c.Params = []byte(`{"command":`) },
		"parameters with a key twice":  func(c *engine.Check) { c.Params = []byte(`{"a":1,"a":2}`) },
		"parameters that are a list":   func(c *engine.Check) { c.Params = []byte(`[1]`) },
		"parameters that are null":     func(c *engine.Check) { c.Params = []byte(`null`) },
		"parameters that are no UTF-8": func(c *engine.Check) { c.Params = []byte("{\"a\":\"\xff\"}") },
		"parameters without end":       func(c *engine.Check) { c.Params = []byte(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`) },
		"parameters that are nested deeply": func(c *engine.Check) {
			c.Params = []byte(`{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`)
		},
		"a session that is no UTF-8": func(c *engine.Check) { c.Session = "\xff" },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			v := start(t, verifier.Options{Config: verifier.Config{
				Enabled: true, FailMode: verifier.Allow, Webhook: hookAt(serve(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); allows(w, r) })),
			}})
			c := call()
			change(&c)
			for range 2 {
				if got := v.Verify(t.Context(), c); got.Allow || !got.Failed || asked.Load() != 0 {
					t.Errorf("Verify = %+v after %d requests, want a deny and none", got, asked.Load())
				}
			}
		})
	}
}

func TestACallWithoutParametersHasNone(t *testing.T) {
	v := start(t, verifier.Options{Config: verifier.Config{Enabled: true, Webhook: hookAt(serve(t, allows))}})
	c := call()
	c.Params = nil
	if got := v.Verify(t.Context(), c); !got.Allow {
		t.Errorf("Verify = %+v, want an allow", got)
	}
}

// VER-03
func TestACallThatIsNotCoveredIsNotAllowedByAsking(t *testing.T) {
	v := start(t, verifier.Options{Config: verifier.Config{Enabled: true, Scope: verifier.Scope{Include: []string{"write"}}, Webhook: hookAt(serve(t, allows))}})
	if got := v.Verify(t.Context(), call()); got.Allow || !got.Failed {
		t.Errorf("Verify = %+v, want a deny", got)
	}
}
