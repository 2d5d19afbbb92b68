package tool

import (
	"bytes"

	"github.com/tidemark/tidemark/internal/strictjson"
)

// maxMembers is how many fields of an object are looked up without building a map.
const maxMembers = 8

// member is one field of an object: slices of the raw bytes.
type member struct{ name, value []byte }

// Check reports whether the arguments can be read, the way Fields does, but without
// building anything where the object is small and plain.
func (a *Args) Check() error {
	if a.parsed || a.plain {
		return a.err
	}
	if len(a.raw) == 0 || !strictjson.Valid(a.raw) || !a.split() {
		_, err := a.Fields()
		return err
	}
	a.plain = true
	return nil
}

// Field is one field, decoded on demand; false when there is none or the arguments
// cannot be read (Check says so).
func (a *Args) Field(name string) (any, bool) {
	if a.Check() != nil {
		return nil, false
	}
	if !a.plain {
		v, ok := a.fields[name]
		return v, ok
	}
	for _, m := range a.members[:a.count] {
		if string(m.name) == name {
			return scalar(m.value), true
		}
	}
	return nil, false
}

// scalar decodes a value that is known to be valid and neither object nor list.
func scalar(value []byte) any {
	if value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	var v any
	_ = strictjson.Unmarshal(value, &v)
	return v
}

// split notes where the fields of a valid object are. It gives up on more than
// maxMembers fields, on values that are objects or lists, and on names another parser
// could read differently: those are for Fields to judge.
func (a *Args) split() bool {
	b := bytes.TrimSpace(a.raw)
	if len(b) < 2 || b[0] != '{' {
		return false
	}
	a.count = 0
	for i := 1; ; i++ {
		i = skipSpace(b, i)
		if b[i] == '}' {
			return true
		}
		if b[i] == ',' {
			i = skipSpace(b, i+1)
		}
		end := skipString(b, i)
		name := b[i+1 : end-1]
		if a.count == maxMembers || !plainName(name) {
			return false
		}
		i = skipSpace(b, skipSpace(b, end)+1) // past the colon
		if b[i] == '{' || b[i] == '[' {
			return false
		}
		end = skipScalar(b, i)
		a.members[a.count] = member{name, b[i:end]}
		a.count++
		i = end - 1
	}
}

func plainName(name []byte) bool {
	for _, c := range name {
		if c >= 'A' && c <= 'Z' || c >= 0x80 || c == '\\' {
			return false
		}
	}
	return true
}

func skipSpace(b []byte, i int) int {
	for i < len(b)-1 && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString is the index after the string that starts at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// skipScalar is the index after the string, number or word that starts at i.
func skipScalar(b []byte, i int) int {
	if b[i] == '"' {
		return skipString(b, i)
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case ',', '}', ' ', '\n', '\t', '\r':
			return i
		}
	}
	return i
}
