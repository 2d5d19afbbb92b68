package idle_test

import (
	"slices"
	"testing"

	"github.com/tidemark/tidemark/internal/base/idle"
)

func TestTheLongestUnusedComesFirst(t *testing.T) {
	used := map[string]int64{"a": 3, "b": 1, "c": 2, "d": 4, "e": 5}
	asked := 0
	all := func() []string { asked++; return []string{"a", "b", "c", "d", "e"} }
	at := func(s string) int64 { return used[s] }
	var q idle.Queue[string]
	var got []string
	take := func(most int) bool {
		got = nil
		return q.Each(all, at, func(s string) bool { got = append(got, s); return len(got) == most })
	}
	for _, step := range []struct {
		name   string
		before func()
		most   int
		want   []string
		enough bool
		asked  int
	}{
		{"some of them", func() {}, 2, []string{"b", "c"}, true, 1},
		{"the next, but not what was used since", func() { used["a"] = 9 }, 1, []string{"d"}, true, 1},
		{"it begins anew at the end of the list", func() {}, 2, []string{"b", "c"}, true, 2},
		{"all but what was used last", func() { used["b"] = 10 }, 9, []string{"d", "e", "c", "d", "e", "a"}, false, 3},
	} {
		if step.before(); take(step.most) != step.enough || !slices.Equal(got, step.want) || asked != step.asked {
			t.Errorf("%s: got %v, asked %d times; want %v and %d", step.name, got, asked, step.want, step.asked)
		}
	}
}

func TestNothingIsIdle(t *testing.T) {
	var q idle.Queue[int]
	for _, all := range [][]int{nil, {7}} {
		found := q.Each(func() []int { return all }, func(int) int64 { return 1 }, func(int) bool { t.Error("it is visited"); return true })
		if found {
			t.Errorf("%v: something was found", all)
		}
	}
}

func TestWhoComesMeanwhileGoesAway(t *testing.T) {
	var q idle.Queue[int]
	all, used := func() []int { return []int{1, 2} }, func(n int) int64 { return int64(n) }
	q.Each(all, used, func(int) bool {
		if !q.Each(all, used, func(int) bool { t.Error("it is visited twice"); return true }) {
			t.Error("nobody is at it, it is said")
		}
		return true
	})
}
