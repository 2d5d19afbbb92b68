package format

// outline is the members of the request on one side of the list. Places count from the
// start of that side.
type outline struct {
	fields []field
	list   field // before the list: the list itself; its span is the opening bracket
	end    int   // after the list, or where there is none: the place of the closing brace
}

// listKey is the member that holds the conversation.
func listKey(api API) string {
	switch api {
	case Chat, Messages:
		return "messages"
	case Responses:
		return "input"
	case Gemini:
		return "contents"
	}
	return ""
}

// head reads the members before the list. found is false where there is no list: then
// the outline is of the whole body.
func (s *scanner) head(p *parser) (out *outline, found bool, err error) {
	if err := s.expect('{'); err != nil {
		return nil, false, err
	}
	s.depth = 1
	out = &outline{}
	if s.peek() == '}' {
		return out, false, s.finish(out, 0)
	}
	for {
		f, err := s.member(p)
		if err != nil {
			return nil, false, err
		}
		if f.key == listKey(p.api) && s.peek() == '[' {
			f.span = span{s.i, s.i + 1}
			s.i++
			s.depth = 2
			out.list = f
			return out, true, nil
		}
		if f.span, err = s.span(); err != nil {
			return nil, false, err
		}
		out.fields = append(out.fields, f)
		if s.peek() != ',' {
			return out, false, s.finish(out, 0)
		}
		s.i++
	}
}

// rest reads the members after the list, up to the end of the body.
func (s *scanner) rest(p *parser) (*outline, error) {
	base := s.i
	s.depth = 1
	out := &outline{}
	for s.peek() == ',' {
		s.i++
		f, err := s.member(p)
		if err != nil {
			return nil, err
		}
		if f.span, err = s.span(); err != nil {
			return nil, err
		}
		f.at, f.span = f.at-base, f.span.moved(-base)
		out.fields = append(out.fields, f)
	}
	return out, s.finish(out, base)
}

// member steps over a key and its colon.
func (s *scanner) member(p *parser) (field, error) {
	s.space()
	f := field{at: s.i}
	if _, err := s.key(); err != nil {
		return f, err
	}
	f.key = p.name(s.b[f.at:skipText(s.b, f.at)])
	return f, nil
}

// span steps over a value and says where it is.
func (s *scanner) span() (span, error) {
	s.space()
	start := s.i
	err := s.value()
	return span{start, s.i}, err
}

// finish steps over the closing brace; nothing may follow.
func (s *scanner) finish(out *outline, base int) error {
	s.space()
	out.end = s.i - base
	if err := s.expect('}'); err != nil {
		return err
	}
	if s.space(); s.i < len(s.b) {
		return s.fail("something follows the request")
	}
	return nil
}

// size is about how much memory an outline holds.
func (o *outline) size() int {
	n := 64
	for _, f := range o.fields {
		n += 64 + len(f.key)
	}
	return n
}
