package format

import "slices"

// members reads what stands outside the list.
func (r *Request) members(p *parser) error {
	all := r.fields
	if r.list.key != "" {
		all = append(slices.Clip(all), r.list)
	}
	if err := alike(all); err != nil {
		return err
	}
	for _, f := range r.fields {
		if p.is(f.span, 'n') {
			continue
		}
		p.pool = p.pool[:0]
		if err := r.member(p, f); err != nil {
			return err
		}
	}
	for i, set := range r.sets {
		if i == 0 {
			r.Tools = slices.Clip(set.tools)
			continue
		}
		r.Tools = append(r.Tools, set.tools...)
	}
	return p.err
}

func (r *Request) member(p *parser, f field) error {
	switch {
	case offers(r.API, f.key):
		return r.offer(p, f)
	case outside(r.API, f.key):
		return r.outside(p, f)
	}
	switch f.key {
	case "model":
		r.Model = p.str(f.span, f.key)
	case "stream":
		if r.Stream = p.is(f.span, 't'); !r.Stream && !p.is(f.span, 'f') {
			p.fail(f.span, "stream is neither true nor false")
		}
	case "user":
		r.Hints.User = p.str(f.span, f.key)
	case "safety_identifier":
		if text := p.str(f.span, f.key); r.Hints.User == "" {
			r.Hints.User = text
		}
	case "prompt_cache_key":
		r.Hints.CacheKey = p.str(f.span, f.key)
	case "metadata", "labels":
		r.metadata(p, f)
	case "previous_response_id":
		r.Hints.Previous = p.str(f.span, f.key)
	case "conversation":
		r.Hints.Lasting = true
		if p.is(f.span, '{') {
			r.Hints.Previous = p.object(f.span, f.key).str("id")
		} else {
			r.Hints.Previous = p.str(f.span, f.key)
		}
	}
	return p.err
}

// outside reports whether a member is a message outside the list, or stands for text
// that the provider holds.
func outside(api API, key string) bool {
	switch api {
	case Responses:
		return key == "instructions" || key == "prompt"
	case Messages:
		return key == "system"
	case Gemini:
		return key == "systemInstruction" || key == "cachedContent"
	}
	return false
}

// offer reads a member that offers tools.
func (r *Request) offer(p *parser, f field) error {
	v, err := r.cache.fact(factKey{tenant: r.tenant, api: r.API, kind: f.key}, p.raw(f.span), func() (any, int, error) {
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

func (r *Request) outside(p *parser, f field) error {
	m := Message{Role: System, Start: f.start, End: f.end}
	if f.key == "prompt" || f.key == "cachedContent" {
		m.Role, m.Parts = Unknown, []Part{p.other(f.span)}
		r.Head = append(r.Head, m)
		return nil
	}
	v, err := r.cache.fact(factKey{tenant: r.tenant, api: r.API, kind: f.key}, p.raw(f.span), func() (any, int, error) {
		parts := p.systemParts(f.span)
		size := 0
		for _, part := range parts {
			size += 128 + len(part.Text)
		}
		return parts, size, p.err
	})
	if err != nil {
		return err
	}
	m.Parts, _ = v.([]Part)
	r.Head = append(r.Head, m)
	return nil
}

func (p *parser) systemParts(at span) []Part {
	if p.api == Gemini {
		if p.is(at, '"') { // some servers take a text
			return []Part{{Kind: Text, Text: p.str(at, "systemInstruction")}}
		}
		return p.geminiContent(at).Parts
	}
	return p.content(nil, at, (*parser).block)
}

func (r *Request) metadata(p *parser, f field) {
	if !p.is(f.span, '{') {
		return
	}
	r.Hints.Metadata = map[string]string{}
	q := &parser{b: p.b, api: Chat} // its keys are the client's own: they stay as they are
	for _, m := range q.free(f.span).fields {
		value := string(p.raw(m.span))
		if p.is(m.span, '"') {
			value = string(plainText(p.raw(m.span)))
		}
		r.Hints.Metadata[m.key] = value
	}
}
