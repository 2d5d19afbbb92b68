// Package extract reads single values out of a text that an agent must not read: numbers, days, times, yes or no, one of several given
// words, the number of an entry, and lists of these (AUD-03). What may come out is fixed before anybody looks at the text; a model without
// tools and history looks, and its answer is held against the shape and against the text. No words of the text come out.
//
// It is pure: whoever has a model asks it.
package extract

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Kind is what a value is. The zero Kind is none.
type Kind string

// The kinds of values.
const (
	Number   Kind = "number"
	Boolean  Kind = "boolean"
	Date     Kind = "date"     // 2006-01-02
	Time     Kind = "time"     // 15:04
	DateTime Kind = "datetime" // 2006-01-02T15:04
	Choice   Kind = "choice"
	Row      Kind = "row" // which entry of the list that the result is, from 0
	List     Kind = "list"
	Object   Kind = "object"
)

// Shape is what may come out of a text. It is closed: nothing of it is chosen by who wrote the text, but which of the values it allows.
type Shape struct {
	Kind   Kind             `json:"kind"`
	Min    *float64         `json:"min,omitzero"`  // of a number
	Max    *float64         `json:"max,omitzero"`  // of a number
	Unit   string           `json:"unit,omitzero"` // of a number, for whoever reads the text
	From   string           `json:"from,omitzero"` // of a date or datetime: the first day; "": any
	To     string           `json:"to,omitzero"`   // the last day
	Of     []string         `json:"of,omitzero"`   // of a choice
	Each   *Shape           `json:"each,omitzero"` // of a list
	Most   int              `json:"most,omitzero"` // of a list
	Fields map[string]Shape `json:"fields,omitzero"`
}

// The bounds of a shape.
const (
	maxChoices = 32
	maxChoice  = 64 // runes of one
	maxList    = 16
	maxFields  = 16
	maxName    = 40
	maxValues  = 32
	maxShape   = 16 << 10
	maxNumber  = 1e15 // above it not every number can be told from its neighbour
)

// ReadShape reads a shape of JSON. What is not closed is refused with words for who wrote it.
func ReadShape(raw []byte) (Shape, error) {
	var s Shape
	if len(raw) > maxShape {
		return s, errors.New("the shape is too long")
	}
	if err := strictjson.UnmarshalKnown(raw, &s); err != nil {
		return s, fmt.Errorf("the shape cannot be read: %w (%s)", err, kinds)
	}
	return s, s.Check()
}

const kinds = `a shape has a kind: number with min and max, boolean, date, time, datetime, choice with of, row, list with each and most, ` +
	`or object with fields; there are no strings`

// Check says what of a shape is not closed.
func (s *Shape) Check() error {
	if err := s.check(0); err != nil {
		return err
	}
	if n := s.values(); n > maxValues {
		return fmt.Errorf("at most %d values come out at once, and these are up to %d", maxValues, n)
	}
	return nil
}

// values is how many values may come out.
func (s *Shape) values() int {
	switch s.Kind {
	case List:
		return s.Most * s.Each.values()
	case Object:
		n := 0
		for _, f := range s.Fields {
			n += f.values()
		}
		return n
	}
	return 1
}

func (s *Shape) check(depth int) error {
	if err := s.extra(); err != nil {
		return err
	}
	switch s.Kind {
	case Number:
		return s.checkNumber()
	case Boolean, Time, Row:
		return nil
	case Date, DateTime:
		return s.checkDays()
	case Choice:
		return s.checkChoice()
	case List:
		return s.checkList(depth)
	case Object:
		return s.checkObject(depth)
	}
	return fmt.Errorf("%.40q is no kind of value: %s", s.Kind, kinds)
}

// extra refuses what belongs to another kind: who wrote it meant something else.
func (s *Shape) extra() error {
	for _, f := range []struct {
		name  string
		on    bool
		kinds []Kind
	}{
		{"min", s.Min != nil, []Kind{Number}}, {"max", s.Max != nil, []Kind{Number}}, {"unit", s.Unit != "", []Kind{Number}},
		{"from", s.From != "", []Kind{Date, DateTime}}, {"to", s.To != "", []Kind{Date, DateTime}}, {"of", s.Of != nil, []Kind{Choice}},
		{"each", s.Each != nil, []Kind{List}}, {"most", s.Most != 0, []Kind{List}}, {"fields", s.Fields != nil, []Kind{Object}},
	} {
		if f.on && !slices.Contains(f.kinds, s.Kind) {
			return fmt.Errorf("%.40q has no %s", s.Kind, f.name)
		}
	}
	return nil
}

func (s *Shape) checkNumber() error {
	switch {
	case s.Min == nil || s.Max == nil:
		return errors.New("a number needs min and max")
	case math.IsNaN(*s.Min) || math.IsNaN(*s.Max) || *s.Min > *s.Max || math.Abs(*s.Min) > maxNumber || math.Abs(*s.Max) > maxNumber:
		return fmt.Errorf("min and max must be in order and within %g", maxNumber)
	case utf8.RuneCountInString(s.Unit) > 12:
		return errors.New("a unit has at most 12 letters")
	}
	return nil
}

func (s *Shape) checkDays() error {
	for _, day := range []string{s.From, s.To} {
		if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
			return fmt.Errorf("%.20q is no day (2006-01-02)", day)
		}
	}
	return nil
}

func (s *Shape) checkChoice() error {
	if len(s.Of) < 2 || len(s.Of) > maxChoices {
		return fmt.Errorf("a choice is of 2 to %d", maxChoices)
	}
	for i, o := range s.Of {
		switch {
		case strings.TrimSpace(o) == "" || utf8.RuneCountInString(o) > maxChoice || !utf8.ValidString(o):
			return fmt.Errorf("what is chosen from has 1 to %d letters", maxChoice)
		case slices.Contains(s.Of[:i], o):
			return fmt.Errorf("%.70q is listed twice", o)
		}
	}
	return nil
}

func (s *Shape) checkList(depth int) error {
	switch {
	case s.Each == nil || s.Most < 1 || s.Most > maxList:
		return fmt.Errorf("a list needs each, and most of 1 to %d", maxList)
	case depth > 1:
		return errors.New("lists and objects stand in one another once")
	}
	return s.Each.check(depth + 1)
}

// letters are what names of fields are made of.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

func (s *Shape) checkObject(depth int) error {
	if len(s.Fields) == 0 || len(s.Fields) > maxFields {
		return fmt.Errorf("an object has 1 to %d fields", maxFields)
	}
	if depth > 1 {
		return errors.New("lists and objects stand in one another once")
	}
	for name, f := range s.Fields {
		if name == "" || len(name) > maxName || strings.Trim(name, letters) != "" {
			return fmt.Errorf("%.50q cannot be the name of a field", name)
		}
		if err := f.check(depth + 1); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
