package main

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheDirectionsOfAMatrixAreFound(t *testing.T) {
	axes := eigen([][]float64{{2, 1, 0}, {1, 2, 0}, {0, 0, 9}})
	for i, want := range [][]float64{{0, 0, 1}, {math.Sqrt2 / 2, math.Sqrt2 / 2, 0}, {math.Sqrt2 / 2, -math.Sqrt2 / 2, 0}} {
		dot := 0.0
		for k := range want {
			dot += axes[i][k] * want[k]
		}
		if math.Abs(math.Abs(dot)-1) > 1e-9 {
			t.Errorf("direction %d is %v", i, axes[i])
		}
	}
}

func TestATableIsWrittenInOrder(t *testing.T) {
	v := &vectors{words: []string{"light", "lamp"}, rows: [][]float64{{1, -1}, {0.5, 0}}}
	data := v.pack()
	u := func(at int) int { return int(binary.LittleEndian.Uint32(data[at:])) }
	if u(0) != 2 || u(4) != 2 || u(8) != 4 || u(12) != 9 || string(data[16:25]) != "lamplight" {
		t.Errorf("%q", data)
	}
	if got := string(data[25:]); got != "\x7f\x00\x7f\x81" {
		t.Errorf("numbers %q", got)
	}
}

// One small WordNet: buy and purchase mean the same, sell is the opposite.
func TestWordsMoveByWhatWordNetSays(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"index.verb": "  licence\nbuy v 1 1 ! 1 1 00000001\npurchase v 1 0 1 1 00000001\nsell v 1 1 ! 1 1 00000002\n",
		"data.verb": "00000001 40 v 02 buy 0 purchase 0 001 ! 00000002 v 0101 00 | acquire\n" +
			"00000002 40 v 01 sell 0 001 ! 00000001 v 0101 00 | give up\n",
		"index.noun": "", "data.noun": "", "index.adj": "", "data.adj": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v := &vectors{words: []string{"buy", "purchase", "sell"}, rows: [][]float64{{1, 0, 0.3}, {0, 1, 0.3}, {1, 0, -0.8}}}
	n, err := readNet(dir, v.words)
	if err != nil {
		t.Fatal(err)
	}
	dot := func(i, j int) float64 {
		sum := 0.0
		for k := range v.rows[i] {
			sum += v.rows[i][k] * v.rows[j][k]
		}
		return sum
	}
	for _, row := range v.rows {
		unit(row)
	}
	same, other := dot(0, 1), dot(0, 2)
	v.fit(n)
	if dot(0, 1) <= same || dot(0, 2) >= other {
		t.Errorf("buy and purchase %.2f, buy and sell %.2f", dot(0, 1), dot(0, 2))
	}
}

func TestABrokenLineOfWordNetIsAnError(t *testing.T) {
	for _, line := range []string{"1 2", "1 2 v zz a 0 000", "1 2 v 02 a 0 000", "1 2 v 01 a 0 001 !"} {
		if _, err := parseSynset(strings.Fields(line)); err == nil {
			t.Errorf("%q is read", line)
		}
	}
}

func TestOnlyTheVectorsOfWordsAreRead(t *testing.T) {
	row := "[" + strings.Repeat("0.5,", 101) + "1]"
	file := filepath.Join(t.TempDir(), "v.json")
	text := `{"size":4,"words":["x"],"vectors":{",":` + row + `,"the":` + row + `,"of":` + row + `,"lamp":` + row + `}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := readVectors(file, map[string]bool{"lamp": true}, choice{common: 1, rare: 9})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(v.words, " "); got != "the lamp" || len(v.rows[0]) != 100 {
		t.Errorf("%s, %d numbers", got, len(v.rows[0]))
	}
}
