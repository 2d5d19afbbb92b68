package sdkcompat_test

import (
	"strings"
	"testing"
)

// impatient is the deadline of a client that will get no answer, in ms.
const impatient = 1000

// attempt is one client on one trick.
type attempt struct {
	judge  judge
	stream bool
	trick  trick
	tool   string
}

func attempts() []attempt {
	var out []attempt
	for _, k := range tricks() {
		for _, m := range modes {
			if k.mode != "" && k.mode != m.name {
				continue
			}
			for _, j := range panel.judges {
				if j.spared(k.name) {
					continue
				}
				out = append(out, attempt{j, m.stream, k, "wire"})
				if k.want != expires { // the tool makes no difference there
					out = append(out, attempt{j, m.stream, k, "look"})
				}
			}
		}
	}
	return out
}

// spared reports whether a trick says nothing about the proxy with a client: those of Python share one interpreter, whose own
// work for ten thousand events takes longer than anybody waits, and LangChain completes the arguments of a call
// that broke off, so that what it hands on is not what was judged as unreadable.
func (j judge) spared(trick string) bool {
	chain := strings.HasPrefix(j.name, "langchain-")
	python := chain || strings.HasPrefix(j.name, "py-") || strings.HasPrefix(j.name, "pydantic-")
	return trick == tiny && python || trick == "call-never-ends" && chain
}

func (a attempt) run(base string) result {
	mode, limit := modes[0].name, inNoHurry(deadline)
	if a.stream {
		mode = modes[1].name
	}
	if a.trick.want == expires {
		limit = impatient
	}
	id := strings.Join([]string{a.trick.name, mode, a.judge.name, a.tool}, "/")
	return a.judge.run(job{
		ID: id, Kind: a.judge.kind, Base: base, Key: keys + strings.ReplaceAll(id, "/", "-"), Stream: a.stream,
		Prompts: []string{"hostile:" + a.trick.name + ":" + a.tool}, Tools: tools, DeadlineMs: limit,
	})
}

// Whatever the upstream does, no client hangs longer than it wants to, none is given a
// call that was not allowed, and the upstream is let go when the client has gone.
func TestClientsBeforeAHostileUpstream(t *testing.T) {
	acts := map[string]act{}
	for _, k := range tricks() {
		acts[k.name] = once(k.act)
	}
	h := newHostile(t, acts)
	w := newWorld(t, h.url)
	list := attempts()
	run := func(a attempt) result { return a.run(w.base(a.judge.kind)) }
	results := each(list, func(a attempt) result {
		if a.trick.heavy() {
			return result{}
		}
		return run(a)
	})
	for i, a := range list { // one after the other: each keeps a whole processor busy for seconds
		if a.trick.heavy() {
			results[i] = each(list[i:i+1], run)[0]
		}
	}
	h.idle(t)
	w.decidedFirst(t, results)
	for i, r := range results {
		list[i].check(t, r)
	}
}

// once makes the request that follows a call's result end the conversation.
func once(f act) act {
	return func(a *answer) {
		if !a.again {
			f(a)
			return
		}
		if a.wholeAsked {
			a.json(whole(a.kind, "the end", "", ""))
			return
		}
		a.stream(a.script().begin().text("the end").end().String())
	}
}

// want is what the trick must lead to. The Go client of Gemini stumbles over comments in a
// stream, whoever sends them.
func (a attempt) want() expected {
	if a.judge.name == "go-gemini" && (a.trick.name == "comments-between" || a.trick.name == "alive-for-ever") {
		return broken
	}
	return a.trick.want
}

func (a attempt) check(t *testing.T, r result) {
	t.Helper()
	if a.want() == expires {
		if r.Error == nil || !r.Expired || r.MS > impatient+inNoHurry(soon) {
			t.Errorf("%s: got %+v, want the client's own deadline to end it", r.ID, r)
		}
	} else {
		wellBehaved(t, r)
	}
	handed := len(r.handed())
	var text strings.Builder
	for _, round := range r.Rounds {
		text.WriteString(round.Text)
	}
	for _, c := range r.handed() {
		if c.Name != "look" {
			t.Errorf("%s: the client was given %s(%s)", r.ID, c.Name, c.Args)
		}
	}
	switch a.want() {
	case complete:
		a.checkComplete(t, r, handed, text.String())
	case broken, expires:
		if r.Error == nil || handed > 0 {
			t.Errorf("%s: got %d calls and error %+v, want an error and no call", r.ID, handed, r.Error)
		}
	}
}

func (a attempt) checkComplete(t *testing.T, r result, handed int, text string) {
	t.Helper()
	if r.Error != nil {
		t.Errorf("%s: got error %+v", r.ID, *r.Error)
		return
	}
	want := "some text"
	if a.trick.name == tiny {
		want = strings.Repeat("x", many)
	}
	rest, ok := strings.CutPrefix(text, want)
	switch {
	case !ok:
		t.Errorf("%s: got text %.200q, want %.200q first", r.ID, text, want)
	case a.tool == "look" && (handed != 1 || rest != "the end"):
		t.Errorf("%s: got %d calls and then %q, want one and the end", r.ID, handed, rest)
	case a.tool == "wire" && !strings.Contains(rest, "money stays where it is"):
		t.Errorf("%s: got %q after the text, want the reason of the refusal", r.ID, rest)
	}
}
