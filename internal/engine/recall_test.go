package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// BEY-03
func TestABranchStartsFromExactlyWhatItsDoorRead(t *testing.T) {
	w := newWorld(t, byLevels)
	w.ownerSays("s", "look")
	w.runs(main("s"), call("web_fetch", `{"url":"https://x.example"}`), "page")
	start := trust.Label{Level: trust.Local, Sensitivity: trust.Private}
	ref := engine.Ref{Session: "s", Branch: "before-the-page"}
	open, err := w.Begin(t.Context(), engine.Turn{Ref: ref, Sender: trust.Sender{Provider: "cli", IsOwner: true}, Start: &start})
	if err != nil {
		t.Fatal(err)
	}
	if open.Taint.Level != trust.Local || open.Taint.Sensitivity != trust.Private {
		t.Errorf("it starts from %v, want local and private", open.Taint)
	}
	w.want(policy.Allow, ref, call("exec", `{"command":"ls"}`))
	v, err := w.View(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range v.Branches {
		if b.Branch == ref.Branch && (!b.Sensitive || b.Tainted) {
			t.Errorf("the branch is sensitive %t, tainted %t; it holds private content and nothing from outside", b.Sensitive, b.Tainted)
		}
	}
}

func TestADoorThatLostItsMemoryReadsItBack(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("s", "look")
	w.runs(main("s"), call("web_fetch", `{"url":"https://x.example"}`), "page")
	answer := tool.DigestOf([]byte("it says nothing"))
	if _, err := w.Replied(t.Context(), engine.ModelReply{Ref: main("s"), Output: []tool.Digest{answer}}); err != nil {
		t.Fatal(err)
	}
	got := map[engine.RecalledKind]trust.Level{}
	digests := map[engine.RecalledKind]tool.Digest{}
	err := w.again().Recall(t.Context(), "s", func(r engine.Recalled) {
		got[r.Kind], digests[r.Kind] = r.Label.Level, r.Digest
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[engine.RecalledKind]trust.Level{
		engine.RecalledWords: trust.Owner, engine.RecalledCall: trust.Owner,
		engine.RecalledResult: trust.Untrusted, engine.RecalledOutput: trust.Untrusted,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("recalled (-want +got):\n%s", d)
	}
	for kind, text := range map[engine.RecalledKind]string{engine.RecalledWords: "look", engine.RecalledResult: "page", engine.RecalledOutput: "it says nothing"} {
		if digests[kind] != tool.DigestOf([]byte(text)) {
			t.Errorf("kind %d is not known by its content", kind)
		}
	}
	if err := w.Recall(t.Context(), "nobody", func(engine.Recalled) { t.Error("a session nobody knows was recalled") }); err != nil {
		t.Error(err)
	}
}

// WAR-09: whose tools are the host's own is known after a restart, whoever began the turn.
func TestWhoseToolsTheyAreOutlivesARestart(t *testing.T) {
	said := "What is on the page?"
	for name, turns := range map[string][]engine.Turn{
		"said with the turn":   {{Message: &said, HostTools: []string{"write"}}},
		"said later in it":     {{}, {Message: &said, HostTools: []string{"write"}}},
		"said, and no more":    {{Message: &said, HostTools: []string{"write"}}, {}},
		"said, then of others": {{Message: &said, HostTools: []string{"write"}}, {HostTools: []string{}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "preset: balanced")
			for _, turn := range turns {
				turn.Ref, turn.Sender = main("s"), owner()
				w.begin(turn)
			}
			w.runs(main("s"), call("web_fetch", `{"url":"https://x.example"}`), "page")
			want := policy.Allow
			if last := turns[len(turns)-1]; last.HostTools != nil && len(last.HostTools) == 0 {
				want = policy.Confirm
			}
			c := call("write", `{"path":"notes/a.md","content":"a summary"}`)
			w.want(want, main("s"), c)
			w = w.again()
			w.want(want, main("s"), c)
		})
	}
}
