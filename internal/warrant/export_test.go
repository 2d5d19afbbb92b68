package warrant

import (
	"reflect"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

// PackedTypes are the types of which a conversation is made that can be packed, found from the fields that are.
func PackedTypes() []reflect.Type {
	var out []reflect.Type
	seen := map[reflect.Type]bool{}
	leave := map[string]bool{ // they are told anew, or are worked out
		"vocabulary": true, "shell": true, "station": true, "tools": true, "namings": true, "spelt": true, "room": true, "callables": true, "host": true,
		"others": true, "servers": true, "memory": true, "blank": true, "worded": true, "offers": true, "defined": true, "labelled": true,
		"q": true, "sub": true, "allowed": true, "trees": true, "tracer": true, "kept": true, "prose": true, "lex": true, "tap": true,
		"forms": true, "seed": true,
	}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
			visit(t.Elem())
		case reflect.Struct:
			if seen[t] {
				return
			}
			seen[t] = true
			out = append(out, t)
			for i := range t.NumField() {
				f := t.Field(i)
				derived := t.Name() == "Later" && f.Name == "records" || t.Name() == "Item" && f.Name == "index"
				if !leave[f.Name] && !derived {
					visit(f.Type)
				}
			}
		}
	}
	visit(reflect.TypeFor[Context]())
	return out
}

// Held holds a call against the first item of the latest message, once or once more with a second look: a benchmark
// tells what that costs.
func (c *Context) Held(call *mandate.Call, again bool) bool {
	j := &judging{c: c, w: &Warrant{}}
	m, w := c.agreed.Mandate, world{c: c, strays: map[string]string{}}
	got := m.Cover(call, w, c.records.All())
	return len(got.Missing) == 0 && (!again || j.unmoved(m, got.Item, call, w))
}

// Took is how many steps the rule took for the call that was judged last.
func (c *Context) Took() int { return c.records.All().Took() }

// Lists reports whether a text is nothing but entries.
func Lists(content []byte) bool { return listing(content) }

// Money reports whether a message names a sum.
func Money(low string) bool { return money(low) }
