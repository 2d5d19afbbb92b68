package archtest_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/parity.md and docs/api.txt, those of the tests that run")

const (
	parityFile  = "../../../docs/parity.md"
	parityBegin = "<!-- begin: written by make parity -->\n"
	parityEnd   = "<!-- end -->\n"
)

// families are the groups of requirements in the order of the list.
var families = map[string]string{
	"PRV":  "content provenance and taint",
	"CAU":  "caution mode, intent-aware audit",
	"SEQ":  "sequence-aware policy",
	"VER":  "external verifier",
	"HOOK": "agent-loop hooks",
	"BEY":  "beyond",
	"WAR":  "judgement by warrant",
	"MAN":  "judgement by mandate",
	"BOX":  "confined commands",
}

// docs/parity.md is written from the list of requirements and from what the tests say
// they prove, so it names no test that does not exist.
func TestParityTableIsTrue(t *testing.T) {
	repo := repository(t)
	list, err := readRequirements(repo)
	if err != nil {
		t.Fatal(err)
	}
	proofs, err := findProofs(repo)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(parityFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), parityBegin)
	old, after, ok2 := strings.Cut(rest, parityEnd)
	if !ok || !ok2 {
		t.Fatalf("docs/parity.md: the lines %q and %q are missing", parityBegin, parityEnd)
	}
	table := parityTable(list, proofs)
	if old == table {
		return
	}
	if !*update {
		t.Fatalf("docs/parity.md is out of date, run make parity. Rows that it would write:\n%s", strings.Join(news(old, table), "\n"))
	}
	if err := os.WriteFile(parityFile, []byte(before+parityBegin+table+parityEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// news are the lines of a text that another does not have.
func news(old, text string) []string {
	have := strings.Split(old, "\n")
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return slices.Contains(have, line) })
}

func parityTable(list []want, proofs map[string][]proof) string {
	var b strings.Builder
	count := map[string]int{}
	for _, w := range list {
		count[parityState(w, proofs[w.id])]++
	}
	fmt.Fprintf(&b, "%d requirements: %d proved, %d partly, %d planned, %d open.\n",
		len(list), count["proved"], count["partly"], count["planned"], count["open"])
	family := ""
	for _, w := range list {
		if f, _, _ := strings.Cut(w.id, "-"); f != family {
			family = f
			fmt.Fprintf(&b, "\n## %s: %s\n\n| id | what | through | proved by |\n|---|---|---|---|\n", f, families[f])
		}
		through, by := parityCells(w, proofs[w.id])
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", w.id, w.text, through, by)
	}
	return b.String()
}

func parityState(w want, list []proof) string {
	switch {
	case w.state != "":
		return w.state
	case len(list) == 0:
		return "open"
	}
	return "proved"
}

func parityCells(w want, list []proof) (through, by string) {
	state := parityState(w, list)
	if state == "planned" || state == "open" {
		return "", state
	}
	var doors, names []string
	for _, p := range list {
		doors = append(doors, p.doors...)
		names = append(names, "`"+p.name+"`")
	}
	slices.Sort(doors)
	through, by = strings.Join(slices.Compact(doors), ", "), strings.Join(names, ", ")
	if state == "partly" {
		by = "partly: " + by
	}
	return through, by
}
