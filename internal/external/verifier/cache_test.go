package verifier_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/external/verifier"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// remembering is a verifier with a cache, a clock that stands still and an endpoint that
// answers what it is told to.
type remembering struct {
	*verifier.Verifier
	t     *testing.T
	now   time.Time
	asked atomic.Int32
	says  atomic.Pointer[http.HandlerFunc]
}

func remember(t *testing.T, change func(*verifier.Config)) *remembering {
	t.Helper()
	r := &remembering{t: t, now: time.Unix(1767225600, 0)}
	r.says.Store(&allows)
	c := verifier.Config{Enabled: true, Cache: 5 * time.Minute, Webhook: hookAt(serve(t, func(w http.ResponseWriter, req *http.Request) {
		r.asked.Add(1)
		(*r.says.Load())(w, req)
	}))}
	if change != nil {
		change(&c)
	}
	r.Verifier = start(t, verifier.Options{Config: c, Now: func() time.Time { return r.now }})
	return r
}

// want makes a call and checks whether it was allowed and whether somebody was asked.
func (r *remembering) want(what string, c engine.Check, allow, asked bool) {
	r.t.Helper()
	before := r.asked.Load()
	got := r.Verify(r.t.Context(), c)
	if now := r.asked.Load() != before; got.Allow != allow || now != asked || got.Cached == asked && allow {
		r.t.Errorf("%s: Verify = %+v, asked %v, want allow %v, asked %v", what, got, now, allow, asked)
	}
	if got.Cached && got.By != "webhook" {
		r.t.Errorf("%s: By = %q, want who allowed it", what, got.By)
	}
}

// VER-12
func TestAnAllowHoldsForTheSameCall(t *testing.T) {
	r := remember(t, nil)
	r.want("first", call(), true, true)
	r.want("again", call(), true, false)
	for name, change := range map[string]func(*engine.Check){
		"another agent":    func(c *engine.Check) { c.Agent = "other" },
		"another provider": func(c *engine.Check) { c.Provider = "mail" },
		"another tool":     func(c *engine.Check) { c.Tool = "bash" },
		"other parameters": func(c *engine.Check) { c.Digest = tool.DigestOf([]byte("rm")) },
		"a worse taint":    func(c *engine.Check) { c.Taint = trust.Shared },
		"no digest":        func(c *engine.Check) { c.Digest = tool.Digest{} },
	} {
		c := call()
		change(&c)
		r.want(name, c, true, true)
	}
	c := call()
	c.Session, c.Branch, c.Tool, c.Taint = "another", "b2", "EXEC", trust.Owner
	r.want("another session, another spelling, a better taint", c, true, false)
	c.Digest = tool.Digest{}
	r.want("no digest again", c, true, true)
}

// VER-12
func TestAnAllowEnds(t *testing.T) {
	r := remember(t, nil)
	r.want("first", call(), true, true)
	r.now = r.now.Add(5*time.Minute - 1)
	r.want("just before the end", call(), true, false)
	r.now = r.now.Add(1)
	r.want("at the end: being used has not made it longer", call(), true, true)
	r.now = r.now.Add(-time.Second)
	r.want("with a clock that went back", call(), true, true)
}

// VER-12
func TestOnlyRealAllowsAreRemembered(t *testing.T) {
	r := remember(t, func(c *verifier.Config) { c.FailMode = verifier.Allow })
	r.says.Store(&denies)
	r.want("a deny", call(), false, true)
	r.want("a deny again", call(), false, true)
	broken := says(500, "")
	r.says.Store(&broken)
	r.want("a failure that allows", call(), true, true)
	r.want("a failure that allows, again", call(), true, true)
	r.says.Store(&allows)
	r.want("an allow", call(), true, true)
	r.want("the allow remembered", call(), true, false)
}

// VER-12
func TestADenyEndsAnEarlierAllow(t *testing.T) {
	r := remember(t, nil)
	r.want("first", call(), true, true)
	r.says.Store(&denies)
	worse := call()
	worse.Taint = trust.Untrusted
	r.want("denied in a worse context", worse, false, true)
	r.want("the old context", call(), false, true)
}

// VER-12
func TestNothingIsRememberedUnlessAsked(t *testing.T) {
	r := remember(t, func(c *verifier.Config) { c.Cache = 0 })
	r.want("first", call(), true, true)
	r.want("again", call(), true, true)
}

// VER-12
func TestTheCacheIsBounded(t *testing.T) {
	v := start(t, verifier.Options{
		Config:   verifier.Config{Enabled: true, Cache: time.Minute, Telegram: &chat},
		Telegram: answers(true, nil), Now: func() time.Time { return time.Unix(1767225600, 0) },
	})
	cached := func(i int) bool {
		c := call()
		c.Digest = tool.DigestOf(fmt.Append(nil, i))
		return v.Verify(t.Context(), c).Cached
	}
	for i := range verifier.MaxRemembered {
		cached(i)
	}
	if !cached(0) { // and now the second is the longest unused
		t.Error("call 0 is forgotten within the bound")
	}
	cached(verifier.MaxRemembered)
	if !cached(0) || !cached(2) || !cached(verifier.MaxRemembered) || cached(1) {
		t.Error("want all but the longest unused to be remembered")
	}
}
