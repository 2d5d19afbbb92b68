package verifier

import (
	"container/list"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// maxRemembered is how many allows are kept; the longest unused goes first.
const maxRemembered = 4096

// cacheKey is what must be the same for an allow to hold again. The session is not part
// of it: an allow is for an agent doing this exact thing, for a short time. The provider
// is: over another channel other people speak.
type cacheKey struct {
	agent, provider, tool string
	digest                tool.Digest
}

func keyOf(c engine.Check) cacheKey {
	return cacheKey{c.Agent, c.Provider, c.Tool, c.Digest}
}

// allowed is one remembered allow.
type allowed struct {
	key   cacheKey
	taint trust.Level // of the context it was given in
	by    string
	from  time.Time
	until time.Time
}

// cache remembers allows. The zero cache is empty and ready.
type cache struct {
	mu    sync.Mutex
	byKey map[cacheKey]*list.Element // guarded by mu
	used  list.List                  // guarded by mu; *allowed, latest first
}

// get reports who allowed the call, if that still holds. Being used does not make an
// allow last longer; a clock that went back ends it.
func (c *cache) get(k cacheKey, taint trust.Level, now time.Time) (by string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[k]
	if e == nil {
		return "", false
	}
	a := e.Value.(*allowed)
	if now.Before(a.from) || !now.Before(a.until) {
		c.remove(e)
		return "", false
	}
	if taint.Distrust() > a.taint.Distrust() {
		return "", false
	}
	c.used.MoveToFront(e)
	return a.by, true
}

func (c *cache) put(k cacheKey, taint trust.Level, by string, now time.Time, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[k]; e != nil {
		c.remove(e)
	}
	if c.byKey == nil {
		c.byKey = map[cacheKey]*list.Element{}
	}
	c.byKey[k] = c.used.PushFront(&allowed{k, taint, by, now, now.Add(keep)})
	if c.used.Len() > maxRemembered {
		c.remove(c.used.Back())
	}
}

// drop forgets an allow, because the same call was denied since.
func (c *cache) drop(k cacheKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[k]; e != nil {
		c.remove(e)
	}
}

// remove needs c.mu.
func (c *cache) remove(e *list.Element) {
	c.used.Remove(e)
	delete(c.byKey, e.Value.(*allowed).key)
}
