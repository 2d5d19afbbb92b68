package policy

import (
	"fmt"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/tidemark/tidemark/tool"
)

// arguments is the variable args: a map that decodes only the fields a condition asks
// for. Whatever else is done with it works on the whole object.
type arguments tool.Args

var _ traits.Mapper = (*arguments)(nil)

// large reports whether there is more in it than a condition may look through.
func (a *arguments) large() bool { return len((*tool.Args)(a).Raw()) > maxArgs }

// whole is the object as an ordinary map.
func (a *arguments) whole() traits.Mapper {
	fields, err := (*tool.Args)(a).Fields()
	if err != nil {
		fields = nil // openArgs has refused it before
	}
	return types.DefaultTypeAdapter.NativeToValue(fields).(traits.Mapper)
}

// Find is the field of that name.
func (a *arguments) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	if s, ok := (*tool.Args)(a).FieldText(string(name)); ok {
		if len(s) > maxArgs {
			return types.WrapErr(errTooLarge), true
		}
		return types.String(s), true // by far the most
	}
	v, ok := (*tool.Args)(a).Field(string(name))
	if !ok {
		return nil, false
	}
	switch v.(type) {
	case map[string]any, []any:
		if a.large() {
			return types.WrapErr(errTooLarge), true // most of it is in there, for all anybody knows
		}
	}
	return types.DefaultTypeAdapter.NativeToValue(v), true
}

// Get is Find for the index operator; a missing field is an error.
func (a *arguments) Get(key ref.Val) ref.Val {
	if v, ok := a.Find(key); ok {
		return v
	}
	return types.NewErr("no such key: %v", key)
}

// Contains reports whether there is such a field.
func (a *arguments) Contains(key ref.Val) ref.Val {
	_, ok := a.Find(key)
	return types.Bool(ok)
}

// Size is how many fields there are.
func (a *arguments) Size() ref.Val { return a.whole().Size() } // however large they are

// Iterator lists the names.
func (a *arguments) Iterator() traits.Iterator { return a.whole().Iterator() }

// Equal compares whole objects.
func (a *arguments) Equal(other ref.Val) ref.Val {
	if a.large() {
		return types.WrapErr(errTooLarge)
	}
	return a.whole().Equal(other)
}

// ConvertToNative converts the whole object.
func (a *arguments) ConvertToNative(t reflect.Type) (any, error) {
	if a.large() {
		return nil, errTooLarge
	}
	v, err := a.whole().ConvertToNative(t)
	if err != nil {
		return nil, fmt.Errorf("convert arguments: %w", err)
	}
	return v, nil
}

// ConvertToType knows maps.
func (a *arguments) ConvertToType(t ref.Type) ref.Val {
	if a.large() {
		return types.WrapErr(errTooLarge)
	}
	return a.whole().ConvertToType(t)
}

// Type is map.
func (a *arguments) Type() ref.Type { return types.MapType }

// Value is the plain map.
func (a *arguments) Value() any { return a.whole().Value() }
