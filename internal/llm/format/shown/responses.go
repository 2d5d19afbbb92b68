package shown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/format/links"
)

// responsesTexts are those of Responses. Each is said in pieces and then again as a whole, in up to four events.
var responsesTexts = &texts{event: (*Filter).responsesEvent, whole: (*Filter).responsesWhole, thinks: true}

// spoken are the texts that come in events of their own: which member of an event has the whole of it, and which counts its parts.
var spoken = map[string]struct{ whole, part string }{
	"output_text":            {"text", "content_index"},
	"refusal":                {"refusal", "content_index"},
	"reasoning_summary_text": {"text", "summary_index"},
	"reasoning_text":         {"text", "content_index"},
}

// partTexts are what they are called in a part or an item.
var partTexts = map[string]struct{ kind, member string }{
	"output_text":    {"output_text", "text"},
	"refusal":        {"refusal", "refusal"},
	"summary_text":   {"reasoning_summary_text", "text"},
	"reasoning_text": {"reasoning_text", "text"},
}

func (f *Filter) responsesEvent(*format.Event) error {
	d := &f.doc
	t, ok := strings.CutPrefix(d.Text(f.get(0, "type")), "response.")
	if !ok {
		return nil
	}
	kind, state, _ := strings.Cut(t, ".")
	at := f.number(0, "output_index")
	if of, ok := spoken[kind]; ok {
		part := f.number(0, of.part)
		switch state {
		case "delta":
			f.spokenAt(kind)
			return f.piece(voice{kind: kind}, at, part, f.get(0, "delta"))
		case "done":
			return f.responsesDone(kind, of.whole, at, part)
		}
		return nil
	}
	switch t { // a text that nobody ended is over then
	case "content_part.done", "reasoning_summary_part.done", "output_item.done", "completed", "incomplete", "failed", "cancelled":
		if err := f.responsesRest(); err != nil {
			return err
		}
	}
	switch t {
	case "content_part.added", "content_part.done", "reasoning_summary_part.added", "reasoning_summary_part.done":
		part := f.number(0, "content_index")
		if strings.HasPrefix(t, "reasoning") {
			part = f.number(0, "summary_index")
		}
		return f.responsesPart(f.get(0, "part"), at, part, true)
	case "output_item.added", "output_item.done":
		return f.responsesItem(f.get(0, "item"), at, true)
	}
	if response := f.get(0, "response"); d.Kind(response) == '{' {
		return f.responsesOutput(response)
	}
	return nil
}

// responsesDone ends a text: what was held of it goes out in an event before, and the whole is what was said.
func (f *Filter) responsesDone(kind, member string, at, part int) error {
	rest, err := f.stop(voice{kind: kind})
	if err != nil {
		return err
	}
	f.spokenAt(kind)
	f.responsesSay(kind, rest)
	return f.repeated(kind, at, part, f.get(0, member))
}

// spokenAt remembers where a text stands, as its events say it.
func (f *Filter) spokenAt(kind string) {
	var members []byte
	for i := range f.doc.Each(0) {
		switch key := string(f.doc.Key(i)); key {
		case "item_id", "output_index", "content_index", "summary_index":
			members = fmt.Appendf(members, "%q:%s,", key, f.doc.Raw(i))
		}
	}
	if kind == "output_text" {
		members = append(members, `"logprobs":[],`...)
	}
	if f.places == nil {
		f.places = map[string][]byte{}
	}
	f.places[kind] = members
}

// responsesSay says what was held of a text, in an event before the one at hand.
func (f *Filter) responsesSay(kind, rest string) {
	if rest == "" {
		return
	}
	members := f.places[kind]
	if n := f.get(0, "sequence_number"); f.doc.Kind(n) == '0' {
		members = fmt.Appendf(slices.Clip(members), `"sequence_number":%s,`, f.doc.Raw(n))
	}
	f.named("response."+kind+".delta", fmt.Appendf(nil, `{"type":"response.%s.delta",%s"delta":%s}`, kind, members, quoted(rest)))
}

// responsesRest says what was held of texts that nobody ended: what comes now is behind them.
func (f *Filter) responsesRest() error {
	for _, v := range f.speaking(-1) {
		rest, err := f.stop(v)
		if err != nil {
			return err
		}
		f.responsesSay(v.kind, rest)
	}
	return nil
}

// repeated puts what was said in the place of a text that is said again.
func (f *Filter) repeated(kind string, at, part, i int) error {
	if f.doc.Kind(i) != '"' {
		return nil
	}
	in := f.doc.Text(i)
	out, err := f.again(voice{kind: kind}, at, part, in)
	if err == nil {
		f.put(i, in, out)
	}
	return err
}

// responsesPart takes a part of an item: again, or where nothing of it was said before.
func (f *Filter) responsesPart(p, at, part int, again bool) error {
	of, ok := partTexts[f.doc.Text(f.get(p, "type"))]
	if !ok {
		return nil
	}
	i := f.get(p, of.member)
	if again {
		return f.repeated(of.kind, at, part, i)
	}
	return f.block(voice{kind: of.kind}, at, part, i)
}

func (f *Filter) responsesItem(item, at int, again bool) error {
	for _, list := range []string{"summary", "content"} {
		part := 0
		for p := range f.doc.Each(f.get(item, list)) {
			if err := f.responsesPart(p, at, part, again); err != nil {
				return err
			}
			part++
		}
	}
	return nil
}

// responsesOutput takes a whole response, which says everything again from the beginning.
func (f *Filter) responsesOutput(response int) error {
	voices, begun := f.voices, f.begun
	f.voices, f.begun = map[voice]*speech{}, map[block]*links.Text{}
	at := 0
	var err error
	for item := range f.doc.Each(f.get(response, "output")) {
		if err = f.responsesItem(item, at, false); err != nil {
			break
		}
		at++
	}
	f.voices, f.begun = voices, begun
	return err
}

func (f *Filter) responsesWhole() error { return f.responsesOutput(0) }
