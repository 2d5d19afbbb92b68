package contract_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/contract"
	"github.com/tidemark/tidemark/internal/event"
)

func drawContract(t *rapid.T) *event.Contract {
	word := rapid.SampledFrom([]string{"", "a", "b", "c"})
	arg := rapid.Custom(func(t *rapid.T) event.ContractArg {
		return event.ContractArg{Arg: word.Draw(t, "arg"), How: word.Draw(t, "how"), Of: word.Draw(t, "of"), What: rapid.SliceOfN(word, 0, 1).Draw(t, "what"), Is: rapid.SliceOfN(word, 0, 1).Draw(t, "is")}
	})
	item := rapid.Custom(func(t *rapid.T) event.ContractItem {
		return event.ContractItem{
			Tool: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "tool"), Quote: word.Draw(t, "quote"), Need: "asked",
			Times: rapid.IntRange(0, 2).Draw(t, "times"), Args: rapid.SliceOfN(arg, 0, 2).Draw(t, "args"),
			Except: rapid.SliceOfN(word, 0, 1).Draw(t, "except"), Or: word.Draw(t, "or"),
		}
	})
	return &event.Contract{
		Word: 1, Form: 3, Items: rapid.SliceOfN(item, 0, 5).Draw(t, "items"), Reads: rapid.SliceOfN(word, 0, 2).Draw(t, "reads"),
		Follow: rapid.SliceOfN(word, 0, 2).Draw(t, "follow"), Limits: rapid.MapOfN(word, word, 0, 2).Draw(t, "limits"), Assents: rapid.Bool().Draw(t, "assents"),
		Never: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event.Ban { return event.Ban{Act: word.Draw(t, "act")} }), 0, 2).Draw(t, "never"),
	}
}

// slots are the arguments of an item, in an order of their own.
func slots(i *event.ContractItem) []string {
	var out []string
	for _, a := range i.Args {
		out = append(out, a.Arg+"|"+a.How+"|"+a.Of+"|"+slices.Concat(a.What, []string{""})[0]+"|"+slices.Concat(a.Is, []string{""})[0])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// WAR-07: what is read again holds nothing that the later reading alone would not, of other tools nothing that the earlier one did not,
// and every ban of both. An item keeps its place.
func TestLawReadingAgainNeverWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, now := drawContract(t), drawContract(t)
		got := contract.Redrawn(before, now, "x")
		in := func(list []event.ContractItem, it event.ContractItem) bool {
			return slices.ContainsFunc(list, func(o event.ContractItem) bool {
				return o.Tool == it.Tool && o.Times == it.Times && o.Or == it.Or && slices.Equal(o.Except, it.Except) && slices.Equal(slots(&o), slots(&it))
			})
		}
		for n, it := range got.Items {
			switch {
			case it.Tool == "":
			case !in(now.Items, it):
				t.Fatalf("item %+v is of no full reading", it)
			case it.Tool != "x" && !in(before.Items, it):
				t.Fatalf("item %+v of another tool is new", it)
			case n < len(before.Items) && (it.Tool != before.Items[n].Tool || it.Quote != before.Items[n].Quote):
				t.Fatalf("item %d is another one now: %+v", n, it)
			}
		}
		for _, b := range slices.Concat(before.Never, now.Never) {
			if !slices.Contains(got.Never, b) {
				t.Fatalf("the ban %+v is gone", b)
			}
		}
		for _, list := range [][3][]string{{got.Reads, before.Reads, now.Reads}, {got.Follow, before.Follow, now.Follow}} {
			for _, x := range list[0] {
				if !slices.Contains(list[1], x) || !slices.Contains(list[2], x) {
					t.Fatalf("%q is not in both readings", x)
				}
			}
		}
		for _, f := range got.Follow {
			if before.Limits[f] != now.Limits[f] {
				t.Fatalf("%q is followed beyond %q", f, before.Limits[f])
			}
		}
		if got.Assents && !(before.Assents && now.Assents) {
			t.Fatal("it accepts what only one reading does")
		}
	})
}

// A tool that nobody described is shown with what calls of it are written with.
func TestToolsThatAgentsComeWithAreKnown(t *testing.T) {
	a, known := contract.Host("exec")
	s := contract.Signature(&a)
	if !known || s.Name != "exec" || len(s.Params) != 1 || s.Params[0].Name != "command" || s.Description != "" {
		t.Errorf("got %+v", s)
	}
	if back := contract.Added(s); back.Tool != "exec" || len(back.Params) != 1 {
		t.Errorf("kept as %+v", back)
	}
	if _, known := contract.Host("read"); known {
		t.Error("a tool that only looks is shown")
	}
}
