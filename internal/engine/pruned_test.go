package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/retention"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// prune takes something out of everything that was recorded so far.
func (w *world) prune(what string) {
	w.Helper()
	w.clock.advance(48 * time.Hour)
	out, err := retention.Prune(w.Context(), w.store.(*memory.Store), retention.Request{
		Limits: retention.Limits{what: {Age: 24 * time.Hour}}, Now: w.clock.Now(), By: "ops",
	})
	if err != nil || out.Records == 0 {
		w.Fatalf("prune: %+v, %v", out, err)
	}
	report, err := w.store.(*memory.Store).Verify(w.Context(), nil)
	if err != nil || !report.OK() || report.Pruned.What[what] == 0 {
		w.Errorf("verify: %+v, %v", report, err)
	}
}

// WAR-02 BEY-12: what was pruned is forgotten, and then nothing that it may have spoken for is warranted; what came in
// counts as before.
func TestWhatWasPrunedIsForgottenAndTrustsNothingMore(t *testing.T) {
	for what, petra := range map[string]policy.Effect{
		event.PruneContent: policy.Confirm, event.PrunePreviews: policy.Confirm, event.PruneEvents: policy.Confirm,
	} {
		t.Run(what, func(t *testing.T) {
			w := errand(t, "preset: balanced")
			w.want(policy.Confirm, main("s"), call("send_email", toStranger))
			before := w.view("s")
			w.prune(what)
			after := w.again()
			ignored := cmpopts.IgnoreFields(engine.View{}, "Questions")
			unsourced := cmpopts.IgnoreFields(before.Taint, "Sources")
			if diff := cmp.Diff(before, after.view("s"), ignored, unsourced); diff != "" {
				t.Errorf("the state of the session (-before +after):\n%s", diff)
			}
			after.want(petra, main("s"), call("send_email", toPetra))
			after.want(policy.Confirm, main("s"), call("send_email", toStranger))
			after.want(policy.Confirm, main("s"), call("send_email", toTor))
			after.want(policy.Confirm, main("s"), call("close_ticket", `{"ticket_id":"tkt-11111"}`))
		})
	}
}

// BEY-12: a monitor that goes on has in memory what the log had before. Told to forget it judges by what is left, as after a restart; and
// what comes in later is kept under a key that the log has.
func TestWhoGoesOnForgetsWhatWasPruned(t *testing.T) {
	w := errand(t, "preset: balanced")
	w.want(policy.Confirm, main("s"), call("send_email", toStranger))
	before := w.view("s")
	w.prune(event.PruneContent)
	w.Forget("s")
	w.Forget("nobody's")
	ignored, unsourced := cmpopts.IgnoreFields(engine.View{}, "Questions"), cmpopts.IgnoreFields(before.Taint, "Sources")
	if diff := cmp.Diff(before, w.view("s"), ignored, unsourced); diff != "" {
		t.Errorf("the state of the session (-before +after):\n%s", diff)
	}
	w.want(policy.Confirm, main("s"), call("send_email", toPetra))
	w.runs(main("s"), call("read_inbox", `{}`), "Nothing new.")
	fresh := false
	for rec, err := range w.store.Load(t.Context(), "s", before.Records) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			t.Fatal(err)
		}
		fresh = fresh || e.Key != ""
	}
	if !fresh {
		t.Error("what came in later is sealed with a key that is gone")
	}
}

// WAR-02: the key of a session is all that opens what was sealed in it.
func TestWithoutItsKeyASessionHasForgotten(t *testing.T) {
	w := errand(t, "preset: balanced")
	log := w.store.(*memory.Store)
	var all []audit.Record
	var edits []audit.Record
	for rec, err := range log.Load(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			t.Fatal(err)
		}
		if e.Key != "" {
			e.Key, e.Pruned = "", []string{event.PruneContent}
			body, err := e.Body()
			if err != nil {
				t.Fatal(err)
			}
			audit.Prune(&rec, body)
			edits = append(edits, rec)
		}
		all = append(all, rec)
	}
	if len(edits) != 1 {
		t.Fatalf("%d records have a key, want one", len(edits))
	}
	p := &event.Pruning{Session: "s", Content: 1, Records: 1, By: "ops"}
	p.All, p.Left = store.Left(all)
	if err := log.Prune(t.Context(), 0, []*event.Event{{Kind: event.LogPruned, Time: 1, Pruning: p}}, edits); err != nil {
		t.Fatal(err)
	}
	after := w.again()
	after.want(policy.Confirm, main("s"), call("send_email", toPetra))
	after.want(policy.Confirm, main("s"), call("send_email", toStranger))
}

// WAR-02: with `record: {content: hashes}` no text that was read is in the log in any form, and a restart asks no less.
func TestHashesAreKeptWhereThePolicyWantsThem(t *testing.T) {
	w := errand(t, "preset: balanced\nrecord: {content: hashes, previews: false}")
	for rec, err := range w.store.Load(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e, err := event.FromRecord(rec); err != nil || e.Key != "" {
			t.Errorf("record %d: key %q, error %v", rec.Seq, e.Key, err)
		}
	}
	after := w.again() // what was looked up before is looked up again, or asked about
	after.want(policy.Confirm, main("s"), call("send_email", toPetra))
	after.want(policy.Confirm, main("s"), call("send_email", toStranger))
}

// BEY-08: a model that writes without end does not fill the log.
func TestOnlySoMuchOfWhatWasRefusedIsKept(t *testing.T) {
	w := newWorld(t, byLevels)
	w.ownerSays("s", "read the page")
	w.runs(main("s"), call("web_fetch", `{"url":"https://news.example"}`), injected)
	write := func(n, size int) engine.Verdict {
		args := `{"path":"MEMORY.md","content":` + asJSON(t, strings.Repeat(string(rune('a'+n)), size)) + `}`
		v, err := w.Decide(t.Context(), main("s"), tool.Call{Name: "write", Args: []byte(args)})
		if err != nil || v.Allowed() {
			t.Fatalf("got %+v and %v, want it refused", v, err)
		}
		return v
	}
	if v := write(0, 1000); v.Write == "" {
		t.Fatalf("it is not kept: %+v", v.Reasons)
	}
	if v := write(1, 2<<20); v.Write != "" || !slices.ContainsFunc(v.Reasons, func(r policy.Reason) bool { return strings.Contains(r.Text, "too much") }) {
		t.Errorf("one that is too large is kept: %q, %+v", v.Write, v.Reasons)
	}
	kept := 0
	for i := range 16 {
		if write(2+i, 900<<10).Write != "" {
			kept++
		}
	}
	if kept < 4 || kept > 9 {
		t.Errorf("%d of 16 are kept, want some", kept)
	}
}
