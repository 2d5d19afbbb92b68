package release

import (
	"context"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/format/links"
	"github.com/tidemark/tidemark/internal/llm/format/shown"
)

// Shower decides about the addresses in the texts of one answer: whoever shows it fetches them, or makes links of them.
type Shower interface {
	// Mode is how texts are judged by now; links.Off where nobody but the owner has said anything.
	Mode() links.Mode
	// Show reports whether an address may stand as it is. An error means that it could not be decided; the answer
	// ends there.
	Show(ctx context.Context, address string, image bool) (bool, error)
}

// showing asks about the addresses of one answer.
type showing struct {
	Shower
	ctx context.Context
}

// Show implements shown.Judge.
func (s showing) Show(address string, image bool) (bool, error) {
	return s.Shower.Show(s.ctx, address, image)
}

// filtered reads a stream after its texts were judged.
type filtered struct {
	*shown.Filter
	next reader
}

// reading is how a stream is read: the answer alone sees what the client is to see of the texts.
func (o *Options) reading(ctx context.Context, answer reader) reader {
	if o.Shown == nil {
		return answer
	}
	f := shown.New(o.API, showing{o.Shown, ctx})
	if f == nil {
		return answer
	}
	return &filtered{f, answer}
}

// Event implements reader.
func (f *filtered) Event(ev *format.Event) error {
	if !f.On() {
		return f.next.Event(ev)
	}
	events, err := f.Filter.Event(ev)
	return f.pass(events, err)
}

// End implements reader.
func (f *filtered) End() error {
	if f.On() {
		events, err := f.Filter.End()
		if err = f.pass(events, err); err != nil {
			return err
		}
	}
	return f.next.End()
}

func (f *filtered) pass(events []*format.Event, err error) error {
	for i := 0; err == nil && i < len(events); i++ {
		err = f.next.Event(events[i])
	}
	return err
}

// showing is a whole answer with its texts judged, after everything in it was observed.
func (o *Options) showing(ctx context.Context, body []byte, got format.Outcome) ([]byte, format.Outcome, error) {
	if o.Shown == nil || o.Shown.Mode() == links.Off {
		return body, got, nil
	}
	f := shown.New(o.API, showing{o.Shown, ctx})
	if f == nil {
		return body, got, nil
	}
	out, err := f.Whole(body)
	if err == nil {
		err = f.Parts(got.Parts)
	}
	return out, got, err
}
