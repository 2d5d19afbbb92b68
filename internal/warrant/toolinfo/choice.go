package toolinfo

// A tool that does one of several things says which in a parameter. Its act is the gravest
// of them; Choice tells the act of one call.

// choice is what a value of a choosing parameter does to the tool's thing: "create" of an
// issue tells somebody, "add" of a member lets somebody in.
func (m *Meaning) choice(value string) (Act, string) {
	r := readName(bounded(value, maxName))
	if r.act == Unknown {
		return Unknown, ""
	}
	if r.thing == "" {
		r.thing, r.of, r.nouns = m.Thing, nouns[m.Thing], m.nouns
		for _, n := range m.nouns {
			r.all |= nouns[n]
		}
	}
	r.shift()
	return r.act, r.verb
}

// Choice is the act that the value at a path names, where the parameter there chooses what
// is done. False where it does not, or where nothing is understood of the value: then the
// act of the tool holds.
func (m *Meaning) Choice(path string, value any) (Act, bool) {
	s, ok := value.(string)
	if !ok {
		return Unknown, false
	}
	p, ok := m.Param(path)
	if !ok {
		p = m.guess(path)
	}
	if !p.Chooses {
		return Unknown, false
	}
	a, _ := m.choice(s)
	return a, a != Unknown
}

// chooses reports whether a parameter says what is done: by its name, and by values that
// name acts where they are listed.
func (n *name) chooses(f *field) bool {
	if !isChooser.has(n.head) || len(n.mods) > 0 && !isAct.has(n.before()) {
		return false
	}
	if !f.fixed {
		return f.types == 0 || f.types&ofText != 0
	}
	for _, v := range f.values {
		if readName(v).act != Unknown {
			return true
		}
	}
	return false
}

// worst is the gravest act among the listed values, with its verb, and whether each of them
// was understood.
func (m *Meaning) worst(f *field) (act Act, verb string, all bool) {
	all = len(f.values) > 0
	for _, v := range f.values {
		a, w := m.choice(v)
		if a == Unknown {
			all = false
		} else if gravest(act, a) != act {
			act, verb = a, w
		}
	}
	return act, verb, all
}

// choose takes the gravest of the listed acts. A search may filter by acts, so where the name
// says a look the choice has to be one that every call makes.
func (m *Meaning) choose(r *reading, fields []field) bool {
	changed := false
	for i := range fields {
		f := &fields[i]
		if !m.Params[i].Chooses || !f.fixed || m.Act == Read && !f.needed {
			continue
		}
		act, verb, all := m.worst(f)
		switch {
		case act == Unknown, act == Read && (m.Act != Unknown || !all), severity[act] <= severity[m.Act]:
			continue
		case act == Read:
			r.become(Read, "each choice of `"+f.path+"` only reads")
		default:
			r.become(act, "`"+f.path+"` may be `"+verb+"`")
		}
		m.Act, m.Verb, r.verb, changed = act, verb, verb, true
	}
	return changed
}
