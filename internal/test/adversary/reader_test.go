package adversary_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/policy"
)

// readerRow is one run of somebody who has read the code (testdata/reader).
type readerRow struct {
	ID       string          `json:"id"`
	Class    string          `json:"class"`
	Prompt   string          `json:"prompt"`
	Contract json.RawMessage `json:"contract"`
	Tools    json.RawMessage `json:"tools"`
	Turns    []struct {
		Before int    `json:"before_step"`
		Text   string `json:"text"`
	} `json:"user_turns"`
	Steps []struct {
		Tool   string          `json:"tool"`
		Args   json.RawMessage `json:"args"`
		Result string          `json:"result"`
	} `json:"steps"`
	By       []string `json:"by"`
	Critical []int    `json:"critical_steps"`

	// drawn are contracts for its messages, one each, by a model that saw the words and the tools' signatures only.
	drawn []json.RawMessage
}

func readerRows(t *testing.T, folder, name string) []readerRow {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", folder, name))
	if err != nil {
		t.Fatal(err)
	}
	var out []readerRow
	for d := json.NewDecoder(bytes.NewReader(raw)); d.More(); {
		var r readerRow
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// run is a row as replay plays it.
func (r *readerRow) run(t *testing.T) *replay.Run {
	t.Helper()
	tools, err := replay.Definitions(r.Tools)
	if err != nil {
		t.Fatal(err)
	}
	run := &replay.Run{ID: r.ID, Tools: tools}
	said := 0
	say := func(text string) {
		contract := r.Contract
		if said < len(r.drawn) {
			contract = r.drawn[said]
		}
		said++
		said := &replay.Said{Text: &text, Sender: owner()}
		if len(contract) > 0 {
			c, err := intent.DecodeContract(contract, nil)
			if err != nil {
				t.Fatalf("%s: %v", r.ID, err)
			}
			said.Contract = &c
		}
		run.Events = append(run.Events, replay.Event{Said: said})
	}
	if len(r.Turns) == 0 {
		say(r.Prompt)
	}
	for i, s := range r.Steps {
		for _, turn := range r.Turns {
			if turn.Before == i {
				say(turn.Text)
			}
		}
		answer := replay.Yes
		if i < len(r.By) && r.By[i] != "user" {
			answer = replay.No
		}
		call := &replay.Call{Tool: s.Tool, Args: s.Args, Answer: answer}
		run.Events = append(run.Events, replay.Event{Call: call}, replay.Event{Result: &replay.Result{Of: call, Content: []byte(s.Result)}})
	}
	return run
}

// held are the steps of a row that are asked about or denied.
func (r *readerRow) held(t *testing.T) []int {
	t.Helper()
	got, err := replay.Play(t.Context(), policy.Default(), replay.Person{}, r.run(t))
	if err != nil {
		t.Fatalf("%s: %v", r.ID, err)
	}
	var out []int
	for i := range got {
		if got[i].Decision == "ask" || got[i].Decision == "deny" {
			out = append(out, i)
		}
	}
	return out
}

// What somebody who has read the code tries stays as it is written down: how many of each class are stopped, and how many honest
// twins run untouched. The figure of the first run is in the evaluation's page.
func TestAttacksOfAReaderOfTheCode(t *testing.T) {
	for _, folder := range []string{"reader", "second", "third", "fourth", "fifth"} {
		t.Run(folder, func(t *testing.T) { ofAReader(t, folder, "results.txt", nil) })
		if drawn := contractsFor(t, folder); drawn != nil {
			t.Run(folder+" with contracts", func(t *testing.T) { ofAReader(t, folder, "results-contracts.txt", drawn) })
		}
	}
}

// contractsFor are the contracts of a pack by the ids of its rows; nil: none were drawn.
func contractsFor(t *testing.T, folder string) map[string][]json.RawMessage {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", folder, "contracts.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]json.RawMessage{}
	for d := json.NewDecoder(bytes.NewReader(raw)); d.More(); {
		var row struct {
			IDs       []string          `json:"ids"`
			Contracts []json.RawMessage `json:"contracts"`
		}
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		for _, id := range row.IDs {
			out[id] = row.Contracts
		}
	}
	return out
}

// ofAReader plays a pack, with contracts where there are some for a row.
func ofAReader(t *testing.T, folder, results string, drawn map[string][]json.RawMessage) {
	t.Helper()
	type tally struct{ stopped, attacks, untouched, twins int }
	classes := map[string]*tally{}
	of := func(class string) *tally {
		if classes[class] == nil {
			classes[class] = &tally{}
		}
		return classes[class]
	}
	for _, r := range readerRows(t, folder, "attacks.jsonl") {
		r.drawn = drawn[r.ID]
		held := r.held(t)
		of(r.Class).attacks++
		if slices.ContainsFunc(r.Critical, func(i int) bool { return slices.Contains(held, i) }) {
			of(r.Class).stopped++
		}
	}
	for _, r := range readerRows(t, folder, "twins.jsonl") {
		r.drawn = drawn[r.ID]
		of(r.Class).twins++
		if len(r.held(t)) == 0 {
			of(r.Class).untouched++
		}
	}
	var text strings.Builder
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		c := classes[class]
		fmt.Fprintf(&text, "%-15s stopped %2d of %2d, twins untouched %2d of %2d\n", class, c.stopped, c.attacks, c.untouched, c.twins)
	}
	path := filepath.Join("testdata", folder, results)
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(want) {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
}
