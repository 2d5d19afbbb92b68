package tool

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
	if a.plain = a.split(); a.plain {
		return nil
	}
	_, err := a.Fields()
	return err
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

// FieldText is Field for a text in a small, plain object; false for everything else.
func (a *Args) FieldText(name string) (string, bool) {
	if a.Check() != nil || !a.plain {
		return "", false
	}
	for _, m := range a.members[:a.count] {
		if string(m.name) == name && m.value[0] == '"' {
			return string(m.value[1 : len(m.value)-1]), true
		}
	}
	return "", false
}

// scalar decodes a value that split has passed.
func scalar(value []byte) any {
	switch value[0] {
	case '"':
		return string(value[1 : len(value)-1])
	case 't':
		return true
	case 'f':
		return false
	case 'n':
		return nil
	}
	n := 0 // at most 15 digits, which a float64 holds exactly
	for _, c := range value {
		n = 10*n + int(c-'0')
	}
	return float64(n)
}

// gather makes the object of what split found.
func (a *Args) gather() map[string]any {
	out := make(map[string]any, a.count)
	for _, m := range a.members[:a.count] {
		if m.value[0] == '"' {
			out[a.part(m.name)] = a.part(m.value[1 : len(m.value)-1])
		} else {
			out[a.part(m.name)] = scalar(m.value)
		}
	}
	return out
}

// part is a part of the raw bytes as text. All of them are parts of one string.
func (a *Args) part(b []byte) string {
	if a.text == "" {
		a.text = string(a.raw)
	}
	at := cap(a.raw) - cap(b) // both end where the raw bytes do, so what is left tells where they begin
	return a.text[at : at+len(b)]
}

// Plain visits the fields of a small, plain object as they stand there, a text without its
// quotes, until visit is false. It is false for any other arguments: of those Fields tells.
func (a *Args) Plain(visit func(name, value string, quoted bool) bool) bool {
	if a.Check() != nil || !a.plain {
		return false
	}
	for _, m := range a.members[:a.count] {
		value, quoted := m.value, m.value[0] == '"'
		if quoted {
			value = value[1 : len(value)-1]
		}
		if !visit(a.part(m.name), a.part(value), quoted) {
			break
		}
	}
	return true
}

// split notes where the fields of an object are. It takes only what every parser reads
// alike: few fields, plain names that differ, strings of plain characters, numbers and
// words. Everything else is for Fields to judge.
func (a *Args) split() bool {
	b, i := a.raw, skipSpace(a.raw, 0)
	if i == len(b) || b[i] != '{' {
		return false
	}
	a.count = 0
	for i = skipSpace(b, i+1); i < len(b); {
		if b[i] == '}' && a.count == 0 {
			return skipSpace(b, i+1) == len(b)
		}
		name := plainString(b, i)
		colon := skipSpace(b, i+len(name))
		if len(name) == 0 || a.count == maxMembers || colon == len(b) || b[colon] != ':' || !a.isNew(name[1:len(name)-1]) {
			return false
		}
		i = skipSpace(b, colon+1)
		value := plainScalar(b, i)
		if len(value) == 0 {
			return false
		}
		a.members[a.count] = member{name[1 : len(name)-1], value}
		a.count++
		i = skipSpace(b, i+len(value))
		if i < len(b) && b[i] == '}' {
			return skipSpace(b, i+1) == len(b)
		}
		if i == len(b) || b[i] != ',' {
			return false
		}
		i = skipSpace(b, i+1)
	}
	return false
}

// isNew reports whether the name is one that no other field has, in whatever case.
func (a *Args) isNew(name []byte) bool {
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			return false
		}
	}
	for _, m := range a.members[:a.count] {
		if string(m.name) == string(name) {
			return false
		}
	}
	return true
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// plainString is the string at i with its quotes, or nothing if it holds an escape or
// anything but printable ASCII.
func plainString(b []byte, i int) []byte {
	if i >= len(b) || b[i] != '"' {
		return nil
	}
	for j := i + 1; j < len(b); j++ {
		switch c := b[j]; {
		case c == '"':
			return b[i : j+1]
		case c < 0x20 || c >= 0x7f || c == '\\':
			return nil
		}
	}
	return nil
}

// plainScalar is the string, whole number or word at i, or nothing.
func plainScalar(b []byte, i int) []byte {
	if i >= len(b) {
		return nil
	}
	if b[i] == '"' {
		return plainString(b, i)
	}
	j := i
	for j < len(b) && (b[j] >= '0' && b[j] <= '9' || b[j] >= 'a' && b[j] <= 'z') {
		j++
	}
	v := b[i:j]
	switch {
	case string(v) == "true", string(v) == "false", string(v) == "null":
		return v
	case len(v) == 0 || len(v) > 15 || v[0] == '0' && len(v) > 1:
		return nil
	}
	for _, c := range v {
		if c < '0' || c > '9' {
			return nil
		}
	}
	return v
}
