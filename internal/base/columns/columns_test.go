package columns_test

import (
	"errors"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/tidemark/tidemark/internal/base/columns"
)

func TestColumnsAreAsWideAsTheirCells(t *testing.T) {
	red := lipgloss.NewStyle().Foreground(lipgloss.Color("1")).Render("no")
	for name, tt := range map[string]struct {
		rows  [][]string
		right []int
		want  string
	}{
		"nothing":               {nil, nil, ""},
		"one row":               {[][]string{{"a", "b"}}, nil, "a  b\n"},
		"on the left":           {[][]string{{"NAME", "N"}, {"x", "10"}}, nil, "NAME  N\nx     10\n"},
		"on the right":          {[][]string{{"NAME", "CALLS"}, {"x", "10"}}, []int{1}, "NAME  CALLS\nx        10\n"},
		"cells of nothing":      {[][]string{{"a", "", "c"}, {"", "b", ""}}, nil, "a     c\n   b\n"},
		"rows of unequal width": {[][]string{{"a"}, {"bb", "c"}}, nil, "a\nbb  c\n"},
		"colours":               {[][]string{{red, "x"}, {"yes!", "y"}}, nil, red + "    x\nyes!  y\n"},
		"wide characters":       {[][]string{{"日本", "x"}, {"abc", "y"}}, nil, "日本  x\nabc   y\n"},
		"an empty row":          {[][]string{{"a"}, {""}, {"b"}}, nil, "a\n\nb\n"},
	} {
		var b strings.Builder
		if err := columns.Write(&b, tt.rows, tt.right...); err != nil || b.String() != tt.want {
			t.Errorf("%s: got error %v and\n%swant\n%s", name, err, b.String(), tt.want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestAWriterThatFailsIsTold(t *testing.T) {
	if err := columns.Write(full{}, [][]string{{"a"}}); err == nil {
		t.Error("got no error")
	}
}
