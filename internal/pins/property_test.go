package pins_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/store/memory"
)

// MCP-25
// Whatever a server does, and however often the process is started anew or two share a log: a
// client is shown a definition only if it was in the first listing, unchanged since, or a person
// accepted exactly it.
func TestNothingButAPersonAcceptsWhatChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store, now := memory.New(), time.Unix(1_800_000_000, 0)
		start := func() *pins.Keeper {
			k, err := pins.Open(t.Context(), pins.Options{Store: store, Now: func() time.Time { return now }, Reserved: []string{"exec"}})
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
		both := []*pins.Keeper{start(), start()}
		m := &model{fine: map[string]string{}, spoiled: map[string]bool{}}
		name := rapid.SampledFrom([]string{"a", "b", "send", "Send", "exec", "r\u0435ad", ""})
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			k := both[rapid.IntRange(0, 1).Draw(t, "process")]
			switch rapid.SampledFrom([]string{"list", "list", "list", "accept", "answer", "restart", "wait"}).Draw(t, "step") {
			case "list":
				tools := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]string {
					return [2]string{name.Draw(t, "name"), fmt.Sprint("does ", rapid.IntRange(0, 2).Draw(t, "version"))}
				}), 0, 4).Draw(t, "tools")
				m.list(t, k, tools, rapid.Bool().Draw(t, "whole"))
			case "accept":
				m.accept(t, k)
			case "answer":
				m.answer(t, k, rapid.Bool().Draw(t, "yes"))
			case "restart":
				both[0] = start()
			case "wait":
				now = now.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "minutes")) * time.Minute)
			}
		}
	})
}

// model is what a person would remember: which text of which tool was fine.
type model struct {
	fine    map[string]string // name to its text
	spoiled map[string]bool   // seen otherwise, and nobody said yes since
	over    bool              // the first listing
}

func (m *model) list(t *rapid.T, k *pins.Keeper, tools [][2]string, whole bool) {
	var raw []string
	for _, x := range tools {
		raw = append(raw, fmt.Sprintf(`{"name":%q,"description":%q}`, x[0], x[1]))
	}
	in := `{"tools":[` + strings.Join(raw, ",") + `]`
	if !whole {
		in += `,"nextCursor":"x"`
	}
	out, err := k.List(t.Context(), files, "", []byte(in+"}"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tools []struct {
			Name string `json:"name"`
			Text string `json:"description"`
		} `json:"tools"`
	}
	if err := strictjson.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, x := range tools {
		if was, known := m.fine[x[0]]; known && was != x[1] {
			m.spoiled[x[0]] = true
		}
	}
	for _, g := range got.Tools {
		was, known := m.fine[g.Name]
		switch {
		case m.spoiled[g.Name]:
			t.Fatalf("%q is shown, and it was seen changed", g.Name)
		case known && was != g.Text:
			t.Fatalf("%q is shown as %q, and %q was accepted", g.Name, g.Text, was)
		case !known && m.over:
			t.Fatalf("%q is shown, which is new", g.Name)
		case !known:
			m.fine[g.Name] = g.Text
		}
	}
	m.over = m.over || whole
}

// accept is a person who reads what is shown and says yes.
func (m *model) accept(t *rapid.T, k *pins.Keeper) {
	v, err := k.Review(t.Context(), "files", "")
	if err != nil {
		return // nothing was seen yet
	}
	names, err := k.Accept(t.Context(), pins.Acceptance{Server: "files", Seen: v.Seen, By: "approver", Via: "http"})
	if err != nil {
		return // nothing can be accepted
	}
	for _, name := range names {
		for _, item := range v.Items {
			if item.Name == name {
				m.take(t, item)
			}
		}
	}
}

// answer is a person who reads one question and answers it. A no makes nothing fine.
func (m *model) answer(t *rapid.T, k *pins.Keeper, yes bool) {
	list, err := k.Notices(t.Context())
	if err != nil || len(list) == 0 {
		return
	}
	if _, err := k.Say(t.Context(), pins.Said{ID: list[0].ID, Accept: yes, By: "approver", Via: "http"}); err == nil && yes {
		m.take(t, list[0].HeldView)
	}
}

// take remembers what was read: the text that is in the difference, or is as it was.
func (m *model) take(t *rapid.T, item pins.HeldView) {
	delete(m.spoiled, item.Name)
	if strings.HasPrefix(item.Diff, "(it is again") {
		return // what was fine is
	}
	for line := range strings.Lines(item.Diff) {
		if words, ok := strings.CutPrefix(line, "+description: "); ok {
			m.fine[item.Name] = strings.TrimSuffix(words, "\n")
		}
	}
	if m.fine[item.Name] == "" {
		t.Fatalf("%s was accepted, and its text was not to be read in %q", item.Name, item.Diff)
	}
}
