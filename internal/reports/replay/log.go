package replay

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/trust"
)

// FromLog reads a session of our own log as a run. The log keeps arguments without secrets and contents of files, unless the
// policy has it keep none; of messages what recording allowed, of results a preview; but of everything its trust, which is held
// to. open opens arguments that are sealed.
func FromLog(name string, records iter.Seq2[audit.Record, error], open func(session, kept string) string) (Run, error) {
	var events []event.Event
	for rec, err := range records {
		if err != nil {
			return Run{}, err
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return Run{}, err
		}
		if e.Decided != nil {
			e.Decided.Args = open(name, e.Decided.Args)
		}
		events = append(events, e)
	}
	l := logReader{run: Run{ID: name}, calls: map[string]*Call{}, asked: map[string][]byte{}, spent: map[string]bool{}}
	for i := range events {
		if d := events[i].Decided; d != nil && d.Spent != "" {
			l.spent[d.Spent] = true
		}
	}
	for i := range events {
		l.add(&events[i])
	}
	if len(events) == 0 {
		return Run{}, fmt.Errorf("session %q has no records", name)
	}
	return l.run, nil
}

type logReader struct {
	run    Run
	sender trust.Sender      // of the last turn
	calls  map[string]*Call  // by call id, or tool where there is none
	asked  map[string][]byte // what questions showed of arguments
	spent  map[string]bool   // questions whose call was made again and let through
}

func (l *logReader) add(e *event.Event) {
	switch e.Kind {
	case event.TurnBegan:
		l.said(e.Began)
	case event.ContextSeen:
		l.census(e.Seen)
	case event.ContractDrawn:
		l.agreed(e.Contract)
	case event.CallDecided:
		if e.Decided.LookUp == "" { // our own look-ups are no part of the run: what was kept of them is too little to bind anything
			l.decided(e.Decided)
		}
	case event.ResultSeen:
		if e.Seen.LookUp == "" {
			l.result(e.Seen)
		}
	case event.TrustReset:
		l.run.Events = append(l.run.Events, Event{Reset: true})
	}
}

// said begins a turn of the sender the log names. What the turn inherited is held to,
// for the sessions it came from are not replayed beside it.
func (l *logReader) said(b *event.Began) {
	l.sender = b.Sender
	if b.HostTools != nil {
		l.run.HostTools = b.HostTools
	}
	if b.ControlTools != nil {
		l.run.ControlTools = b.ControlTools
	}
	s := &Said{Sender: b.Sender, Brings: &b.Label.Level}
	if b.Message != nil && b.Words {
		s.Text, s.Contract = kept(b.Message), contractOf(b.Contract)
	}
	l.run.Events = append(l.run.Events, Event{Said: s})
}

// agreed hands the contract of the latest words in with them, though the log got it later:
// what was understood of them does not depend on when. Only what was understood once more does.
func (l *logReader) agreed(c *event.Contract) {
	if c.Added != nil && c.Failed == "" {
		l.run.Events = append(l.run.Events, Event{Again: &Again{c.Added.Tool, *contractOf(c)}})
		return
	}
	for i := len(l.run.Events) - 1; i >= 0; i-- {
		if s := l.run.Events[i].Said; s != nil && s.Text != nil {
			if s.Contract == nil {
				s.Contract = contractOf(c)
			}
			return
		}
	}
}

// contractOf is a contract as a turn begins with it; one that could not be drawn is none.
func contractOf(c *event.Contract) *intent.Contract {
	if c == nil || c.Failed != "" {
		return nil
	}
	out := &intent.Contract{V: int(c.Form), Opens: c.Opens, Delegates: c.Delegates, Assents: c.Assents, Why: c.Why}
	for _, i := range c.Items {
		it := intent.Item{Tool: i.Tool, Quote: i.Quote, Need: i.Need, Times: i.Times, Per: i.Per, If: i.If, Except: i.Except, Or: i.Or}
		for _, a := range i.Args {
			it.Args = append(it.Args, intent.Arg{Arg: a.Arg, How: a.How, What: a.What, Of: a.Of, Is: a.Is})
		}
		out.Items = append(out.Items, it)
	}
	for _, r := range c.Reads {
		out.Reads = append(out.Reads, intent.Look{What: r})
	}
	for _, f := range c.Follow {
		out.Follow = append(out.Follow, intent.Follow{Source: f, Limit: c.Limits[f]})
	}
	for _, b := range c.Never {
		out.Never = append(out.Never, intent.Ban(b))
	}
	for _, p := range c.Acts {
		out.Acts = append(out.Acts, intent.Promise{Tool: p.Tool, Args: p.Args, Most: p.Most})
	}
	return out
}

// kept is what is left of a text: all of it, its beginning, or nothing.
func kept(c *event.Content) *string {
	text := c.Text
	if text == "" {
		text = c.Preview
	}
	if text == "" {
		return nil
	}
	return &text
}

// census holds to what the host said was in the context.
func (l *logReader) census(s *event.Seen) {
	said := &Said{Sender: l.sender, Brings: &s.Label.Level}
	if s.Content != nil && s.Words {
		said.Text, said.Contract = kept(s.Content), contractOf(s.Contract)
	}
	l.run.Events = append(l.run.Events, Event{Said: said})
}

// decided adds a call. One that was held, approved and made again is one call.
func (l *logReader) decided(d *event.Decided) {
	if d.Ask != nil {
		l.asked[d.Digest.String()] = []byte(d.Ask.Args)
		if l.spent[d.Ask.ID] {
			return
		}
	}
	c := &Call{Tool: d.Tool, Args: l.asked[d.Digest.String()]}
	if c.Args == nil && d.Args != "" {
		c.Args = []byte(d.Args)
	}
	if d.Spent != "" {
		c.Answer = Yes
	}
	if o := d.Opinion; o != nil && o.Kind == "bound" && o.Failed == "" {
		c.Auditor = o.Answer
	}
	if d.Write != nil {
		c.Args = []byte(d.Write.Args)
	}
	if !strictjson.Value(c.Args).IsValid() { // they were not kept, or there was no room for all of them
		c.Args, c.Unkept = []byte("{}"), true
	}
	c.Redacted = bytes.Contains(c.Args, []byte("[REDACTED"))
	l.calls[key(d.CallID, d.Tool)] = c
	l.run.Events = append(l.run.Events, Event{Call: c})
	if !d.Runs() {
		l.run.Events = append(l.run.Events, Event{Result: &Result{Of: c}}) // in case it runs this time
	}
}

func key(id, tool string) string {
	if id != "" {
		return "id " + id
	}
	return "tool " + tool
}

func (l *logReader) result(s *event.Seen) {
	r := &Result{Of: l.calls[key(s.CallID, s.Tool)], Tool: s.Tool, Failed: s.Error, Level: new(trust.Level)}
	*r.Level = s.Label.Level
	if r.Own = s.Steered; r.Own {
		r.Level = nil
	}
	if s.Content != nil {
		if text := kept(s.Content); text != nil {
			r.Content = []byte(*text)
		}
	}
	l.run.Events = append(l.run.Events, Event{Result: r})
}
