package talk

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/strictjson"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// memory is what is known of a content: what it is worth, and which session it is from.
type memory struct {
	label   trust.Label
	session string
}

func (f *Follower) remember(tenant string, kind tidemark.RecalledKind, d tool.Digest, m memory) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := contentKey{tenant, kind, d}
	if old, ok := f.known.get(key); ok { // two that wrote the same: both stand behind it
		m.label = m.label.Join(old.label)
	}
	f.known.put(key, m)
}

func (f *Follower) recognise(tenant string, kind tidemark.RecalledKind, d tool.Digest) (memory, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known.get(contentKey{tenant, kind, d})
}

// recents are texts that models wrote of late: answers, and what they gave to tools. A
// harness hands them on inside other texts, as a summary or a sub-agent's task.
type recents struct {
	texts []recentText
	bytes int
}

type recentText struct {
	memory
	text     string
	argument bool // given to a tool
}

const (
	maxRecent      = 256
	maxRecentBytes = 1 << 20
	maxRecentText  = 32 << 10
	// longAnswer is how much of an answer must come back inside a user's text before the
	// text counts as the model's: people quote short ones.
	longAnswer = 200
	// longArgument and manyWords are the same for what was given to a tool: a path or a name
	// is the user's as well.
	longArgument = 40
	manyWords    = 5
)

func (f *Follower) note(tenant string, t recentText) {
	if t.argument && !sentence(t.text) || !t.argument && len(t.text) < longAnswer {
		return
	}
	t.text = t.text[:min(len(t.text), maxRecentText)]
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.recent.get(tenant)
	if !ok {
		r = new(recents)
		f.recent.put(tenant, r)
	}
	r.texts = append(r.texts, t)
	r.bytes += len(t.text)
	for len(r.texts) > maxRecent || r.bytes > maxRecentBytes {
		r.bytes -= len(r.texts[0].text)
		r.texts = slices.Delete(r.texts, 0, 1)
	}
}

func sentence(s string) bool { return len(s) >= longArgument && len(strings.Fields(s)) >= manyWords }

// wrote finds the model behind a text, if one is: the text is its answer, or holds a long
// one. In the first message of a conversation it may also be a task that a model gave to a
// sub-agent.
func (f *Follower) wrote(tenant, text string, first bool) (memory, bool) {
	if m, ok := f.recognise(tenant, tidemark.RecalledOutput, digest(text)); ok {
		return m, true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.recent.get(tenant)
	if !ok {
		return memory{}, false
	}
	found, out := false, memory{label: nothing()}
	for i := range r.texts {
		t := &r.texts[i]
		if t.argument && !first || !strings.Contains(text, t.text) {
			continue
		}
		found, out = true, memory{out.label.Join(t.label), t.session}
	}
	return out, found
}

// texts visits every text in a call's arguments.
func texts(args []byte, visit func(string)) {
	var v any
	if strictjson.Unmarshal(args, &v) == nil {
		visitTexts(v, visit)
	}
}

func visitTexts(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case []any:
		for _, x := range v {
			visitTexts(x, visit)
		}
	case map[string]any:
		for _, x := range v {
			visitTexts(x, visit)
		}
	}
}

// callSum is what a call is known by. Clients write its arguments down anew.
func callSum(name string, args []byte) tool.Digest {
	v := strictjson.Value(slices.Clone(args))
	if v.Canonicalize() != nil {
		v = args
	}
	return tool.Call{Name: name, Args: v}.Digest()
}
