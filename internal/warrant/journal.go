package warrant

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/tool"
)

// Where whoever keeps a conversation can keep it as it was, its steps leave no hashes: each gives back what it was
// told, and whoever tells a new conversation the same in the same order has the same conversation. What is given
// back holds texts as they were read, so it must be sealed before it is kept.

// exactVersion is the first byte of such a step. It changes with its form.
const exactVersion = 2

// What a step was.
const (
	toldContent = iota + 1
	toldHeard
	toldResult
	toldCall
	toldAsked
	toldRefused
	toldAnswered
	toldLookUp
	toldExtracted
	toldUndone
)

// The bits of a step: what was known after it, and how a result came.
const (
	stepArgued = 1 << iota
	stepOutside
	stepLost
	stepFailed
	stepTainted
	stepTold
	stepLocal
	stepOurs
	stepPrivate
	stepPublic
	stepHeld

	stepAll = stepHeld<<1 - 1
)

// The bounds of a step.
const (
	maxStepParts = 4096
	maxAskedKept = 256 // questions whose calls are remembered
)

// Exact makes steps give back what they were told, instead of hashes of it.
func (c *Context) Exact() { c.memory.exact = true }

// IsExact reports whether a step is one that holds what was told.
func IsExact(step []byte) bool { return len(step) > 0 && step[0] == exactVersion }

// journal is a step as it is kept; nil where nobody keeps any.
func (c *Context) journal(what byte, bits, step uint64, parts ...string) []byte {
	return c.begin(what, bits, step, len(parts), parts...)
}

// begin is the beginning of a step of so many parts, with the first of them.
func (c *Context) begin(what byte, bits, step uint64, count int, parts ...string) []byte {
	if !c.memory.exact || c.memory.again {
		return nil
	}
	for _, f := range []struct {
		on  bool
		bit uint64
	}{{c.argued, stepArgued}, {c.outside, stepOutside}, {c.lost, stepLost}} {
		if f.on {
			bits |= f.bit
		}
	}
	size := 32
	for _, p := range parts {
		size += len(p) + binary.MaxVarintLen64
	}
	b := append(make([]byte, 0, size), exactVersion, what)
	b = binary.AppendUvarint(binary.AppendUvarint(b, bits), step)
	b = binary.AppendUvarint(b, uint64(count)) // it is small
	for _, p := range parts {
		b = append(binary.AppendUvarint(b, uint64(len(p))), p...)
	}
	return b
}

// toldStep is a step that was read back.
type toldStep struct {
	what       byte
	bits, step uint64
	parts      []string
}

func readStep(b []byte) (s toldStep, ok bool) {
	if len(b) < 2 || b[0] != exactVersion {
		return s, false
	}
	s.what, b = b[1], b[2:]
	number := func() uint64 {
		n, size := binary.Uvarint(b)
		if ok = size > 0; !ok {
			return 0
		}
		b = b[size:]
		return n
	}
	if s.bits = number(); !ok || s.bits > stepAll {
		return s, false
	}
	if s.step = number(); !ok {
		return s, false
	}
	n := number()
	if !ok || n > maxStepParts {
		return s, false
	}
	for range n {
		size := number()
		if !ok || size > uint64(len(b)) {
			return s, false
		}
		s.parts, b = append(s.parts, string(b[:size])), b[size:]
	}
	return s, len(b) == 0
}

// again tells a step of before.
func (c *Context) again(b []byte) {
	s, ok := readStep(b)
	if !ok {
		c.Lost()
		return
	}
	c.memory.again = true
	if known := c.tellAgain(&s); !known || s.bits&stepLost != 0 {
		c.Lost()
	}
	c.memory.again = false
	c.argued, c.outside = c.argued || s.bits&stepArgued != 0, c.outside || s.bits&stepOutside != 0
}

// tellAgain tells a step of before as it was told then; false: there is no such step.
func (c *Context) tellAgain(s *toldStep) bool {
	switch n := len(s.parts); {
	case s.what == toldContent && n == 1:
		c.Content(s.parts[0])
	case s.what == toldHeard && n == 1:
		c.Heard(s.parts[0])
	case s.what == toldAnswered && n == 1:
		c.Answered(s.parts[0])
	case s.what == toldLookUp && n == 4:
		args := tool.NewArgs([]byte(s.parts[1]))
		c.Result(Result{
			Tool: s.parts[0], Step: s.step, Args: &args, Content: []byte(s.parts[3]), LookUp: s.parts[2], Failed: s.bits&stepFailed != 0,
		})
	case s.what == toldResult && (n == 3 || n == 4):
		args := tool.NewArgs([]byte(s.parts[1]))
		has := func(bit uint64) bool { return s.bits&bit != 0 }
		readers := Readers{Private: has(stepPrivate), Public: has(stepPublic)}
		if n == 4 {
			readers.Named = strings.Split(s.parts[2], "\n")
		}
		c.Result(Result{
			Tool: s.parts[0], Step: s.step, Args: &args, Content: []byte(s.parts[n-1]), Failed: has(stepFailed), Tainted: has(stepTainted),
			Told: has(stepTold), Local: has(stepLocal), Ours: has(stepOurs), Held: has(stepHeld), Readers: readers,
		})
	case s.what == toldCall && n == 2:
		args := tool.NewArgs([]byte(s.parts[1]))
		c.Did(s.parts[0], &args)
	case s.what == toldAsked && n > 0:
		c.keepAsked(s.parts[0], s.parts[1:])
	case s.what == toldRefused:
		c.Refuse(s.parts...)
	case s.what == toldExtracted && n > 0:
		c.Extracted(s.step, s.parts[0], s.parts[1:])
	default:
		return c.tellUndone(s)
	}
	return true
}

// tellUndone is tellAgain for the step that takes one back.
func (c *Context) tellUndone(s *toldStep) bool {
	if s.what != toldUndone || len(s.parts) != 1 {
		return false
	}
	c.Undone(s.parts[0])
	return true
}

// told is a result as a step: its beginning, and the content that stands behind it.
func (r *Result) told(c *Context) (head, rest []byte) {
	bits := uint64(0)
	for _, f := range []struct {
		on  bool
		bit uint64
	}{{r.Failed, stepFailed}, {r.Tainted, stepTainted}, {r.Told, stepTold}, {r.Local, stepLocal}, {r.Ours, stepOurs},
		{r.Readers.Private, stepPrivate}, {r.Readers.Public, stepPublic}, {r.Held, stepHeld}} {
		if f.on {
			bits |= f.bit
		}
	}
	switch {
	case r.LookUp != "":
		head = c.begin(toldLookUp, bits&stepFailed, r.Step, 4, r.Tool, string(r.Args.Raw()), r.LookUp)
	case len(r.Readers.Named) > 0:
		head = c.begin(toldResult, bits, r.Step, 4, r.Tool, string(r.Args.Raw()), strings.Join(r.Readers.Named, "\n"))
	default:
		head = c.begin(toldResult, bits, r.Step, 3, r.Tool, string(r.Args.Raw()))
	}
	if head == nil {
		return nil, nil
	}
	return binary.AppendUvarint(head, uint64(len(r.Content))), r.Content
}

// asked is the call of a question: the values that are remembered if it is turned down.
type asked struct {
	id     string
	values []string
}

// Asked remembers what stood behind the call of a question, until it is turned down, and returns its trace.
func (c *Context) Asked(id string, w *Warrant) []byte {
	var values []string
	for _, s := range w.Slots {
		if s.Kind != Act && s.Has < Own && len(s.Value) <= 4*maxOwnValue && len(values) < maxStepParts-1 {
			values = append(values, strings.Clone(s.Value))
		}
	}
	c.keepAsked(id, values)
	return c.journal(toldAsked, 0, 0, append([]string{id}, values...)...)
}

// maxOwnValue is how long a value may be that is remembered.
const maxOwnValue = 4096

func (c *Context) keepAsked(id string, values []string) {
	c.asked = slices.DeleteFunc(c.asked, func(a asked) bool { return a.id == id })
	if c.asked = append(c.asked, asked{id, values}); len(c.asked) > maxAskedKept {
		c.asked = slices.Delete(c.asked, 0, 1)
	}
}

// Knows reports whether the call of a question is remembered.
func (c *Context) Knows(id string) bool {
	return slices.ContainsFunc(c.asked, func(a asked) bool { return a.id == id })
}

// Refuse remembers the values of calls that the owner turned down, those that had least behind them, by the ids of
// their questions. It returns their trace.
func (c *Context) Refuse(ids ...string) []byte {
	c.listen()
	t := trace{flags: keptRefused}
	for _, a := range c.asked {
		if !slices.Contains(ids, a.id) {
			continue
		}
		for _, v := range a.values {
			if keep(c.refused, v, 4); c.memory.on && c.refused[valueindex.Normal(v)] {
				t.sums = append(t.sums, c.index.Sum(v))
			}
		}
	}
	c.asked = slices.DeleteFunc(c.asked, func(a asked) bool { return slices.Contains(ids, a.id) })
	switch {
	case c.memory.exact:
		return c.journal(toldRefused, 0, 0, ids...)
	case len(t.sums) > maxOwnKept:
		return nil // one is missing: then nothing is known
	}
	return c.traced(t)
}
