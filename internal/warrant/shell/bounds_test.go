package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/shell"
)

// A line that grows while it is read is given up: it is the worst.
func TestALineThatGrowsIsTheWorst(t *testing.T) {
	doubled := "v0=aaaaaaaa"
	for i := 1; i <= 40; i++ {
		doubled += fmt.Sprintf("; v%d=\"$v%d$v%d\"", i, i-1, i-1)
	}
	many := strings.Repeat("a ", 20<<10)
	deep := strings.Repeat("a/", 15<<10)
	for name, command := range map[string]string{
		"variables that double":      doubled,
		"many words, taken often":    "f(){ echo " + strings.Repeat("$1 ", 2000) + "; }; f \"" + strings.Repeat("a ", 20_000) + "\"",
		"braces around a long value": "x=" + strings.Repeat("a", 3<<10) + "; " + strings.Repeat("echo "+strings.Repeat("$x{a,b}", 6)+"; ", 1000),
		"npm exec with many words":   "npm exec " + many,
		"flock with many words":      "flock " + many,
		"a long folder, often":       "d=" + deep + "; " + strings.Repeat("cd $d; ", 1400),
		"many words, far down":       "cd " + strings.Repeat("a/", 2000) + "; rm " + strings.Repeat("a ", 28_000),
		"a long value, often":        "x=" + strings.Repeat("a/", 1500) + "; rm " + strings.Repeat("$x ", 19_000),
		"folders in folders":         strings.Repeat("cd a/a/a/a/a/a/a/a; ", 1400),
	} {
		if got := shell.Read(command).Effects; got != shell.Worst {
			t.Errorf("%s: got %q, want the worst", name, got)
		}
	}
}
