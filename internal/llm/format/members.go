package format

import (
	"slices"
	"strings"
)

// members reads what stands outside the list.
func (r *Request) members(p *parser) error {
	all := r.fields
	if r.list.key != "" {
		all = append(slices.Clip(all), r.list)
	}
	if err := checkKeys(all); err != nil {
		return err
	}
	for _, f := range r.fields {
		if p.isNull(f.span) {
			continue
		}
		if err := r.member(p, f); err != nil {
			return err
		}
	}
	for i, set := range r.sets {
		if i == 0 && len(r.Tools) == 0 {
			r.Tools = slices.Clip(set.tools)
			continue
		}
		r.Tools = append(r.Tools, set.tools...)
	}
	return p.err
}

// searches reports whether a model's name says that it looks things up by itself.
func searches(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	return strings.HasSuffix(model, ":online") || strings.Contains(model, "-search-preview") || strings.Contains(model, "-search-api") ||
		strings.HasPrefix(name, "sonar") || strings.HasPrefix(name, "compound")
}

func (r *Request) member(p *parser, f field) error {
	d := r.dialect
	switch {
	case slices.Contains(d.offers, f.key):
		return r.offer(p, f)
	case d.system != "" && f.key == d.system:
		return r.prompt(p, f)
	case d.stored != "" && f.key == d.stored: // text that the provider holds
		held := Part{Kind: Other, Text: string(p.b[f.Start:f.End])}
		r.Head = append(r.Head, Message{Role: Unknown, Parts: []Part{held}, Start: f.Start, End: f.End})
		return nil
	}
	if _, ok := d.plain[f.key]; d.plain != nil && !ok && p.wants(f.span) && len(r.Odd) < maxOdd {
		r.Odd = append(r.Odd, f.key)
	}
	r.hint(p, f)
	return p.err
}

// maxOdd is how many members that are not known are kept: one is enough to ask.
const maxOdd = 16

// wants reports whether a value turns something on: a number, a no and an empty list turn on nothing.
func (p *parser) wants(at span) bool {
	switch text := string(p.b[at.Start:at.End]); text {
	case "false", "\"\"", "[]", "{}", `"none"`, `"off"`, `"disabled"`:
		return false
	default:
		return strings.IndexByte(`"[{t`, text[0]) >= 0
	}
}

// hint reads what a request says of itself.
func (r *Request) hint(p *parser, f field) {
	switch f.key {
	case "model":
		r.Model = p.str(p.load(f.span), f.key)
		if r.dialect.hidesHosted && searches(r.Model) {
			r.Tools = append(r.Tools, webSearch)
		}
	case "stream":
		value := p.load(f.span)
		if r.Stream = p.is(value, 't'); !r.Stream && !p.is(value, 'f') {
			p.failAt(f.span, "stream is neither true nor false")
		}
	case "container":
		r.Reused = true
	case "anthropic_version":
		r.Hints.Version = p.str(p.load(f.span), f.key)
	case "user":
		r.Hints.User = p.str(p.load(f.span), f.key)
	case "safety_identifier":
		if text := p.str(p.load(f.span), f.key); r.Hints.User == "" {
			r.Hints.User = text
		}
	case "prompt_cache_key":
		r.Hints.CacheKey = p.str(p.load(f.span), f.key)
	case "metadata", "labels":
		r.metadata(p, f)
	case "previous_response_id":
		r.Hints.Previous = p.str(p.load(f.span), f.key)
	case "conversation":
		r.Hints.Lasting = true
		if value := p.load(f.span); p.is(value, '{') {
			r.Hints.Previous = p.object(value, f.key).str("id")
		} else {
			r.Hints.Previous = p.str(value, f.key)
		}
	}
}

// offer reads a member that offers tools.
func (r *Request) offer(p *parser, f field) error {
	v, err := r.cache.fact(factKey{tenant: r.tenant, api: r.API, kind: f.key}, p.b[f.Start:f.End], func() (any, int, error) {
		set := p.toolset(f.key, f.span)
		return set, set.bytes, p.err
	})
	if err != nil {
		return err
	}
	set, _ := v.(toolset)
	r.sets = append(r.sets, offer{f, set})
	return nil
}

// prompt reads the system prompt.
func (r *Request) prompt(p *parser, f field) error {
	v, err := r.cache.fact(factKey{tenant: r.tenant, api: r.API, kind: f.key}, p.b[f.Start:f.End], func() (any, int, error) {
		parts := r.dialect.prompt(p, p.load(f.span))
		size := 0
		for _, part := range parts {
			size += 128 + len(part.Text)
		}
		return parts, size, p.err
	})
	if err != nil {
		return err
	}
	m := Message{Role: System, Start: f.Start, End: f.End}
	m.Parts, _ = v.([]Part)
	r.Head = append(r.Head, m)
	return nil
}

func (r *Request) metadata(p *parser, f field) {
	if p.b[f.Start] != '{' {
		return
	}
	r.Hints.Metadata = map[string]string{}
	q := newParser(p.b, &dialect{}) // its keys are the client's own: they stay as they are
	for _, m := range q.free(q.load(f.span)).fields {
		value := string(q.raw(m.value))
		if q.is(m.value, '"') {
			value = q.doc.Text(m.value)
		}
		r.Hints.Metadata[m.key] = value
	}
}
