package auditor

import (
	"container/list"
	"sync"
)

// lru is a map that forgets what was used longest ago.
type lru[V any] struct {
	max int

	mu    sync.Mutex
	order *list.List               // guarded by mu; newest first
	known map[string]*list.Element // guarded by mu
}

type entry[V any] struct {
	key   string
	value V
}

func newLRU[V any](limit int) *lru[V] {
	return &lru[V]{max: limit, order: list.New(), known: map[string]*list.Element{}}
}

func (l *lru[V]) get(key string) (V, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.known[key]
	if !ok {
		var zero V
		return zero, false
	}
	l.order.MoveToFront(e)
	return e.Value.(*entry[V]).value, true
}

func (l *lru[V]) put(key string, value V) { l.edit(key, func(v *V) { *v = value }) }

// edit changes the value of a key, which starts as the zero value.
func (l *lru[V]) edit(key string, change func(*V)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.known[key]
	if !ok {
		e = l.order.PushFront(&entry[V]{key: key})
		l.known[key] = e
		if l.order.Len() > l.max {
			last := l.order.Back()
			delete(l.known, last.Value.(*entry[V]).key)
			l.order.Remove(last)
		}
	}
	l.order.MoveToFront(e)
	change(&e.Value.(*entry[V]).value)
}
