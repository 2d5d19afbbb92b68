package policy

import (
	"fmt"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// askable is a map in a condition that answers for one key at a time. It cannot be
// listed, compared or turned into anything else: each of these is an error, and a rule
// that errs denies.
type askable struct{}

// Size cannot be known.
func (askable) Size() ref.Val { return errUnlisted() }

// Iterator yields one error, so that a condition that lists the keys in a way the
// compiler did not see fails instead of finding none.
func (askable) Iterator() traits.Iterator { return &unlisted{Val: errUnlisted(), more: true} }

func errUnlisted() ref.Val { return types.NewErr("a map that is asked key by key cannot be listed") }

type unlisted struct {
	ref.Val
	more bool
}

func (u *unlisted) HasNext() ref.Val { return types.Bool(u.more) }

func (u *unlisted) Next() ref.Val {
	u.more = false
	return u.Val
}

// Equal is an error.
func (askable) Equal(ref.Val) ref.Val {
	return types.NewErr("a map that is asked key by key cannot be compared")
}

// ConvertToNative is not possible.
func (askable) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("a map that is asked key by key cannot become %v", t)
}

// ConvertToType knows only that this is a map.
func (askable) ConvertToType(t ref.Type) ref.Val {
	if t == types.TypeType {
		return types.MapType
	}
	return types.NewErr("a map that is asked key by key cannot become %s", t.TypeName())
}

// Type is map.
func (askable) Type() ref.Type { return types.MapType }
