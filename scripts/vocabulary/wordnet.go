package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// link draws one word to another, or away from it if the weight is negative.
type link struct {
	to     int
	weight float64
}

// How strongly words are drawn to one another.
const (
	sameMeaning = 1.0
	wider       = 0.4  // a word and the word for the kind of thing it is: buy and get
	sameWord    = 0.5  // a word and its forms
	opposite    = -1.0 // of verbs: open and close are used alike
)

// net is what WordNet says about the words of a table.
type net struct {
	at    map[string]int
	links map[int]map[int]float64
	rank  map[string]int // a lemma and a synset, to the place of this sense among the lemma's
}

// synset is a line of a data file: words with one meaning.
type synset struct {
	words    []string
	pointers []pointer
}

type pointer struct {
	kind, target string
	from, to     int // which words, from 1; 0 for all
}

// readNet reads the database files of WordNet.
func readNet(dir string, words []string) (*net, error) {
	n := &net{at: map[string]int{}, links: map[int]map[int]float64{}, rank: map[string]int{}}
	for i, w := range words {
		n.at[w] = i
	}
	for _, part := range []string{"verb", "noun", "adj"} {
		if err := n.ranks(filepath.Join(dir, "index."+part), part); err != nil {
			return nil, err
		}
		sets := map[string]*synset{}
		err := eachLine(filepath.Join(dir, "data."+part), func(f []string) error {
			s, err := parseSynset(f)
			sets[f[0]] = s
			return err
		})
		if err != nil {
			return nil, err
		}
		for id, s := range sets {
			n.join(sets, id, s, part)
		}
	}
	n.forms(words)
	return n, nil
}

// ranks reads in which order of frequency a word has its meanings.
func (n *net) ranks(file, part string) error {
	return eachLine(file, func(f []string) error {
		if len(f) < 4 {
			return fmt.Errorf("%s: a short line", file)
		}
		senses, err := strconv.Atoi(f[2])
		if err != nil || len(f) < senses {
			return fmt.Errorf("%s: %q", file, f[0])
		}
		for i, id := range f[len(f)-senses:] {
			n.rank[f[0]+" "+part+id] = i + 1
		}
		return nil
	})
}

// eachLine visits the lines of a database file, without the licence in front.
func eachLine(file string, visit func(fields []string) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if line := lines.Text(); line != "" && line[0] != ' ' {
			if err := visit(strings.Fields(line)); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// parseSynset reads "offset file type count (word id)... count (kind offset part from+to)...".
func parseSynset(f []string) (*synset, error) {
	if len(f) < 6 {
		return nil, fmt.Errorf("a short line: %q", f)
	}
	count, err := strconv.ParseInt(f[3], 16, 32)
	if err != nil || len(f) < 5+2*int(count) {
		return nil, fmt.Errorf("synset %s: words: %w", f[0], err)
	}
	s := &synset{}
	for i := range int(count) {
		word, _, _ := strings.Cut(strings.ToLower(f[4+2*i]), "(")
		s.words = append(s.words, word)
	}
	rest := f[4+2*int(count):]
	pointers, err := strconv.Atoi(rest[0])
	if err != nil || len(rest) < 1+4*pointers {
		return nil, fmt.Errorf("synset %s: pointers: %w", f[0], err)
	}
	for i := range pointers {
		p := rest[1+4*i:]
		ends, err := strconv.ParseUint(p[3], 16, 32)
		if err != nil {
			return nil, fmt.Errorf("synset %s: pointer: %w", f[0], err)
		}
		s.pointers = append(s.pointers, pointer{kind: p[0], target: p[1], from: int(ends >> 8), to: int(ends & 0xff)})
	}
	return s, nil
}

// join links the words of a synset, and those with the words it points at.
func (n *net) join(sets map[string]*synset, id string, s *synset, part string) {
	for i, a := range s.words {
		for _, b := range s.words[:i] {
			n.link(a, b, sameMeaning*n.usual(a, part, id)*n.usual(b, part, id))
		}
	}
	for _, p := range s.pointers {
		other := sets[p.target]
		switch {
		case other == nil:
		case p.kind == "!" && part == "verb" && p.from > 0 && p.from <= len(s.words) && p.to > 0 && p.to <= len(other.words):
			n.link(s.words[p.from-1], other.words[p.to-1], opposite)
		case p.kind == "@":
			for _, a := range s.words {
				for _, b := range other.words {
					n.link(a, b, wider*n.usual(a, part, id)*n.usual(b, part, p.target))
				}
			}
		}
	}
}

// usual is how much a meaning counts for a word: less if it is seldom meant.
func (n *net) usual(word, part, id string) float64 {
	if r := n.rank[word+" "+part+id]; r > 0 {
		return 1 / float64(r)
	}
	return 0.1
}

func (n *net) link(a, b string, weight float64) {
	i, ok := n.at[a]
	j, known := n.at[b]
	if !ok || !known || i == j {
		return
	}
	for _, e := range [2][2]int{{i, j}, {j, i}} {
		if n.links[e[0]] == nil {
			n.links[e[0]] = map[int]float64{}
		}
		old := n.links[e[0]][e[1]]
		if weight < 0 || old < 0 {
			n.links[e[0]][e[1]] = min(weight, old)
		} else {
			n.links[e[0]][e[1]] = max(weight, old)
		}
	}
}

// forms links regular forms with their words.
func (n *net) forms(words []string) {
	for _, w := range words {
		for _, e := range [...][2]string{
			{"s", ""}, {"es", ""}, {"ies", "y"}, {"ing", ""}, {"ing", "e"}, {"ed", ""}, {"ed", "e"}, {"ied", "y"},
		} {
			if base, ok := strings.CutSuffix(w, e[0]); ok && len(base) > 2 {
				n.link(w, base+e[1], sameWord)
			}
		}
	}
}
