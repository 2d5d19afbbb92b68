package pins_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/store/sqlite"
)

func TestInReviewNothingIsAcceptedByItself(t *testing.T) {
	r := open(t, pins.Review)
	r.want("first", r.lists(read, other))
	if why := r.refused("read_file"); why == "" {
		t.Error("a call of what nobody accepted is let through")
	}
	if err := r.accepts("read_file"); err != nil {
		t.Fatal(err)
	}
	r.want("after one was accepted", r.lists(read, other), "read_file")
}

func TestWhatIsNotHiddenStaysByteForByte(t *testing.T) {
	r := open(t, pins.First)
	for _, in := range []string{
		"{ \"ttlMs\" : 5e1 ,\"tools\": [ " + read + " , " + other + " ] , \"_meta\":{\"n\":9007199254740993}}",
		`{}`, `{"tools":[]}`, `{"other":[1]}`,
	} {
		out, err := r.List(context.Background(), files, "", []byte(in))
		if err != nil || string(out) != in {
			t.Errorf("got %s, %v; want the same bytes as %s", out, err, in)
		}
	}
	r.lists(read, other)
	evil := strings.Replace(read, "Reads", "Steals", 1)
	for in, want := range map[string]string{
		`{"a":1e1, "tools": [ ` + evil + ` , ` + other + ` ] ,"z":0}`: `{"a":1e1, "tools": [ ` + other + ` ] ,"z":0}`,
		`{"tools":[` + other + `, ` + evil + ` ]}`:                    `{"tools":[` + other + ` ]}`,
		`{"tools":[ ` + evil + ` ],"nextCursor":"2"}`:                 `{"tools":[  ],"nextCursor":"2"}`,
		`{"tools":[` + other + `,` + evil + `,` + evil + `]}`:         `{"tools":[` + other + `]}`,
	} {
		out, err := r.List(context.Background(), files, "", []byte(in))
		if err != nil || string(out) != want {
			t.Errorf("got  %s, %v\nwant %s", out, err, want)
		}
	}
	for _, in := range []string{``, `[]`, `{"tools":7}`, `{"tools":[],"tools":[]}`, `{"tools":[}`, "{\"tools\":[\"\xff\"]}"} {
		if out, err := r.List(context.Background(), files, "", []byte(in)); err == nil {
			t.Errorf("%q: got %s, want an error", in, out)
		}
	}
}

type broken struct{ engine.Store }

func (broken) Append(context.Context, string, uint64, []*event.Event) error {
	return engine.ErrUnavailable
}

func TestWhatCannotBeRecordedIsNotShown(t *testing.T) {
	r := open(t, pins.First)
	r.opts.Store = broken{r.store}
	r.again()
	for range 2 {
		if out, err := r.List(context.Background(), files, "", []byte(`{"tools":[`+read+`]}`)); !errors.Is(err, engine.ErrUnavailable) {
			t.Errorf("got %s, %v; want that the log cannot be written", out, err)
		}
	}
}

func TestTwoProcessesOnOneLogAgree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	both := make([]*pins.Keeper, 2)
	for i := range both {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		if both[i], err = pins.Open(t.Context(), pins.Options{Store: s, Now: time.Now}); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	shown := make([]string, 2)
	for i, k := range both {
		wg.Go(func() {
			def := strings.Replace(read, "Reads", fmt.Sprintf("Reads (%d)", i), 1)
			out, err := k.List(t.Context(), files, "", []byte(`{"tools":[`+def+`]}`))
			if err != nil {
				t.Error(err)
			}
			shown[i] = string(out)
		})
	}
	wg.Wait()
	if first, second := strings.Contains(shown[0], "read_file"), strings.Contains(shown[1], "read_file"); first == second {
		t.Errorf("got %q and %q, want exactly one of two first definitions", shown[0], shown[1])
	}
}

func TestAnAcceptanceNamesAPersonAndWhatTheySaw(t *testing.T) {
	r := open(t, pins.First)
	r.lists(read)
	evil := strings.Replace(read, "Reads", "Steals", 1)
	r.lists(evil)
	v, err := r.Review(t.Context(), "files", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]pins.Acceptance{
		"nobody":         {Server: "files", Seen: v.Seen},
		"nothing seen":   {Server: "files", By: "approver", Via: "http"},
		"unknown server": {Server: "nope", Seen: v.Seen, By: "approver", Via: "http"},
		"unknown tool":   {Server: "files", Tool: "nope", Seen: v.Seen, By: "approver", Via: "http"},
	} {
		if _, err := r.Accept(t.Context(), a); err == nil {
			t.Errorf("%s: it was accepted", name)
		}
	}
	r.want("still", r.lists(evil))
	if err := r.accepts(""); err != nil {
		t.Fatal(err)
	}
	var last event.Pins
	for rec, err := range r.store.Load(t.Context(), pins.LogName, 0) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			t.Fatal(err)
		}
		last = *e.Pins
	}
	if last.Act != "accepted" || last.By != "approver" || last.Via != "http" || !strings.Contains(last.Items[0].Text, "Steals") {
		t.Errorf("got %+v, want who accepted what in the log", last)
	}
}

func TestReviewShowsWhatIsNotSeen(t *testing.T) {
	r := open(t, pins.First)
	r.lists(read)
	r.lists(strings.Replace(read, "Reads a file.", `Reads\u200b\u001b[2Ja file.`+"\U000e0041", 1))
	v, err := r.Review(t.Context(), "files", "")
	if err != nil || len(v.Items) != 1 {
		t.Fatalf("got %+v, %v", v, err)
	}
	if d := v.Items[0].Diff; strings.ContainsAny(d, "\u200b\u001b\U000e0041") || !strings.Contains(d, `\u{200b}\u{001b}[2J`) {
		t.Errorf("got %q, want escapes", d)
	}
	if len(v.Items[0].Warnings) != 2 {
		t.Errorf("got warnings %q, want two", v.Items[0].Warnings)
	}
}

func TestWhereNobodyCanBeAskedNothingIsShown(t *testing.T) {
	r := pins.Remote{Send: func(context.Context, string, string, any, any) error { return errors.New("no server") }}
	if out, err := r.List(t.Context(), files, "", []byte(`{"tools":[]}`)); err == nil {
		t.Errorf("a list: got %s", out)
	}
	if why, err := r.Call(t.Context(), files, "read_file"); err == nil {
		t.Errorf("a call: got %q", why)
	}
	out, err := r.Hello(t.Context(), files, []byte(`{"a":1,"instructions":"obey"}`))
	if err != nil || string(out) != `{"a":1}` {
		t.Errorf("a greeting: got %s, %v; want it without instructions", out, err)
	}
	if out, err := r.Hello(t.Context(), files, []byte(`[`)); err == nil {
		t.Errorf("no greeting: got %s", out)
	}
	empty := pins.Remote{Send: func(context.Context, string, string, any, any) error { return nil }}
	if out, err := empty.List(t.Context(), files, "", []byte(`{"tools":[]}`)); err == nil {
		t.Errorf("an empty answer: got %s", out)
	}
}
