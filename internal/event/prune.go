package event

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Prune takes something out of an event, and says so in it. It reports whether there was anything to take out.
// What the state of a session is folded from stays, so that nothing is trusted more for it; where judgement
// would need what is gone, it is told that it is (Forgot).
func (e *Event) Prune(what ...string) bool {
	if slices.Contains(what, PruneEvents) {
		what = PruneKinds()
	}
	var out []string
	for _, kind := range PruneKinds() {
		if !slices.Contains(what, kind) || slices.Contains(e.Pruned, kind) {
			continue
		}
		before, err := e.Body()
		if err != nil {
			continue // it could not be written back either
		}
		e.prune(kind)
		after, err := e.Body()
		if err == nil && (string(after) != string(before) || kind == PruneEvents) { // of which nothing more can be taken
			out = append(out, kind)
		}
	}
	e.Pruned = append(e.Pruned, out...)
	return len(out) > 0
}

// Forgot reports whether something that was pruned was of use to judgement.
func (e *Event) Forgot() bool {
	return slices.Contains(e.Pruned, PruneContent)
}

func (e *Event) prune(what string) {
	switch what {
	case PruneContent:
		e.pruneContent()
	case PruneArguments:
		e.pruneArguments()
	case PrunePreviews:
		e.prunePreviews()
	case PruneEvents:
		e.pruneRest()
	}
}

// Unseal takes what is sealed in an event out of it, keys included: it is for no eyes but judgement's.
func (e *Event) Unseal() {
	e.pruneContent()
	if d := e.Decided; d != nil && strings.HasPrefix(d.Args, SealedMark) {
		d.Args = ""
	}
}

// SealedMark begins arguments that are kept sealed; JSON has no such beginning.
const SealedMark = "~"

func (e *Event) pruneContent() {
	e.Key = ""
	if e.Began != nil {
		e.Began.Trace = ""
	}
	if e.Seen != nil {
		e.Seen.Trace = ""
	}
	if e.Answer != nil {
		e.Answer.Trace = ""
	}
	if d := e.Decided; d != nil {
		d.Trace = ""
		if d.Ask != nil {
			d.Ask.Code, d.Ask.Bodies = "", ""
		}
	}
}

func (e *Event) pruneArguments() {
	if e.Box != nil {
		e.Box.Report = ""
	}
	e.Pair.prune()
	if e.Answer != nil {
		e.Answer.What = ""
	}
	d := e.Decided
	if d == nil {
		return
	}
	d.Args, d.Temp = "", nil
	if d.Write != nil {
		d.Write.Args = ""
	}
	if a := d.Ask; a != nil {
		a.Args, a.Bodies, a.Values, a.Pairs = "", "", nil, nil
	}
}

func (e *Event) prunePreviews() {
	if b := e.Began; b != nil {
		b.Message.prune()
		b.Label, b.Contract = unsourced(b.Label), b.Contract.pruned()
	}
	if s := e.Seen; s != nil {
		s.Author, s.Readers = "", ""
		s.Content.prune()
		s.Label, s.Contract = unsourced(s.Label), s.Contract.pruned()
	}
	if e.Model != nil {
		e.Model.Content.prune()
	}
	if e.Decided != nil && e.Decided.Ask != nil {
		e.Decided.Ask.Words, e.Decided.Ask.Sources = nil, nil
	}
	e.Contract = e.Contract.pruned()
	if e.Task != nil && e.Task.Rules != "" {
		e.Task = &Task{Words: e.Task.Words, Failed: gone}
	}
}

// gone is why something cannot be read any more.
const gone = "it was pruned"

// prune leaves the hash and the size of a text.
func (c *Content) prune() {
	if c != nil {
		c.Preview, c.Text, c.Sealed = "", "", nil
	}
}

// hollow is that there was a text.
func (c *Content) hollow() *Content {
	if c == nil {
		return nil
	}
	return &Content{}
}

func (c *Contract) pruned() *Contract {
	if c == nil || len(c.Acts)+len(c.Items)+len(c.Reads)+len(c.Follow)+len(c.Never) == 0 && c.Why == "" {
		return c
	}
	return &Contract{Word: c.Word, Failed: gone}
}

// unsourced is a label without the words of its sources.
func unsourced(l trust.Label) trust.Label {
	l.Sources = slices.Clone(l.Sources)
	for i := range l.Sources {
		s := &l.Sources[i]
		s.Excerpt, s.Detail, s.Author, s.Readers = "", "", "", ""
	}
	return l
}

// pruneRest leaves what a state is folded from.
func (e *Event) pruneRest() {
	if b := e.Began; b != nil {
		b.Sender = trust.Sender{SpawnedBy: b.Sender.SpawnedBy, Provider: b.Sender.Provider, IsOwner: b.Sender.IsOwner}
		b.Message, b.Label.Sources = b.Message.hollow(), nil
	}
	if s := e.Seen; s != nil {
		s.Content, s.Label.Sources, s.Digest, s.Reason = s.Content.hollow(), nil, nil, ""
		s.Author, s.Readers = "", ""
	}
	if m := e.Model; m != nil {
		m.Content, m.Output, m.Reason = nil, nil, ""
	}
	if d := e.Decided; d != nil {
		d.Reason, d.Warrant, d.Shadow, d.Opinion, d.Ruling = "", "", nil, d.Opinion.bare(), nil
		if d.Ask != nil {
			d.Ask.Act, d.Ask.CodeHash = "", tool.Digest{}
		}
	}
	if b := e.Box; b != nil { // a ticket without its command opens nothing; that it was used stays
		b.CallID, b.Command, b.Workspace, b.PID, b.Report, b.Ordered = "", "", "", 0, "", nil
	}
	if a := e.Answer; a != nil {
		a.By, a.Via, a.Reason, a.Proof = "", "", "", nil
	}
}

// bare is what counts of an opinion: which acts were asked about in the task, and what was answered.
func (o *Opinion) bare() *Opinion {
	if o == nil || o.Key == "" {
		return nil
	}
	return &Opinion{Kind: o.Kind, Answer: o.Answer, Failed: o.Failed, Cached: o.Cached, Settled: o.Settled, Key: o.Key, Item: o.Item}
}

// Sizes are about how many bytes of the event are what can be pruned, by kind.
func (e *Event) Sizes() map[string]int64 {
	n := map[string]int64{PruneContent: int64(len(e.Key)), PruneEvents: 1}
	if slices.Contains(e.Pruned, PruneEvents) {
		n[PruneEvents] = 0
	}
	if _, trace := e.Trace(); trace != "" {
		n[PruneContent] += int64(len(trace))
	}
	text := func(c *Content) {
		if c != nil {
			n[PrunePreviews] += int64(len(c.Preview) + len(c.Text) + 32*len(c.Sealed))
		}
	}
	label := func(l trust.Label) {
		for _, s := range l.Sources {
			n[PrunePreviews] += int64(len(s.Excerpt) + len(s.Detail))
		}
	}
	if e.Began != nil {
		text(e.Began.Message)
		label(e.Began.Label)
	}
	if e.Seen != nil {
		text(e.Seen.Content)
		label(e.Seen.Label)
	}
	if e.Model != nil {
		text(e.Model.Content)
	}
	e.callSizes(n)
	n[PruneEvents] *= 256 + n[PruneContent] + n[PruneArguments] + n[PrunePreviews]
	return n
}

func (e *Event) callSizes(n map[string]int64) {
	if p := e.Pair; p != nil {
		n[PruneArguments] += int64(len(p.Name) + len(p.Said) + len(p.Value) + len(p.Person))
	}
	if e.Answer != nil {
		n[PruneArguments] += int64(len(e.Answer.What))
	}
	d := e.Decided
	if d == nil {
		return
	}
	n[PruneArguments] += int64(len(d.Args))
	for _, name := range d.Temp {
		n[PruneArguments] += int64(len(name))
	}
	if d.Write != nil {
		n[PruneArguments] += int64(len(d.Write.Args))
	}
	if d.Ask == nil {
		return
	}
	n[PruneArguments] += int64(len(d.Ask.Args))
	for _, v := range d.Ask.Values {
		n[PruneArguments] += int64(len(v.Value) + len(v.Why))
	}
	for _, p := range d.Ask.Pairs {
		n[PruneArguments] += int64(len(p.Name) + len(p.Said) + len(p.Value) + len(p.Person))
	}
	for _, w := range d.Ask.Words {
		n[PrunePreviews] += int64(len(w.Text))
	}
	for _, s := range d.Ask.Sources {
		n[PrunePreviews] += int64(len(s.Excerpt) + len(s.Detail))
	}
	n[PruneContent] += int64(len(d.Ask.Code))
}

// Keeping makes of a call's arguments what the log keeps of them, when its record is written. The zero value keeps what is there.
type Keeping struct{ args func(d *Decided) string }

// KeepBy has a function say what is kept.
func KeepBy(args func(d *Decided) string) *Keeping { return &Keeping{args} }
