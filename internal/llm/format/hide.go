package format

// hider is what a change of the tools comes to: what goes, and what is left to choose.
type hider struct {
	all    bool
	hidden map[string]bool
	left   map[string]bool // names of tools that stay
	full   map[string]bool // members that still offer something
}

func (h *hider) hides(name string) bool { return h.all || name != "" && h.hidden[name] }

// goes reports whether a branch goes as a whole.
func (h *hider) goes(b branch) bool {
	if len(b.kids) == 0 {
		return h.hides(b.name)
	}
	for _, k := range b.kids {
		if !h.goes(k) {
			return false
		}
	}
	return true
}

// tools removes tools and repairs what refers to them.
func (e *editor) tools(edit Edit) {
	h := &hider{all: edit.NoTools, hidden: map[string]bool{}, left: map[string]bool{}, full: map[string]bool{}}
	for _, name := range edit.Hide {
		h.hidden[name] = true
	}
	changed := false
	for _, set := range e.r.sets {
		for _, t := range set.tools {
			if h.hides(t.Name) {
				changed = true
				continue
			}
			h.left[t.Name] = true
			h.full[set.key] = true
		}
	}
	if !changed {
		return
	}
	for _, set := range e.r.sets {
		e.hideFrom(h, set)
	}
	e.choices(h)
}

func (e *editor) hideFrom(h *hider, set offer) {
	if len(set.tools) == 0 {
		return
	}
	// Anthropic takes an empty list, and wants one while calls stand in the messages.
	keepsEmpty := e.r.API == Messages && set.key == "tools"
	if !h.full[set.key] && !keepsEmpty {
		e.gone[set.key] = true
		return
	}
	e.prune(h, set.kids, set.start)
}

// prune removes those branches that go, and looks into those that stay.
func (e *editor) prune(h *hider, kids []branch, base int) {
	spans := make([]span, len(kids))
	for i, k := range kids {
		spans[i] = k.at.moved(base)
		if !h.goes(k) {
			e.prune(h, k.kids, base)
		}
	}
	e.siblings(spans, func(i int) bool { return h.goes(kids[i]) })
}

// choices repairs what the client says about which tool to take.
func (e *editor) choices(h *hider) {
	switch e.r.API {
	case Chat:
		e.choice(h, h.full["tools"])
		e.legacyChoice(h)
	case Responses:
		e.choice(h, h.full["tools"])
	case Messages:
		e.anthropicChoice(h)
	case Gemini:
		e.geminiChoice(h)
	}
}

// choice repairs tool_choice of OpenAI. "required" stays while there is a tool to take.
func (e *editor) choice(h *hider, some bool) {
	if !some {
		e.gone["tool_choice"] = true
		e.gone["parallel_tool_calls"] = true
		return
	}
	f, ok := e.field("tool_choice")
	if !ok || !e.p.is(f.span, '{') {
		return
	}
	o := e.p.object(f.span, "tool_choice")
	if o.str("type") != "allowed_tools" {
		if !h.left[o.chosen()] {
			e.put(f.span, []byte(`"auto"`))
		}
		return
	}
	if inner, ok := o.get("allowed_tools"); ok {
		o = e.p.object(inner, "allowed_tools")
	}
	list, ok := o.get("tools")
	if !ok {
		return
	}
	allowed := e.p.list(list, "tools")
	// Nothing left of what was allowed must not become everything.
	if !e.filter(allowed, func(at span) bool { return h.left[e.p.object(at, "allowed tool").chosen()] }) {
		e.put(f.span, []byte(`"none"`))
	}
}

// filter keeps the elements of a list that pass. If none does it reports false and
// leaves the list alone.
func (e *editor) filter(all []span, pass func(span) bool) bool {
	some := false
	gone := make([]bool, len(all))
	for i, at := range all {
		gone[i] = !pass(at)
		some = some || !gone[i]
	}
	if some {
		e.siblings(all, func(i int) bool { return gone[i] })
	}
	return some
}

// chosen names the tool that an OpenAI choice is about.
func (o object) chosen() string {
	for _, key := range []string{"function", "custom"} {
		if at, ok := o.get(key); ok {
			return o.p.object(at, key).str("name")
		}
	}
	for _, name := range []string{o.str("server_label"), o.spaced()} {
		if name != "" {
			return name
		}
	}
	return choiceName(o.str("type"))
}

func (e *editor) legacyChoice(h *hider) {
	f, ok := e.field("function_call")
	switch {
	case !ok:
	case !h.full["functions"]:
		e.gone[f.key] = true
	case e.p.is(f.span, '{') && !h.left[e.p.object(f.span, f.key).str("name")]:
		e.put(f.span, []byte(`"auto"`))
	}
}

func (e *editor) anthropicChoice(h *hider) {
	f, ok := e.field("tool_choice")
	if !ok || !e.p.is(f.span, '{') {
		return
	}
	if !h.full["tools"] && !h.full["mcp_servers"] {
		e.gone[f.key] = true
		return
	}
	o := e.p.object(f.span, f.key)
	if o.str("type") != "tool" || h.left[o.str("name")] {
		return
	}
	for _, m := range o.fields {
		if m.key == "type" {
			e.put(m.span, []byte(`"auto"`))
		}
	}
	e.drop(o, "name")
}

// drop removes a member of an object.
func (e *editor) drop(o object, key string) {
	spans := make([]span, len(o.fields))
	for i, f := range o.fields {
		spans[i] = span{f.at, f.end}
	}
	e.siblings(spans, func(i int) bool { return o.fields[i].key == key })
}

func (e *editor) geminiChoice(h *hider) {
	f, ok := e.field("toolConfig")
	if !ok || !e.p.is(f.span, '{') {
		return
	}
	o := e.p.object(f.span, f.key)
	at, ok := o.get("functionCallingConfig")
	if !ok {
		return
	}
	if !e.functionsLeft(h) {
		e.drop(o, "functionCallingConfig")
		return
	}
	c := e.p.object(at, "functionCallingConfig")
	names, ok := c.get("allowedFunctionNames")
	if !ok {
		return
	}
	all := e.p.list(names, "allowedFunctionNames")
	if len(all) == 0 || e.filter(all, func(at span) bool { return h.left[e.p.str(at, "name")] }) {
		return
	}
	e.put(at, []byte(`{"mode":"NONE"}`)) // what was allowed is gone: not everything, nothing
}

// functionsLeft reports whether a tool is left that the client runs.
func (e *editor) functionsLeft(h *hider) bool {
	for _, t := range e.r.Tools {
		if !t.Hosted && h.left[t.Name] {
			return true
		}
	}
	return false
}
