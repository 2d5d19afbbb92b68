package mandate

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/pack"
)

// Later are records of results that are read when somebody asks for them first. Most calls are about no record at all, and the records
// of a result take several times its bytes: until then the result itself is kept, and it is what is packed.
type Later struct {
	records *Records
	results []result
	read    int  // how many of them are in records
	size    int  // bytes of results
	gone    bool // they were too many to be kept beside their records
}

// result is what a call brought, as far as records are read of it.
type result struct {
	step       uint64
	tool       string
	call       []string
	formal     []string // what of it says only how many, or is of what its tool lists
	content    []byte
	free, list bool
	text       bool // nothing is called by it: figures are all that counts of it
	figures    []string
	looked     string // the name that we looked up ourselves; empty: the agent asked
	message    int    // for which of the owner's messages we did
}

// resultSize is counted for a result beside its texts.
const resultSize = 160

// NewLater are records of no result yet.
func NewLater() *Later { return &Later{records: NewRecords()} }

// AddPage adds what an address brought, as Records does.
func (l *Later) AddPage(step uint64, tool string, call []string, content []byte) {
	l.add(result{step: step, tool: tool, call: call, text: true, figures: textOf(content).figures})
}

// Add adds what a call brought, as Records does.
func (l *Later) Add(step uint64, tool string, call []string, content []byte, free, list bool) {
	if free && !list && !begins(content) { // then it is a text, and need not be kept
		l.AddPage(step, tool, call, content)
		return
	}
	l.add(result{step: step, tool: tool, call: call, content: content, free: free, list: list})
}

// Formal tells of the call that was added last what Records is told of it.
func (l *Later) Formal(step uint64, values []string) {
	if n := len(l.results); n == 0 || l.read == n {
		l.records.Formal(step, values) // it is read already
		return
	}
	r := &l.results[len(l.results)-1]
	for _, v := range values {
		r.formal = append(r.formal, strings.Clone(v))
		l.size += 16 + len(v)
	}
}

// AddLooked adds what we looked up, as Records does.
func (l *Later) AddLooked(step uint64, tool, name string, message int, content []byte) {
	l.add(result{step: step, tool: tool, looked: strings.Clone(name), message: message, content: content})
}

// add keeps a result, as a copy, until somebody asks; one that is too much to keep is read at once, where it lies.
func (l *Later) add(r result) {
	for i, s := range r.call {
		r.call[i] = strings.Clone(s)
	}
	l.size += r.bytes()
	over := l.gone || l.size > maxSize
	if !over {
		r.content = bytes.Clone(r.content)
	}
	if l.results = append(l.results, r); over {
		l.All()
		l.results, l.read, l.size, l.gone = nil, 0, 0, true
	}
}

func (r *result) bytes() int {
	n := resultSize + len(r.content) + len(r.looked)
	for _, s := range slices.Concat(r.call, r.formal) {
		n += 16 + len(s)
	}
	for _, s := range r.figures {
		n += 16 + len(s)
	}
	return n
}

// addText adds a text that nothing is called by.
func (r *Records) addText(step uint64, tool string, call, figures []string) {
	r.calls[step], r.covers = r.asks(tool, call), map[string]int{}
	r.firsts[step] = len(r.all)
	r.add(Record{step: step, parent: -1, fields: []field{{key: "text", figures: figures}}})
}

// All are the records of everything that was added.
func (l *Later) All() *Records {
	before := len(l.records.all)
	for ; l.read < len(l.results); l.read++ {
		r := &l.results[l.read]
		switch {
		case r.looked != "":
			l.records.AddLooked(r.step, r.tool, r.looked, r.message, r.content)
		case r.text:
			l.records.addText(r.step, r.tool, r.call, r.figures)
		default:
			l.records.Add(r.step, r.tool, r.call, r.content, r.free, r.list)
		}
		l.records.Formal(r.step, r.formal)
	}
	l.records.work.most += recordWork * (len(l.records.all) - before)
	return l.records
}

// Begin gives the next decision its budget.
func (l *Later) Begin(args int) { l.records.Begin(args) }

// Spent reports whether more was taken than there was.
func (l *Later) Spent() bool { return l.records.Spent() }

// Know hands the records the pairs that held before.
func (l *Later) Know(p *Pairs) { l.records.Know(p) }

// Says tells the records what is said of tools.
func (l *Later) Says(tools map[string]string) { l.records.Says(tools) }

// Size is about how many bytes of memory they take.
func (l *Later) Size() int { return l.size + l.records.Size() }

// Packs reports whether they can be packed: the results are still there.
func (l *Later) Packs() bool { return !l.gone }

// Pack writes the results that records are read of.
func (l *Later) Pack(w *pack.Writer) {
	pack.List(w, l.results, func(r *result) {
		w.Uint(r.step)
		w.Text(r.tool)
		w.Texts(r.call)
		w.Texts(r.formal)
		w.Bytes(r.content)
		w.Bool(r.free)
		w.Bool(r.list)
		w.Bool(r.text)
		w.Texts(r.figures)
		w.Text(r.looked)
		w.Int(r.message)
	})
}

// Unpack adds the results that were packed.
func (l *Later) Unpack(r *pack.Reader) {
	l.results = pack.ReadList(r, func(x *result) {
		*x = result{step: r.Uint(), tool: r.Text(), call: r.Texts(), formal: r.Texts(), content: r.Bytes(), free: r.Bool(), list: r.Bool()}
		x.text, x.figures = r.Bool(), r.Texts()
		x.looked, x.message = r.Text(), r.Int()
	})
	for i := range l.results {
		l.size += l.results[i].bytes()
	}
}
