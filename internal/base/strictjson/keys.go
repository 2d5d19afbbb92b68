package strictjson

import (
	"errors"
	"fmt"
	"strings"
)

// ErrCase is returned for an object whose keys differ only in case: some parsers take
// the one, some the other, some whichever comes last.
var ErrCase = errors.New("keys differ only in case")

// checkCase looks at what was decoded without a type of its own.
func checkCase(v any) error {
	switch v := v.(type) {
	case *map[string]any:
		return checkKeys(*v)
	case *[]any:
		return checkKeys(*v)
	case *any:
		return checkKeys(*v)
	}
	return nil
}

// checkKeys walks a decoded value; checkDepth has bounded how deep it is.
func checkKeys(v any) error {
	switch v := v.(type) {
	case map[string]any:
		if err := distinct(v); err != nil {
			return err
		}
		for _, e := range v {
			if err := checkKeys(e); err != nil {
				return err
			}
		}
	case []any:
		for _, e := range v {
			if err := checkKeys(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func distinct(object map[string]any) error {
	if len(object) < 2 {
		return nil
	}
	var seen map[string]bool // foldings of keys that are not their own folding
	for key := range object {
		f := fold(key)
		if f == key {
			continue
		}
		if _, plain := object[f]; plain || seen[f] {
			return fmt.Errorf("%w: %q", ErrCase, f)
		}
		if seen == nil {
			seen = map[string]bool{}
		}
		seen[f] = true
	}
	return nil
}

// fold maps keys that any parser could take for one another to one spelling. Upper case
// comes first so that letters with two lower-case forms meet.
func fold(key string) string {
	for i := range len(key) {
		if c := key[i]; c >= 'A' && c <= 'Z' || c >= 0x80 {
			return strings.ToLower(strings.ToUpper(key))
		}
	}
	return key
}
