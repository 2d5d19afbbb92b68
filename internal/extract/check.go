package extract

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Value is what came out of a text.
type Value struct {
	JSON  string   // as the agent is given it
	Plain []string // the values in it, each spelt in one way: those that may stand in a call again
}

// What may be wrong with an answer. None of it holds anything of the text.
var (
	ErrForm   = errors.New("the model's answer is not of the shape")
	ErrSilent = errors.New("the text does not say")
	// ErrUnsupported is an answer that does not stand in the text.
	ErrUnsupported = errors.New("what the model answered does not stand in the text in a form that can be checked")
)

// Check holds an answer against the shape and the text.
func Check(s *Shape, content, answer string) (Value, error) {
	var got struct {
		Value strictjson.Value `json:"value"`
	}
	if err := strictjson.UnmarshalKnown([]byte(unfenced(answer)), &got); err != nil || len(got.Value) == 0 {
		return Value{}, ErrForm
	}
	c := checking{text: content}
	out, err := c.value(s, got.Value)
	if err != nil {
		return Value{}, err
	}
	if !c.some {
		return Value{}, ErrSilent
	}
	raw, err := strictjson.Marshal(out)
	if err != nil {
		return Value{}, ErrForm
	}
	return Value{string(raw), c.plain}, nil
}

// unfenced is an answer without the marks that models put around JSON.
func unfenced(s string) string {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "```"); ok {
		s = strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(rest, "json")), "```")
	}
	return strings.TrimSpace(s)
}

type checking struct {
	text  string
	some  bool // something was said
	plain []string
	found *found // nil: the text was not looked through yet

	trusts bool // there is no text that it could stand in
}

// stands reports whether a value stands in the text.
func (c *checking) stands(in func(*found) bool) bool { return c.trusts || in(c.in()) }

// in is what stands in the text.
func (c *checking) in() *found {
	if c.found == nil {
		c.found = look(c.text)
	}
	return c.found
}

// value is a part of the answer as it is given on, made anew: nothing of how it was written remains.
func (c *checking) value(s *Shape, raw strictjson.Value) (any, error) {
	switch s.Kind {
	case List:
		return c.list(s, raw)
	case Object:
		return c.object(s, raw)
	}
	if string(raw) == "null" {
		return nil, nil
	}
	c.some = true
	switch s.Kind {
	case Number:
		return c.number(s, raw)
	case Boolean:
		return c.boolean(raw)
	case Row:
		return c.row(raw)
	}
	var word string
	if strictjson.Unmarshal(raw, &word) != nil {
		return nil, ErrForm
	}
	switch s.Kind {
	case Choice:
		return c.choice(s, word)
	case Time:
		return c.moment(s, word, "15:04")
	case Date:
		return c.moment(s, word, time.DateOnly)
	case DateTime:
		return c.moment(s, word, "2006-01-02T15:04")
	}
	return nil, ErrForm
}

func (c *checking) number(s *Shape, raw strictjson.Value) (any, error) {
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsNaN(n) || n < *s.Min || n > *s.Max {
		return nil, ErrForm
	}
	plain := strconv.FormatFloat(math.Abs(n), 'f', -1, 64)
	if !c.stands(func(f *found) bool { return f.numbers[plain] }) {
		return nil, ErrUnsupported
	}
	c.plain = append(c.plain, plain)
	return n, nil
}

func (c *checking) boolean(raw strictjson.Value) (any, error) {
	switch string(raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return nil, ErrForm
}

func (c *checking) row(raw strictjson.Value) (any, error) {
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 0 {
		return nil, ErrForm
	}
	if !c.trusts && n >= len(Rows(c.text)) {
		return nil, ErrUnsupported
	}
	return n, nil
}

func (c *checking) choice(s *Shape, word string) (any, error) {
	if !slices.Contains(s.Of, word) {
		return nil, ErrForm
	}
	if !c.stands(func(f *found) bool { return f.has(word) }) {
		return nil, ErrUnsupported
	}
	c.plain = append(c.plain, word)
	return word, nil
}

// moment is a day, a time of the day, or both.
func (c *checking) moment(s *Shape, word, layout string) (any, error) {
	at, err := time.Parse(layout, word)
	if err != nil || at.Format(layout) != word {
		return nil, ErrForm
	}
	day, clock := at.Format(time.DateOnly), at.Format("15:04")
	if s.Kind != Time {
		if s.From != "" && day < s.From || s.To != "" && day > s.To {
			return nil, ErrForm
		}
		if !c.stands(func(f *found) bool { return f.day(at) }) {
			return nil, ErrUnsupported
		}
		c.plain = append(c.plain, day)
	}
	if s.Kind != Date {
		if !c.stands(func(f *found) bool { return f.clocks[clock] }) {
			return nil, ErrUnsupported
		}
		c.plain = append(c.plain, clock)
	}
	return word, nil
}

func (c *checking) list(s *Shape, raw strictjson.Value) (any, error) {
	var all []strictjson.Value
	if strictjson.Unmarshal(raw, &all) != nil || len(all) > s.Most {
		return nil, ErrForm
	}
	out := make([]any, 0, len(all))
	for _, v := range all {
		got, err := c.value(s.Each, v)
		if err != nil {
			return nil, err
		}
		out = append(out, got)
	}
	return out, nil
}

func (c *checking) object(s *Shape, raw strictjson.Value) (any, error) {
	var all map[string]strictjson.Value
	if strictjson.Unmarshal(raw, &all) != nil {
		return nil, ErrForm
	}
	for name := range all {
		if _, ok := s.Fields[name]; !ok {
			return nil, ErrForm
		}
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Fields)) {
		f, v := s.Fields[name], all[name]
		if len(v) == 0 {
			out[name] = nil
			continue
		}
		got, err := c.value(&f, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = got
	}
	return out, nil
}

// Rows are the entries of a result that is a list, or an object with one list in it, as its server wrote it; nil: it is none.
func Rows(content string) []strictjson.Value {
	var list []strictjson.Value
	if strictjson.Unmarshal([]byte(content), &list) == nil {
		return list
	}
	var in map[string]strictjson.Value
	if strictjson.Unmarshal([]byte(content), &in) != nil {
		return nil
	}
	found := 0
	for _, v := range in {
		var l []strictjson.Value
		if v.Kind() == '[' && strictjson.Unmarshal(v, &l) == nil {
			list, found = l, found+1
		}
	}
	if found != 1 {
		return nil
	}
	return list
}
