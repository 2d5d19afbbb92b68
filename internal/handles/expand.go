package handles

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/extract"
	"github.com/tidemark/tidemark/tool"
)

// ErrPart is returned for a handle that is not a whole value.
var ErrPart = errors.New("a handle has to be the whole value of an argument: no text around it, and not the name of one")

// ErrField is returned for a field that an entry does not have.
var ErrField = errors.New("what is kept has no such entry, or the entry no such field with a single value")

// Expand is a call with what its handles stand for, and what that is. A call without any is returned as it is, and so is one of a session
// in which nothing is kept: there the name of a handle is a text like any other.
func (d *Desk) Expand(session string, call tool.Call) (tool.Call, []engine.Kept, error) {
	if d == nil || !bytes.Contains(call.Args, []byte(engine.HandlePrefix)) || !d.keeps(session) {
		return call, nil, nil
	}
	var out bytes.Buffer
	e := expanding{desk: d, session: session, from: jsontext.NewDecoder(bytes.NewReader(call.Args)), to: jsontext.NewEncoder(&out)}
	if err := e.copy(); err != nil {
		return call, nil, err
	}
	call.Args = bytes.TrimSpace(out.Bytes())
	return call, e.used, nil
}

// keeps reports whether anything of a session is kept.
func (d *Desk) keeps(session string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.kept[session]) > 0
}

type expanding struct {
	desk    *Desk
	session string
	from    *jsontext.Decoder
	to      *jsontext.Encoder
	used    []engine.Kept
}

func (e *expanding) copy() error {
	for {
		t, err := e.from.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if t.Kind() == '"' && strings.Contains(t.String(), engine.HandlePrefix) {
			within, n := e.from.StackIndex(e.from.StackDepth())
			if within == '{' && n%2 == 1 {
				return ErrPart
			}
			text, err := e.value(t.String())
			if err != nil {
				return err
			}
			t = jsontext.String(text)
		}
		if err := e.to.WriteToken(t); err != nil {
			return err
		}
	}
}

// value is what a handle stands for.
func (e *expanding) value(s string) (string, error) {
	if !engine.IsHandle(s) {
		return "", ErrPart
	}
	name, field, some := strings.Cut(s, "#")
	if strings.Trim(strings.TrimPrefix(name, engine.HandlePrefix), "0123456789") != "" || name == engine.HandlePrefix {
		return "", ErrPart
	}
	h, err := e.desk.find(e.session, name)
	if err != nil {
		return "", err
	}
	e.used = append(e.used, h.Kept)
	if !some {
		return h.content, nil
	}
	return fieldOf(h.content, field)
}

// fieldOf is a single value of an entry: 0.id, 3.from.address.
func fieldOf(content, path string) (string, error) {
	at, rest, _ := strings.Cut(path, ".")
	n, err := strconv.Atoi(at)
	rows := extract.Rows(content)
	if err != nil || n < 0 || n >= len(rows) || rest == "" {
		return "", ErrField
	}
	v := rows[n]
	for name := range strings.SplitSeq(rest, ".") {
		var in map[string]strictjson.Value
		if strictjson.Unmarshal(v, &in) != nil || len(in[name]) == 0 {
			return "", ErrField
		}
		v = in[name]
	}
	switch v.Kind() {
	case '"':
		var s string
		err := strictjson.Unmarshal(v, &s)
		return s, err
	case '0', 't', 'f':
		return string(v), nil
	}
	return "", ErrField
}
